package status

import (
	"context"
	"fmt"
	"math"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// maxCosts is how many pairs of action and way have their costs kept.
const maxCosts = 64

// Spend adds to the costs of an action's tasks. It fails with fault.ErrInvalid for an invalid id in Action or How or
// a negative number, and with fault.ErrOverloaded for a new pair of them beyond maxCosts. A refused call is not
// repeated, because costs are worth no wait.
func Spend(ctx context.Context, repo space.Repository, c models.Cost) error {
	if _, err := space.Once(repo).Call(ctx, space.OpID{}, procSpend, costOf(c).args()); err != nil {
		return fmt.Errorf("status.Spend: %w", err)
	}
	return nil
}

// Costs returns what tasks have cost since the coordinator started, in no order.
func Costs(ctx context.Context, repo space.Repository) ([]models.Cost, error) {
	found, err := repo.Space(Space).QueryAll(ctx, matchCost(tuple.AnyString, tuple.AnyString))
	if err != nil {
		return nil, fmt.Errorf("status.Costs: %w", err)
	}
	costs := make([]models.Cost, len(found))
	for i, t := range found {
		costs[i] = decodeCost(t).model()
	}
	return costs, nil
}

// spend adds to the tuple of an action and a way, or puts it. A sum stays at the maximum of its type instead of
// overflowing. The tuple does not end with the caller's session.
func spend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	c := decodeSpend(args)
	if !models.ValidID(c.Action) || !models.ValidID(c.How) || min(c.Tasks, c.WallMicros, c.CPUMicros, c.WindowsRead) < 0 {
		return nil, fmt.Errorf("%s: %w: %.100s: want two ids and numbers of at least 0", procSpend, fault.ErrInvalid, args)
	}
	e, known := tx.Find(Space, matchCost(c.Action, c.How), nil)
	if known {
		sum := decodeCost(e.Tuple)
		addSaturated(&sum.Tasks, c.Tasks)
		addSaturated(&sum.WallMicros, c.WallMicros)
		addSaturated(&sum.CPUMicros, c.CPUMicros)
		addSaturated(&sum.WindowsRead, c.WindowsRead)
		return nil, tx.Replace(e.Ref, sum.encode())
	}
	if tx.Count(Space, matchCost(tuple.AnyString, tuple.AnyString)) >= maxCosts {
		return nil, fmt.Errorf("%s: %w: the costs of %d pairs of action and way are kept already", procSpend, fault.ErrOverloaded, maxCosts)
	}
	_, err := tx.Put(Space, c.encode(), space.PutOptions{})
	return nil, err
}

// addSaturated adds n, which is not negative, to sum, but not beyond the maximum.
func addSaturated(sum *int64, n int64) { *sum += min(n, math.MaxInt64-*sum) }
