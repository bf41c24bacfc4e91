package lease

import (
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Extend lets the lease's TTL begin anew, for whoever shows its current token.
func Extend(tx space.Tx, id string, token int64, ttl time.Duration) error {
	e, l, err := current(tx, id, token)
	if err == nil {
		err = prolong(tx, e, l, ttl)
	}
	if err != nil {
		return fmt.Errorf("lease.Extend: %w", err)
	}
	return add(tx, Extended)
}

// Prolong lets the TTL of a lease begin anew because its work is in somebody's
// hands. It is no extension in the totals.
func Prolong(tx space.Tx, e space.Entry, ttl time.Duration) error {
	return prolong(tx, e, Decode(e.Tuple), ttl)
}

func prolong(tx space.Tx, e space.Entry, l models.Lease, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	l.Deadline = tx.Now().Add(ttl)
	if err := tx.Replace(e.Ref, Encode(l)); err != nil {
		return err
	}
	return tx.Extend(e.Ref, ttl)
}

// Raise gives a lease the token of a new attempt, so that the one of the old
// attempt is stale. A lease that has ended, or has another token by now, stays as
// it is.
func Raise(tx space.Tx, id string, from, to int64) error {
	e, l, err := current(tx, id, from)
	if err != nil {
		return nil // there is nothing to fence
	}
	if to <= from {
		return fmt.Errorf("lease.Raise %q from token %d to %d: %w", id, from, to, fault.ErrInvalid)
	}
	l.Token = to
	return tx.Replace(e.Ref, Encode(l))
}
