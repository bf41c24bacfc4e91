package petri

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Semiflow is a vector of weights of places or transitions, by index. No weight is
// negative and not all are 0.
type Semiflow []int64

// maxCells bounds the numbers in the table of the computation, maxFactor their size, and
// maxWork the number of accesses.
const (
	maxCells  = 4_000_000
	maxFactor = 1 << 30
	maxWork   = 2_000_000_000
)

// PlaceSemiflows returns the place semiflows of minimal support. The sum of tokens with
// these weights is constant under every firing. If a bound is reached there is an error
// and no result.
func PlaceSemiflows(ctx context.Context, n *Net, o Options) ([]Semiflow, error) {
	if err := n.checkTableSize(len(n.Places)); err != nil {
		return nil, err
	}
	return combinations(ctx, n.incidence(), len(n.Transitions), o.withDefaults().Semiflows)
}

// TransitionSemiflows returns the transition semiflows of minimal support. Firing each transition
// as often as its weight, if possible, does not change the marking.
func TransitionSemiflows(ctx context.Context, n *Net, o Options) ([]Semiflow, error) {
	if err := n.checkTableSize(len(n.Transitions)); err != nil {
		return nil, err
	}
	effect := n.incidence()
	transposed := make([][]int64, len(n.Transitions))
	for t := range transposed {
		transposed[t] = make([]int64, len(n.Places))
		for p := range n.Places {
			transposed[t][p] = effect[p][t]
		}
	}
	return combinations(ctx, transposed, len(n.Places), o.withDefaults().Semiflows)
}

// checkTableSize refuses a table with too many numbers.
func (n *Net) checkTableSize(rows int) error {
	if all := len(n.Places) + len(n.Transitions); rows*all > maxCells {
		return fmt.Errorf("the net is too large for semiflows: %d times %d numbers", rows, all)
	}
	return nil
}

// incidence returns the effect of each transition (column) on each place (row).
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

// candidate is a combination of rows of the matrix: their weights, and the remaining sum
// of each column.
type candidate struct {
	left, weights []int64
}

var (
	errWeights = errors.New("the weights of semiflows are too large")
	errWork    = errors.New("the semiflows take too long to compute")
)

// farkas is the state of one computation.
type farkas struct {
	rows  []candidate
	limit int   // of rows
	work  int64 // accesses so far
}

// combinations returns the combinations of rows, with non-negative weights and minimal support,
// that sum to 0 in every column (Farkas): it eliminates the columns one by one, the cheapest first,
// because the number of rows may grow with each.
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
		if err := f.checkLimits(ctx); err != nil {
			return nil, err
		}
		best := f.cheapest(todo)
		if err := f.eliminate(ctx, todo[best]); err != nil {
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

// cheapest returns the index in columns of the one whose elimination adds the fewest rows: each
// positive row is combined with each negative one, and both are dropped. It counts its work.
func (f *farkas) cheapest(columns []int) int {
	f.work += int64(len(columns)) * int64(len(f.rows))
	best, least := 0, 0
	for i, c := range columns {
		plus, minus := f.countSigns(c)
		if cost := plus*minus - plus - minus; i == 0 || cost < least {
			best, least = i, cost
		}
	}
	return best
}

// countSigns returns the number of rows that are positive in a column, and of those that
// are negative.
func (f *farkas) countSigns(column int) (plus, minus int) {
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

// rowsBySign partitions the rows by their sign in a column.
func (f *farkas) rowsBySign(column int) (plus, minus, zero []candidate) {
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

// eliminate combines each row with a positive value in a column with each row with a negative one,
// so that the column becomes 0, and keeps the rows of minimal support. After an error f.rows is
// unchanged.
func (f *farkas) eliminate(ctx context.Context, column int) error {
	plus, minus, kept := f.rowsBySign(column)
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
			if err := f.checkLimits(ctx); err != nil {
				return err
			}
		}
	}
	f.rows = kept
	return nil
}

// checkLimits returns an error if ctx is done or maxWork is reached.
func (f *farkas) checkLimits(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("semiflows: %w", context.Cause(ctx))
	}
	if f.work > maxWork {
		return errWork
	}
	return nil
}

// combine adds multiples of a and b so that the column becomes 0. b is negative there and a is
// positive, so both factors are positive. The divisor is not 0, because some weight is
// positive. errWeights: a number exceeds maxFactor; the products before it cannot overflow,
// because no number of a and b exceeds it.
func combine(a, b candidate, column int) (candidate, error) {
	x, y := -b.left[column], a.left[column]
	g := gcd(x, y)
	x, y = x/g, y/g
	c := candidate{make([]int64, len(a.left)), make([]int64, len(a.weights))}
	divisor := int64(0)
	for i := range c.left {
		c.left[i] = x*a.left[i] + y*b.left[i]
		divisor = gcd(divisor, c.left[i])
	}
	for i := range c.weights {
		c.weights[i] = x*a.weights[i] + y*b.weights[i]
		divisor = gcd(divisor, c.weights[i])
	}
	for _, part := range [][]int64{c.left, c.weights} {
		for i := range part {
			part[i] /= divisor
			if part[i] > maxFactor || part[i] < -maxFactor {
				return c, errWeights
			}
		}
	}
	return c, nil
}

// gcd returns the greatest common divisor, not negative; 0 for two zeros.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// addMinimal adds c unless its support contains the support of a row, and removes the rows whose
// support contains the support of c.
func addMinimal(rows []candidate, c candidate) []candidate {
	for _, r := range rows {
		if supportWithin(r.weights, c.weights) {
			return rows
		}
	}
	rows = slices.DeleteFunc(rows, func(r candidate) bool { return supportWithin(c.weights, r.weights) })
	return append(rows, c)
}

// supportWithin reports whether b is nonzero wherever a is.
func supportWithin(a, b []int64) bool {
	for i, w := range a {
		if w != 0 && b[i] == 0 {
			return false
		}
	}
	return true
}
