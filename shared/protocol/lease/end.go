package lease

import (
	"fmt"

	"leasehold/shared/space"
)

// Revoke ends the lease if token is the current one. It fails with fault.ErrStaleToken for another token, and with
// fault.ErrNotFound if the lease has ended.
func Revoke(tx space.Tx, id string, token int64) error {
	e, _, err := findCurrent(tx, id, token)
	if err != nil {
		return fmt.Errorf("lease.Revoke: %w", err)
	}
	return endLease(tx, e, Revoked)
}

// End is Revoke, but returns nil if the lease has ended or has another token, because then its end is not the
// caller's task.
func End(tx space.Tx, id string, token int64) error {
	e, _, err := findCurrent(tx, id, token)
	if err != nil {
		return nil
	}
	return endLease(tx, e, Revoked)
}

// Expire ends a lease whose TTL is over. It fails with fault.ErrNotFound if the lease has already ended.
func Expire(tx space.Tx, e space.Entry) error { return endLease(tx, e, Expired) }

// endLease takes the tuple of a lease, and counts its end in the total named how. A lease ends only once, because
// taking its ref a second time fails with fault.ErrNotFound.
func endLease(tx space.Tx, e space.Entry, how string) error {
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	return addTotal(tx, how)
}
