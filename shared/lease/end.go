package lease

import (
	"fmt"

	"leasehold/shared/space"
)

// Revoke ends the lease, for whoever shows its current token.
func Revoke(tx space.Tx, id string, token int64) error {
	e, _, err := current(tx, id, token)
	if err != nil {
		return fmt.Errorf("lease.Revoke: %w", err)
	}
	return end(tx, e, Revoked)
}

// End is Revoke for whoever does not mind that the lease has ended, or is
// another's by now.
func End(tx space.Tx, id string, token int64) error {
	e, _, err := current(tx, id, token)
	if err != nil {
		return nil
	}
	return end(tx, e, Revoked)
}

// Expire ends a lease whose time is over.
func Expire(tx space.Tx, e space.Entry) error { return end(tx, e, Expired) }

func end(tx space.Tx, e space.Entry, how string) error {
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	return add(tx, how)
}
