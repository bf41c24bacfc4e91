package petri

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// MaxFlows is how many rows the search for semiflows may have at once; above, there
// is no answer.
const MaxFlows = 5000

// SFlows returns the minimal S-semiflows: weights of places whose sum of tokens
// never changes, as text. It is nil if there are too many.
func (n *Net) SFlows() []string {
	rows := make([][]int64, len(n.Places))
	for p := range n.Places {
		rows[p] = make([]int64, len(n.Transitions))
		for t := range n.Transitions {
			rows[p][t] = n.Transitions[t].Give[p] - n.Transitions[t].Take[p]
		}
	}
	return flowTexts(rows, n.Places)
}

// TFlows returns the minimal T-semiflows: how often transitions fire so that
// nothing has changed, as text. It is nil if there are too many.
func (n *Net) TFlows() []string {
	rows := make([][]int64, len(n.Transitions))
	names := make([]string, len(n.Transitions))
	for t := range n.Transitions {
		names[t] = n.Transitions[t].Name
		rows[t] = make([]int64, len(n.Places))
		for p := range n.Places {
			rows[t][p] = n.Transitions[t].Give[p] - n.Transitions[t].Take[p]
		}
	}
	return flowTexts(rows, names)
}

func flowTexts(rows [][]int64, names []string) []string {
	flows, ok := farkas(rows)
	if !ok {
		return nil
	}
	texts := []string{}
	for _, f := range flows {
		var parts []string
		for i, k := range f {
			switch {
			case k == 1:
				parts = append(parts, names[i])
			case k > 1:
				parts = append(parts, fmt.Sprintf("%d*%s", k, names[i]))
			}
		}
		texts = append(texts, strings.Join(parts, " + "))
	}
	slices.Sort(texts)
	return texts
}

// flowRow is a combination of rows: its weights, and what is left of them.
type flowRow struct{ weights, rest []int64 }

// farkas returns the minimal combinations of rows with weights that are not
// negative whose sum is zero.
func farkas(rows [][]int64) ([][]int64, bool) {
	var all []flowRow
	for i, r := range rows {
		w := make([]int64, len(rows))
		w[i] = 1
		all = append(all, flowRow{w, r})
	}
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	for c := range columns {
		var zero, plus, minus []flowRow
		for _, r := range all {
			switch {
			case r.rest[c] == 0:
				zero = append(zero, r)
			case r.rest[c] > 0:
				plus = append(plus, r)
			default:
				minus = append(minus, r)
			}
		}
		if len(zero)+len(plus)*len(minus) > MaxFlows {
			return nil, false
		}
		for _, a := range plus {
			for _, b := range minus {
				sum, ok := combine(a, b, -b.rest[c], a.rest[c])
				if !ok {
					return nil, false
				}
				zero = append(zero, sum)
			}
		}
		all = minimal(zero)
	}
	flows := make([][]int64, len(all))
	for i, r := range all {
		flows[i] = r.weights
	}
	return flows, true
}

// combine returns x a + y b without common divisor, unless it overflows.
func combine(a, b flowRow, x, y int64) (flowRow, bool) {
	r := flowRow{make([]int64, len(a.weights)), make([]int64, len(a.rest))}
	var divisor int64
	mix := func(to, from, with []int64) bool {
		for i := range to {
			p, okP := times(from[i], x)
			q, okQ := times(with[i], y)
			to[i] = p + q
			divisor = gcd(divisor, to[i])
			if !okP || !okQ {
				return false
			}
		}
		return true
	}
	if !mix(r.weights, a.weights, b.weights) || !mix(r.rest, a.rest, b.rest) {
		return r, false
	}
	for _, values := range [][]int64{r.weights, r.rest} {
		for i := range values {
			values[i] /= divisor
		}
	}
	return r, true
}

// times multiplies, and reports whether the product is small enough to be added.
func times(a, b int64) (int64, bool) {
	high, low := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	return a * b, high == 0 && low < 1<<61
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// minimal leaves out the rows whose support contains that of another.
func minimal(rows []flowRow) []flowRow {
	var kept []flowRow
	for i, r := range rows {
		if !slices.ContainsFunc(rows[:i], func(o flowRow) bool { return within(o, r) }) &&
			!slices.ContainsFunc(rows[i+1:], func(o flowRow) bool { return within(o, r) && !within(r, o) }) {
			kept = append(kept, r)
		}
	}
	return kept
}

func within(a, b flowRow) bool {
	for i := range a.weights {
		if a.weights[i] != 0 && b.weights[i] == 0 {
			return false
		}
	}
	return true
}
