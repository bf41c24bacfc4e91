package policy

// A server may answer for ever that nothing has changed, because a cache before it is stuck. So a visit is now and
// then unconditional.
const (
	readAgain      = 7 * day // longest time in seconds between two visits that read the content
	unlikelySilent = 3.0     // expected changes without one: the probability of that is 5 %
)

// Unconditional reports whether a visit at a time must read the content, even if its server would report that
// nothing has changed: an earlier visit succeeded, but the content was not read since (LastRead is Never), or not for
// readAgain, or a silence since then is unlikely.
func (r Rules) Unconditional(s State, now int64) bool {
	if s.LastRead == Never {
		return s.LastSuccess != Never
	}
	since := now - s.LastRead
	return since >= readAgain || since < 0 || r.Rate(s)*float64(since)/day >= unlikelySilent
}
