package lease

import (
	"context"
	"fmt"

	"leasehold/shared/space"
)

// What Totals counts.
const (
	Granted  = "leases granted"
	Extended = "leases extended"
	Revoked  = "leases revoked"
	Expired  = "leases expired"
	Late     = "results late" // ingested, but changed no lease
)

// addTotal adds one to the total named what, which it puts with 1 if there is none yet. It fails
// only for a full space, with fault.ErrOverloaded.
func addTotal(tx space.Tx, what string) error {
	e, ok := tx.Find(Space, AnyTotal(what), nil)
	if !ok {
		_, err := tx.Put(Space, total{what, 1}.encode(), space.PutOptions{})
		return err
	}
	return tx.Replace(e.Ref, total{what, decodeTotal(e.Tuple).N + 1}.encode())
}

// CountLate counts a result that was ingested and changed no lease, because it came twice, after the final one or
// from an earlier attempt, or names an unknown lease.
func CountLate(tx space.Tx) error { return addTotal(tx, Late) }

// Totals returns how many leases were granted, extended, revoked and expired, and how many results came late, since
// the spaces were created. A total without a count yet is not in the map.
func Totals(ctx context.Context, repo space.Repository) (map[string]int64, error) {
	found, err := repo.Space(Space).QueryAll(ctx, anyTotals())
	if err != nil {
		return nil, fmt.Errorf("lease.Totals: %w", err)
	}
	totals := map[string]int64{}
	for _, t := range found {
		n := decodeTotal(t)
		totals[n.What] = n.N
	}
	return totals, nil
}
