package bench

// The marks of the tables, for the tests.
const (
	Begin = beginMark
	End   = endMark
)
