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

// maxCells bounds the table that semiflows are computed in, maxFactor the numbers
// in it, and maxWork how often one is looked at.
const (
	maxCells  = 4_000_000
	maxFactor = 1 << 30
	maxWork   = 2_000_000_000
)

// PlaceSemiflows returns the place semiflows of minimal support: however the net
// fires, such a weighted sum of tokens stays what it is. The error says which bound
// was reached, in which case there are none.
func PlaceSemiflows(ctx context.Context, n *Net, o Options) ([]Semiflow, error) {
	if err := n.small(len(n.Places)); err != nil {
		return nil, err
	}
	return combinations(ctx, n.incidence(), len(n.Transitions), o.normal().Semiflows)
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
	return combinations(ctx, turned, len(n.Places), o.normal().Semiflows)
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

var (
	errWeights = errors.New("the weights of semiflows are too large")
	errWork    = errors.New("it takes too long to find the semiflows")
)

// A farkas is one computation.
type farkas struct {
	rows  []candidate
	limit int   // of rows
	work  int64 // that was done
}

// combinations returns those of rows, with weights that are not negative and with
// minimal support, that sum up to 0 in every column.
func combinations(ctx context.Context, matrix [][]int64, columns, limit int) ([]Semiflow, error) {
	f := farkas{rows: make([]candidate, len(matrix)), limit: limit}
	for i := range f.rows {
		f.rows[i] = candidate{matrix[i], make([]int64, len(matrix))}
		f.rows[i].weights[i] = 1
	}
	todo := make([]int, columns)
	for i := range todo {
		todo[i] = i
	}
	for len(todo) > 0 {
		if err := f.over(ctx); err != nil {
			return nil, err
		}
		best := f.cheapest(todo)
		if err := f.cancel(ctx, todo[best]); err != nil {
			return nil, err
		}
		todo = slices.Delete(todo, best, best+1)
	}
	flows := make([]Semiflow, len(f.rows))
	for i, r := range f.rows {
		flows[i] = r.weights
	}
	slices.SortFunc(flows, func(a, b Semiflow) int { return slices.Compare(b, a) })
	return flows, nil
}

// cheapest says which of the columns makes the fewest new rows.
func (f *farkas) cheapest(columns []int) int {
	f.work += int64(len(columns)) * int64(len(f.rows))
	best, least := 0, 0
	for i, c := range columns {
		plus, minus := f.count(c)
		if cost := plus*minus - plus - minus; i == 0 || cost < least {
			best, least = i, cost
		}
	}
	return best
}

// count says how many rows are above 0 in a column, and how many below.
func (f *farkas) count(column int) (plus, minus int) {
	for _, r := range f.rows {
		switch left := r.left[column]; {
		case left > 0:
			plus++
		case left < 0:
			minus++
		}
	}
	return plus, minus
}

// signs sorts the rows by what is left of them in a column.
func (f *farkas) signs(column int) (plus, minus, zero []candidate) {
	for _, r := range f.rows {
		switch left := r.left[column]; {
		case left > 0:
			plus = append(plus, r)
		case left < 0:
			minus = append(minus, r)
		default:
			zero = append(zero, r)
		}
	}
	return plus, minus, zero
}

// cancel combines each row that is above 0 in a column with each that is below,
// so that the column is 0, and keeps what has minimal support.
func (f *farkas) cancel(ctx context.Context, column int) error {
	plus, minus, kept := f.signs(column)
	for _, a := range plus {
		for _, b := range minus {
			c, err := combine(a, b, column)
			if err != nil {
				return err
			}
			kept = addMinimal(kept, c)
			f.work += int64(len(c.left) + len(c.weights)*len(kept))
			if len(kept) > f.limit {
				return fmt.Errorf("there are more than %d semiflows, or steps to them", f.limit)
			}
			if err := f.over(ctx); err != nil {
				return err
			}
		}
	}
	f.rows = kept
	return nil
}

// over errs when it has taken too long.
func (f *farkas) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("semiflows: %w", context.Cause(ctx))
	}
	if f.work > maxWork {
		return errWork
	}
	return nil
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
