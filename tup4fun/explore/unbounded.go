package explore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"leasehold/tup4fun/syntax"
)

// firstGrowthCheck is the number of tuples in a space without bound at which its growth
// is first checked. Each further check needs twice as many.
const firstGrowthCheck = 8

// firstGrowthChecks returns the number of tuples for the first growth check of each
// space: math.MaxInt for spaces whose growth cannot be proved, because more tuples may disable a step, the order
// of the tuples matters (all kinds but R), the space is bounded, or the search keeps no tuples to compare (Compact).
func (m *Model) firstGrowthChecks(o Options) []int {
	all := make([]int, len(m.Spaces))
	for i, sp := range m.Spaces {
		all[i] = math.MaxInt
		if m.monotone && !o.Compact && sp.Cap < 0 && sp.Kind == 'R' {
			all[i] = firstGrowthCheck
		}
	}
	return all
}

// fullestState is a state in which a space has more tuples than in any state before.
type fullestState struct {
	state []uint32
	level int
	hash  uint64
}

// checkUnboundedGrowth ends the search if a space provably grows without bound: on the
// path to a state there is an earlier one that differs from it only by fewer tuples in
// random spaces without bound. The steps between them can then be repeated forever (Karp
// and Miller 1969), provided that no step depends on the absence of a tuple. The next check of a
// space is at twice as many tuples, because each searches for a whole path.
func (s *search) checkUnboundedGrowth(ctx context.Context) {
	for i := range s.model.Spaces {
		if s.most[i] < s.growthCheckAt[i] {
			continue
		}
		for s.growthCheckAt[i] <= s.most[i] {
			s.growthCheckAt[i] *= 2
		}
		path := s.path(ctx, s.fullest[i].level, s.fullest[i].state)
		if path == nil {
			return
		}
		for k, before := range path[:len(path)-1] {
			if grown := s.strictlyMore(path[len(path)-1], before); grown != nil {
				s.stopUnbounded(grown, len(path)-1-k)
				return
			}
		}
	}
}

// stopUnbounded ends the search because these spaces grow without bound when the last steps are
// repeated.
func (s *search) stopUnbounded(spaces []int, steps int) {
	var names []string
	for _, i := range spaces {
		s.unbounded[i] = true
		names = append(names, s.model.Spaces[i].Name)
	}
	s.stop(fmt.Sprintf("there are infinitely many states: %s grows without bound (%d steps can be repeated forever); "+
		"--capacity N limits spaces without bound to N tuples", strings.Join(names, " and "), steps))
}

// strictlyMore lists the spaces in which big has more tuples than little. It returns nil if they
// differ in anything else or in nothing. Only random spaces without a capacity count, because the
// order of others could matter.
func (s *search) strictlyMore(big, little []uint32) []int {
	first := len(s.model.Procs) + 1
	if !slices.Equal(big[:first], little[:first]) {
		return nil
	}
	var more []int
	for i, sp := range s.model.Spaces {
		a, b := big[first+i], little[first+i]
		switch {
		case a == b:
		case sp.Cap < 0 && sp.Kind == 'R' && contains(s.tables.spaces.get(a), s.tables.spaces.get(b)):
			more = append(more, i)
		default:
			return nil
		}
	}
	return more
}

// contains reports whether a sorted list has all elements of another sorted list,
// repeated ones as often.
func contains(big, little []int64) bool {
	for _, v := range little {
		i, ok := slices.BinarySearch(big, v)
		if !ok {
			return false
		}
		big = big[i+1:]
	}
	return true
}

// isMonotone reports whether additional tuples never disable a step.
func isMonotone(p *syntax.Program) bool {
	return !slices.ContainsFunc(p.Procs, func(pr *syntax.Process) bool { return !monotone(pr.Body) })
}

// monotone reports whether no statement depends on the absence of a tuple, so that more tuples
// never disable a step: no getp, queryp, count or timeout, and no else or do beside an operation.
func monotone(all []*syntax.Stmt) bool {
	for _, s := range all {
		if s.Op != nil && (s.Op.Verb == syntax.GetP || s.Op.Verb == syntax.QueryP) || countsTuples(s.Value) || countsTuples(s.Target) {
			return false
		}
		waitsForTuples := slices.ContainsFunc(s.Guards, func(g *syntax.Guard) bool { return g.Kind == syntax.OnOp })
		for _, g := range s.Guards {
			// An else is taken, and a do ends, if no operation can go on.
			endsWithout := waitsForTuples && (g.Kind == syntax.Else || s.Kind == syntax.Do)
			if g.Kind == syntax.Timeout || endsWithout || countsTuples(g.Cond) || !monotone(g.Body) {
				return false
			}
		}
		if !monotone(s.Body) {
			return false
		}
	}
	return true
}

// countsTuples reports whether an expression counts tuples.
func countsTuples(x *syntax.Expr) bool {
	return x != nil && (x.Kind == syntax.Count || countsTuples(x.X) || countsTuples(x.Y))
}
