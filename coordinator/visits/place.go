package visits

import (
	"context"

	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// The pools beside those of the policies.
const (
	poolUrgent policy.Pool = 200 // a visit was asked for; ref is when
	poolRest   policy.Pool = 201 // ref is until when
	poolFlight policy.Pool = 202 // a visit is under way; ref is when it counts as lost
	poolOff    policy.Pool = 203 // disabled

	poolProgram policy.Pool = 204 // a program claims it; see program.go
)

// placeOf returns where an origin waits at a time. The order of the cases decides: a visit under
// way comes first, and a request precedes what disabled the origin and its rest, but not a
// Retry-After.
func (s *Store) placeOf(r row, now int64) policy.Place {
	rules := s.rulesOf(r.kind)
	until, _ := rules.Rest(r.State)
	switch {
	case r.visit != "":
		return policy.Place{Pool: poolFlight, Ref: now + int64(rules.LostAfter.Seconds())}
	case r.urgent != 0 && r.NotBefore > now:
		return policy.Place{Pool: poolRest, Ref: r.NotBefore}
	case !r.kind.Visited():
		return policy.Place{Pool: poolOff} // it only names others
	case r.urgent != 0 && r.kind.IsProgram():
		return placeForProgram(r)
	case r.urgent != 0:
		return policy.Place{Pool: poolUrgent, Ref: r.urgent}
	case !r.Enabled():
		return policy.Place{Pool: poolOff}
	case until > now:
		return policy.Place{Pool: poolRest, Ref: until}
	}
	if r.kind.IsProgram() {
		return placeForProgram(r)
	}
	return s.policy.Place(r.State)
}

// A sweep brings back at most sweepMost origins, so that a claim does not wait for many;
// the next sweep brings back more. It reads sweepPage at a time.
const (
	sweepMost = 5000
	sweepPage = 50
)

// sweep places the origins whose rest is over, and the origins whose visit is lost because it did not end in
// time. It stops behind sweepMost; the next sweep goes on. In these two pools every origin is in front, with
// queue and class 0: the query names them for the sake of its index. Claims older than claimsStay are written
// into their rows first, because the query reads only rows. Origins of transactions before an error stay placed.
func (s *Store) sweep(ctx context.Context, op string, now int64) error {
	swept := 0
	for _, pool := range []policy.Pool{poolRest, poolFlight} {
		err := s.runSteps(ctx, op, func() (done bool, err error) {
			if s.cache.pools[pool] == 0 || swept >= sweepMost {
				return true, nil
			}
			if found, err := s.writeClaim(now - claimsStay); found || err != nil {
				swept++
				return false, err
			}
			var due []row
			err = s.db.All(selectRows+" WHERE front = 1 AND pool = ? AND queue = 0 AND class = 0 AND ref <= ? ORDER BY ref, key LIMIT ?",
				[]any{pool, now, sweepPage}, func(from sqlfile.Row) error {
					r, err := scanRow(from)
					due = append(due, r)
					return err
				})
			if err != nil {
				return false, err
			}
			for _, was := range due {
				r := was
				r.visit = "" // the visit of one in poolFlight is lost
				if err := s.save(was, r, now); err != nil {
					return false, err
				}
			}
			swept += len(due)
			return len(due) < sweepPage, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
