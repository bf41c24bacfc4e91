package store

import "leasehold/coordinator/visit"

// The pools beside those of the policies.
const (
	poolUrgent visit.Pool = 200 // somebody asked for a visit; ref is when
	poolRest   visit.Pool = 201 // ref is until when
	poolFlight visit.Pool = 202 // a visit is under way; ref is when it counts as lost
	poolOff    visit.Pool = 203 // disabled
)

// placeOf says where an origin waits at a time.
func (s *Store) placeOf(r row, now int64) visit.Place {
	until, _ := s.rules.Rest(r.State)
	switch {
	case r.visit != "":
		return visit.Place{Pool: poolFlight, Ref: now + int64(s.rules.LostAfter.Seconds())}
	case r.urgent != 0:
		return visit.Place{Pool: poolUrgent, Ref: r.urgent}
	case !r.Enabled():
		return visit.Place{Pool: poolOff}
	case until > now:
		return visit.Place{Pool: poolRest, Ref: until}
	}
	return s.policy.Place(r.State)
}

// sweepMost bounds how many origins one sweep brings back, so that no claim waits
// for it; the rest is swept by the next.
const sweepMost = 5000

// sweep places those whose rest is over, and those whose visit nobody ended.
func (s *Store) sweep(now int64) error {
	for _, pool := range []visit.Pool{poolRest, poolFlight} {
		if s.state.pools[pool] == 0 {
			continue
		}
		var due []row
		err := s.db.All("SELECT "+columns+" FROM origin WHERE pool = ? AND queue = 0 AND class = 0 AND ref <= ? ORDER BY ref, key LIMIT ?",
			[]any{pool, now, sweepMost}, func(from scanner) error {
				r, err := scanRow(from)
				due = append(due, r)
				return err
			})
		if err != nil {
			return err
		}
		for _, was := range due {
			r := was
			r.visit = ""
			if err := s.write(was, r, now); err != nil {
				return err
			}
		}
	}
	return nil
}
