package visits

import (
	"context"
	"math"

	"leasehold/shared/protocol/visit/policy"
)

// A claim writes one small row into the table claim. The origin's row in schedule stays as it is, because writing
// it changes about five pages of the file: the row, the row of the next origin on its host, and three indexes.
// The outcome of the visit writes the row anyway, and most visits end soon. The claims of longer ones are written
// into their rows by a sweep, because each pick passes over the origins whose rows do not have their claims.

// claimsStay is how many seconds a claim may stay out of the row of its origin. A visit is
// lost no earlier than that.
const claimsStay = 10

// claim notes a visit that began, as it is in the table claim.
func (r *row) claim(visit string, at int64) {
	r.Begin(at)
	r.claimed, r.visit, r.urgent, r.forced = true, visit, 0, false
}

// waitsAt returns where an origin waits. Its place in the file may be an earlier one.
func (r row) waitsAt() policy.Place {
	if r.claimed {
		return policy.Place{Pool: poolFlight}
	}
	return r.place
}

// writeClaim writes one of the claims from before a time into the row of its origin, and reports whether there
// was one. One per call, because save changes the cache during the iteration, and so that transactions stay
// short.
func (s *Store) writeClaim(before int64) (found bool, err error) {
	for _, r := range s.cache.claims {
		if r.LastScheduled < before {
			return true, s.save(r, r, r.LastScheduled)
		}
	}
	return false, nil
}

// current returns an origin in the transaction under way, from memory if its claim is there, because each visit
// needs it twice. ok is false for an unknown origin.
func (s *Store) current(id string) (r row, ok bool, err error) {
	if key, ok := s.cache.claimKeys[id]; ok {
		return s.cache.claims[key], true, nil
	}
	return findID(s.db, id)
}

// writeClaims writes all claims into the rows of their origins. Each is a step of its own, so that no transaction
// is long.
func (s *Store) writeClaims(ctx context.Context, op string) error {
	return s.runSteps(ctx, op, func() (done bool, err error) {
		found, err := s.writeClaim(math.MaxInt64)
		return !found, err
	})
}
