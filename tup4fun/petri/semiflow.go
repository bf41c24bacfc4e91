package petri

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Semiflow gives places or transitions, by index, weights that are not negative
// and not all 0.
type Semiflow []int64

// maxCells bounds the table that semiflows are computed in, and maxFactor the
// numbers in it.
const (
	maxCells  = 4_000_000
	maxFactor = 1 << 30
)

// PlaceSemiflows returns the place semiflows of minimal support: however the net
// fires, such a weighted sum of tokens stays what it is. The error says which bound
// was reached, in which case there are none.
func PlaceSemiflows(ctx context.Context, n *Net, o Options) ([]Semiflow, error) {
	if err := n.small(len(n.Places)); err != nil {
		return nil, err
	}
	return farkas(ctx, n.incidence(), len(n.Transitions), o.normal().Semiflows)
}

// TransitionSemiflows returns the transition semiflows of minimal support: firing
// each transition so many times, where that is possible, changes nothing.
func TransitionSemiflows(ctx context.Context, n *Net, o Options) ([]Semiflow, error) {
	if err := n.small(len(n.Transitions)); err != nil {
		return nil, err
	}
	effect := n.incidence()
	turned := make([][]int64, len(n.Transitions))
	for t := range turned {
		turned[t] = make([]int64, len(n.Places))
		for p := range n.Places {
			turned[t][p] = effect[p][t]
		}
	}
	return farkas(ctx, turned, len(n.Places), o.normal().Semiflows)
}

// small errs if the table for so many rows would be too large.
func (n *Net) small(rows int) error {
	if all := len(n.Places) + len(n.Transitions); rows*all > maxCells {
		return fmt.Errorf("the net is too large for semiflows: %d times %d numbers", rows, all)
	}
	return nil
}

// incidence is what each transition (column) does to each place (row).
func (n *Net) incidence() [][]int64 {
	effect := make([][]int64, len(n.Places))
	for p := range effect {
		effect[p] = make([]int64, len(n.Transitions))
	}
	for t, tr := range n.Transitions {
		for _, a := range tr.In {
			effect[a.Place][t] -= a.Weight
		}
		for _, a := range tr.Out {
			effect[a.Place][t] += a.Weight
		}
	}
	return effect
}

// A candidate is weights of the rows of the matrix, and what is left of the
// columns with these weights.
type candidate struct {
	left, weights []int64
}

var errWeights = errors.New("the weights of semiflows are too large")

// farkas returns the combinations of rows with minimal support, of weights that
// are not negative, that sum up to 0 in every column.
func farkas(ctx context.Context, matrix [][]int64, columns, limit int) ([]Semiflow, error) {
	rows := make([]candidate, len(matrix))
	for i := range rows {
		rows[i] = candidate{matrix[i], make([]int64, len(matrix))}
		rows[i].weights[i] = 1
	}
	todo := make([]int, columns)
	for i := range todo {
		todo[i] = i
	}
	for len(todo) > 0 {
		var err error
		best := cheapest(rows, todo)
		if rows, err = cancel(ctx, rows, todo[best], limit); err != nil {
			return nil, err
		}
		todo = slices.Delete(todo, best, best+1)
	}
	flows := make([]Semiflow, len(rows))
	for i, r := range rows {
		flows[i] = r.weights
	}
	slices.SortFunc(flows, func(a, b Semiflow) int { return slices.Compare(b, a) })
	return flows, nil
}

// cheapest says which of the columns makes the fewest new rows.
func cheapest(rows []candidate, columns []int) int {
	best, least := 0, -1
	for i, c := range columns {
		plus, minus, zero := 0, 0, 0
		for _, r := range rows {
			switch {
			case r.left[c] > 0:
				plus++
			case r.left[c] < 0:
				minus++
			default:
				zero++
			}
		}
		if cost := plus*minus + zero; least < 0 || cost < least {
			best, least = i, cost
		}
	}
	return best
}

// cancel combines each row that is above 0 in a column with each that is below,
// so that the column is 0, and keeps what has minimal support.
func cancel(ctx context.Context, rows []candidate, column, limit int) ([]candidate, error) {
	var kept, plus, minus []candidate
	for _, r := range rows {
		switch {
		case r.left[column] == 0:
			kept = append(kept, r)
		case r.left[column] > 0:
			plus = append(plus, r)
		default:
			minus = append(minus, r)
		}
	}
	for _, a := range plus {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("semiflows: %w", context.Cause(ctx))
		}
		for _, b := range minus {
			c, err := combine(a, b, column)
			if err != nil {
				return nil, err
			}
			if kept = addMinimal(kept, c); len(kept) > limit {
				return nil, fmt.Errorf("there are more than %d semiflows, or steps to them", limit)
			}
		}
	}
	return kept, nil
}

func combine(a, b candidate, column int) (candidate, error) {
	x, y := -b.left[column], a.left[column]
	g := gcd(x, y)
	x, y = x/g, y/g
	c := candidate{make([]int64, len(a.left)), make([]int64, len(a.weights))}
	all := int64(0)
	for i := range c.left {
		c.left[i] = x*a.left[i] + y*b.left[i]
		all = gcd(all, c.left[i])
	}
	for i := range c.weights {
		c.weights[i] = x*a.weights[i] + y*b.weights[i]
		all = gcd(all, c.weights[i])
	}
	for _, part := range [][]int64{c.left, c.weights} {
		for i := range part {
			if part[i] /= all; part[i] > maxFactor || part[i] < -maxFactor {
				return c, errWeights
			}
		}
	}
	return c, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// addMinimal adds c unless a row has its support or a part of it, and drops the
// rows of which c has a part.
func addMinimal(rows []candidate, c candidate) []candidate {
	for _, r := range rows {
		if within(r.weights, c.weights) {
			return rows
		}
	}
	rows = slices.DeleteFunc(rows, func(r candidate) bool { return within(c.weights, r.weights) })
	return append(rows, c)
}

// within reports whether what is not 0 in a is not 0 in b.
func within(a, b []int64) bool {
	for i, w := range a {
		if w != 0 && b[i] == 0 {
			return false
		}
	}
	return true
}
