package visits

import (
	"context"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// The pools beside those of the policies.
const (
	poolTold   policy.Pool = 199 // a change was reported; ref is when
	poolUrgent policy.Pool = 200 // a visit was asked for; ref is when
	poolRest   policy.Pool = 201 // ref is until when
	poolFlight policy.Pool = 202 // a visit is under way; ref is when it counts as lost
	poolOff    policy.Pool = 203 // disabled

	poolProgram policy.Pool = 204 // a program claims it; see program.go
)

// placeOf returns where an origin waits at a time. The order of the cases decides: a visit under
// way comes first, and a request precedes what disabled the origin and its rest, but not a
// Retry-After and its hours. An origin whose lister dates a change waits by its value, because a lister may date a
// change of each of its origins at once.
func (s *Store) placeOf(r row, now int64) policy.Place {
	until, _ := s.restOf(r, now)
	switch {
	case r.visit != "":
		return policy.Place{Pool: poolFlight, Ref: now + int64(s.rulesOf(r.kind).LostAfter.Seconds())}
	case r.urgent != 0 && until > now:
		return policy.Place{Pool: poolRest, Ref: until}
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
	if r.isTold() {
		return policy.Place{Pool: poolTold, Ref: r.ToldAt}
	}
	return s.policy.Place(r.State)
}

// toldTrust is after how many false reports in a row an origin waits by its value again, and not before others.
const toldTrust = 3

// isTold reports whether a change of an origin was reported, other than by its lister, by one who is trusted.
func (r row) isTold() bool { return r.Told && r.ToldAt != policy.Never && r.ToldFalse < toldTrust }

// A sweep brings back at most sweepMost origins, so that a claim does not wait for many;
// the next sweep brings back more. It reads sweepPage at a time.
const (
	sweepMost = 5000
	sweepPage = 50
)

// sweep places the origins whose rest is over, the origins whose visit is lost because it did not end in time, and
// those that may not be visited any more because their hours are over. It stops behind sweepMost; the next sweep
// goes on. In poolRest and poolFlight every origin is in front, with queue and class 0: the query names them for
// the sake of its index. Claims older than claimsStay are written into their rows first, because the query reads
// only rows. Origins of transactions before an error stay placed.
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
			found, err := s.placeFound(now, func(r *row) { r.visit = "" }, // the visit of one in poolFlight is lost
				" WHERE front = 1 AND pool = ? AND queue = 0 AND class = 0 AND ref <= ? ORDER BY ref, key LIMIT ?", pool, now, sweepPage)
			swept += found
			return found < sweepPage, err
		})
		if err != nil {
			return err
		}
	}
	return s.runSteps(ctx, op, func() (done bool, err error) {
		found, err := s.placeFound(now, func(*row) {}, " WHERE closes <= ? ORDER BY closes LIMIT ?", now, sweepPage)
		swept += found
		return found < sweepPage || swept >= sweepMost, err
	})
}

// placeFound changes the origins that a query finds, places them again, and returns how many they are.
func (s *Store) placeFound(now int64, change func(*row), where string, args ...any) (found int, err error) {
	var due []row
	err = s.db.All(selectRows+where, args, func(from sqldb.Row) error {
		r, err := scanRow(from)
		due = append(due, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, was := range due {
		r := was
		change(&r)
		if err := s.save(was, r, now); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}
