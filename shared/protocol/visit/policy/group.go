package policy

// A Pool is a set of origins that wait for the same kind of reason.
type Pool uint8

// PoolA to PoolB3 are the pools of the policies "seed" and "swh2026", and the groups
// of the metrics. PoolFirst to PoolSignal are the pools of the policy "value".
const (
	PoolA  Pool = iota + 1 // without a date from a lister
	PoolB1                 // with a date, never visited with success
	PoolB2                 // with a date after the last success
	PoolB3                 // with a date before the last success

	PoolFirst    // never visited with success
	PoolKnown    // without a date from a lister
	PoolQuiet    // with a date before the last success
	PoolSignal   // with a date after the last success
	poolAll      // the only pool of "legacy" and "roundrobin"
	poolDisabled // a group of the metrics; no policy has it

	PoolFailing // its last visits failed; a pool of "value" too
	PoolFixed   // has a fixed interval; under every policy
	PoolDue     // changes regularly; a pool of "value" too
)

var poolNames = map[Pool]string{
	PoolA: "A", PoolB1: "B1", PoolB2: "B2", PoolB3: "B3", PoolFirst: "first", PoolKnown: "known", PoolQuiet: "quiet",
	PoolSignal: "signal", PoolFailing: "failing", PoolDue: "due", PoolFixed: "fixed", poolAll: "all", poolDisabled: "disabled",
}

// String returns the name of a pool, whichever group of a Plan it belongs to.
func (p Pool) String() string {
	if p < mostGroups*perGroup {
		p %= perGroup
	}
	return poolNames[p]
}

// The names of the pools of the store, which no policy has, as users and metrics read them; InFlight
// and Disabled are two more.
const (
	SaveNow = "save-now" // a visit was requested
	Told    = "told"     // a change was reported
	Resting = "resting"  // the reason is that of Rules.Rest
)

// Group returns the origin's group in the metrics: disabled; A without a date of a change; else
// B1 if never visited with success, B2 if the last change is later than the last success, or B3.
func Group(s State) Pool {
	switch {
	case !s.Enabled():
		return poolDisabled
	case s.LastUpdate == Never:
		return PoolA
	case s.LastSuccess == Never:
		return PoolB1
	case s.LastUpdate > s.LastSuccess:
		return PoolB2
	}
	return PoolB3
}

// positionInGroup is Position of the policies that place by placeInGroup: only origins of PoolA move it,
// because only their queue is in the order of the targets that were handed out.
func (r Rules) positionInGroup(position int64, s State) int64 {
	if Group(s) != PoolA {
		return position
	}
	return r.Position(position, s)
}

// placeInGroup returns the place of an origin in the pool of its group: A and B3 by target
// (origins without one first, by first sight), B1 by date, and B2 by lag, the largest first.
func placeInGroup(s State) Place {
	p := Place{Pool: Group(s)}
	switch p.Pool {
	case PoolB1:
		p.Ref = s.LastUpdate
	case PoolB2:
		p.Ref = s.LastSuccess - s.LastUpdate
	default:
		p.Ref = s.Target
		if s.Target == Never {
			p.Ref = unvisited + s.FirstSeen
		}
	}
	return p
}
