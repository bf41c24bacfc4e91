package bench

// Begin and End are the marks of the tables, exported for the tests.
const (
	Begin = beginMark
	End   = endMark
)
