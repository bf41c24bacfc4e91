package task

import (
	"time"

	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// AnyClaim matches every claim: the visible shadow of a hold.
func AnyClaim() tuple.Template {
	return tuple.Match("claim", tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64)
}

func claimOf(id string) tuple.Template {
	p := AnyClaim()
	p[1] = id
	return p
}

// showClaim puts the claim of a task that worker holds until due, or moves it in
// place.
func showClaim(tx space.Tx, i Item, worker string, due time.Time) error {
	claim := tuple.New("claim", i.ID, worker, due.UnixMilli(), i.Token)
	if e, ok := tx.Find(lease.Space, claimOf(i.ID), nil); ok {
		return tx.Replace(e.Ref, claim)
	}
	_, err := tx.Put(lease.Space, claim, space.PutOptions{})
	return err
}

func hideClaim(tx space.Tx, id string) error {
	e, ok := tx.Find(lease.Space, claimOf(id), nil)
	if !ok {
		return nil
	}
	return tx.Take(e.Ref)
}

// Drop removes a task, wherever it is, and its claim.
func Drop(tx space.Tx, e space.Entry) error {
	if err := hideClaim(tx, e.Tuple.Str(2)); err != nil {
		return err
	}
	return tx.Take(e.Ref)
}
