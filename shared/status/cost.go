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

const procSpend = "status.spend"

// maxCosts bounds the kinds of tasks whose costs are kept.
const maxCosts = 64

// spendArgs are what models.Cost says: action, how, tasks, wall and processor time in
// microseconds, windows.
var spendArgs = tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64)

// anyCost matches the cost of an action's tasks; both may be formals.
func anyCost(action, how any) tuple.Template {
	return tuple.Match("cost", action, how, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64)
}

// Spend adds what some tasks have cost to what is known. fault.ErrInvalid refuses names that
// are no ids, and numbers below 0; fault.ErrOverloaded one kind of tasks too many.
func Spend(ctx context.Context, repo space.Repository, c models.Cost) error {
	args := tuple.New(c.Action, c.How, c.Tasks, c.Wall.Duration().Microseconds(), c.CPU.Duration().Microseconds(), c.Windows)
	if _, err := repo.Call(ctx, space.OpID{}, procSpend, args); err != nil {
		return fmt.Errorf("status.Spend: %w", err)
	}
	return nil
}

// Costs returns what tasks have cost since the coordinator began, in no order.
func Costs(ctx context.Context, repo space.Repository) ([]models.Cost, error) {
	found, err := repo.Space(Space).QueryAll(ctx, anyCost(tuple.AnyString, tuple.AnyString))
	if err != nil {
		return nil, fmt.Errorf("status.Costs: %w", err)
	}
	costs := make([]models.Cost, len(found))
	for i, t := range found {
		costs[i] = models.Cost{
			Action: t.Str(1), How: t.Str(2), Tasks: t.Int64(3),
			Wall: models.Seconds(float64(t.Int64(4)) / 1e6), CPU: models.Seconds(float64(t.Int64(5)) / 1e6), Windows: t.Int64(6),
		}
	}
	return costs, nil
}

// spend (action, how, tasks, wall, cpu, windows) adds to a tuple, which outlives who calls.
func spend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	action, how := args.Str(0), args.Str(1)
	numbers := [4]int64{args.Int64(2), args.Int64(3), args.Int64(4), args.Int64(5)}
	if !models.ValidID(action) || !models.ValidID(how) || min(numbers[0], numbers[1], numbers[2], numbers[3]) < 0 {
		return nil, fmt.Errorf("%s: %w: %.100s: two ids and numbers from 0 are wanted", procSpend, fault.ErrInvalid, args)
	}
	e, known := tx.Find(Space, anyCost(action, how), nil)
	if !known && tx.Count(Space, anyCost(tuple.AnyString, tuple.AnyString)) >= maxCosts {
		return nil, fmt.Errorf("%s: %w: the costs of %d kinds of tasks are kept already", procSpend, fault.ErrOverloaded, maxCosts)
	}
	t := tuple.New("cost", action, how)
	for i, n := range numbers {
		if known {
			if had := e.Tuple.Int64(3 + i); n <= math.MaxInt64-had {
				n += had
			} else {
				n = math.MaxInt64
			}
		}
		t = append(t, n)
	}
	if known {
		return nil, tx.Replace(e.Ref, t)
	}
	_, err := tx.Put(Space, t, space.PutOptions{})
	return nil, err
}
