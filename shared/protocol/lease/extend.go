package lease

import (
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Extend restarts the lease's TTL if token is the current one, and counts that. Otherwise it changes nothing and
// returns fault.ErrStaleToken for another token, fault.ErrNotFound for a lease that has ended, or fault.ErrInvalid
// for a TTL outside 0 < ttl ≤ MaxTTL.
func Extend(tx space.Tx, id string, token int64, ttl time.Duration) error {
	e, l, err := findCurrent(tx, id, token)
	if err == nil {
		err = restartTTL(tx, e, l, ttl)
	}
	if err != nil {
		return fmt.Errorf("lease.Extend: %w", err)
	}
	return addTotal(tx, Extended)
}

// Prolong restarts the TTL of a lease whose task a session holds. It does not count as an extension in the totals,
// because no result was ingested.
func Prolong(tx space.Tx, e space.Entry, ttl time.Duration) error {
	return restartTTL(tx, e, Decode(e.Tuple), ttl)
}

// restartTTL sets the deadline in the tuple of a lease, which is for people, and the TTL of the tuple, which decides.
func restartTTL(tx space.Tx, e space.Entry, l models.Lease, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	l.Deadline = tx.Now().Add(ttl)
	if err := tx.Replace(e.Ref, Encode(l)); err != nil {
		return err
	}
	return tx.Extend(e.Ref, ttl)
}

// Raise gives a lease the token of a new attempt, so that the token of the previous attempt is stale. It changes
// nothing and returns nil if the lease has ended or has another token than from, because then the previous attempt
// has no right to take away. It fails with fault.ErrInvalid unless to is above from.
func Raise(tx space.Tx, id string, from, to int64) error {
	e, l, err := findCurrent(tx, id, from)
	if err != nil {
		return nil
	}
	if to <= from {
		return fmt.Errorf("lease.Raise %q from token %d to %d: %w", id, from, to, fault.ErrInvalid)
	}
	l.Token = to
	return tx.Replace(e.Ref, Encode(l))
}
