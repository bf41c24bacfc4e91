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

// End revokes a lease whatever its token, if it has not ended yet.
func End(tx space.Tx, id string) error {
	e, _, err := Find(tx, id)
	if err != nil {
		return nil // it has
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
