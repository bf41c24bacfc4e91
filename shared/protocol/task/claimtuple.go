package task

import (
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
)

// showClaim puts the claim of a task that a worker holds, or replaces it in place.
func showClaim(tx space.Tx, c Claim) error {
	if e, ok := tx.Find(lease.Space, claimOf(c.Task), nil); ok {
		return tx.Replace(e.Ref, c.encode())
	}
	_, err := tx.Put(lease.Space, c.encode(), space.PutOptions{})
	return err
}

// removeClaim takes the claim of a task if there is one. If there is none, it returns nil.
func removeClaim(tx space.Tx, id string) error {
	e, ok := tx.Find(lease.Space, claimOf(id), nil)
	if !ok {
		return nil
	}
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	return freeWorker(tx, DecodeClaim(e.Tuple).Worker)
}

// Remove takes a task, waiting or held, and its claim. The task may be malformed. It fails with fault.ErrNotFound if
// the task is gone.
func Remove(tx space.Tx, e space.Entry) error {
	if err := removeClaim(tx, decodeHeader(e.Tuple).ID); err != nil {
		return err
	}
	if err := freeReserved(tx, e, ""); err != nil {
		return err
	}
	return tx.Take(e.Ref)
}
