package visit

// A Pool is a set of origins that wait for the same kind of reason.
type Pool uint8

// The pools of the seed, which are also the groups of the metrics, and those of
// the value policy.
const (
	PoolA  Pool = iota + 1 // no date
	PoolB1                 // dated, never visited with success
	PoolB2                 // dated after the last success
	PoolB3                 // dated before it

	PoolFirst    // never visited with success
	PoolKnown    // without dates
	PoolQuiet    // dated before the last success
	PoolSignal   // dated after it
	PoolAll      // of policies that have one
	PoolDisabled // a group only
)

var poolNames = map[Pool]string{
	PoolA: "A", PoolB1: "B1", PoolB2: "B2", PoolB3: "B3", PoolFirst: "first", PoolKnown: "known", PoolQuiet: "quiet",
	PoolSignal: "signal", PoolAll: "all", PoolDisabled: "disabled",
}

func (p Pool) String() string { return poolNames[p] }

// Group returns the group of an origin: A, B1, B2, B3 or disabled.
func Group(s State) Pool {
	switch {
	case !s.Enabled():
		return PoolDisabled
	case s.LastUpdate == Never:
		return PoolA
	case s.LastSuccess == Never:
		return PoolB1
	case s.LastUpdate > s.LastSuccess:
		return PoolB2
	}
	return PoolB3
}
