package lease

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// What Totals counts.
const (
	Granted  = "leases granted"
	Extended = "leases extended"
	Revoked  = "leases revoked"
	Expired  = "leases expired"
	Late     = "results late" // ingested, and moved no lease
)

// AnyTotal matches the count of what.
func AnyTotal(what string) tuple.Template { return tuple.Match("total", what, tuple.AnyInt64) }

// add counts one more of what.
func add(tx space.Tx, what string) error {
	e, ok := tx.Find(Space, AnyTotal(what), nil)
	if !ok {
		_, err := tx.Put(Space, tuple.New("total", what, int64(1)), space.PutOptions{})
		return err
	}
	return tx.Replace(e.Ref, tuple.New("total", what, e.Tuple.Int64(2)+1))
}

// CountLate counts a result that was ingested and moved no lease: it came twice,
// after the final one, of an earlier attempt, or of a lease that there is not.
func CountLate(tx space.Tx) error { return add(tx, Late) }

// Totals returns how many leases were granted, extended, revoked and expired, and
// how many results came late, since the spaces were created.
func Totals(ctx context.Context, repo space.Repository) (map[string]int64, error) {
	found, err := repo.Space(Space).QueryAll(ctx, tuple.Match("total", tuple.AnyString, tuple.AnyInt64))
	if err != nil {
		return nil, fmt.Errorf("lease.Totals: %w", err)
	}
	totals := map[string]int64{}
	for _, t := range found {
		totals[t.Str(1)] = t.Int64(2)
	}
	return totals, nil
}
