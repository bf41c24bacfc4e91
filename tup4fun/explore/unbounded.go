package explore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"leasehold/tup4fun/syntax"
)

// firstLook is how many tuples a space without bound has before it is asked
// whether it has one after all; then whenever they have doubled.
const firstLook = 8

// looks returns for each space how many tuples it may have before it is first asked
// whether it has a bound.
func (m *Model) looks(o Options) []int {
	all := make([]int, len(m.Spaces))
	for i, sp := range m.Spaces {
		all[i] = math.MaxInt
		if m.monotone && !o.Compact && sp.Cap < 0 && sp.Kind == 'R' {
			all[i] = firstLook
		}
	}
	return all
}

// A fullest is a state in which a space had more tuples than in any before.
type fullest struct {
	state []uint32
	level int
	print uint64
}

// lookForGrowth ends the search if it is proved that a space grows without bound:
// on the way to a state there is one that differs from it only by fewer tuples in
// random spaces without bound. What led from the one to the other can then be
// repeated for ever (Karp and Miller 1969), as long as nothing in the program
// depends on a tuple not being there.
func (s *search) lookForGrowth(ctx context.Context) {
	for i := range s.m.Spaces {
		if s.most[i] < s.look[i] {
			continue
		}
		for s.look[i] <= s.most[i] {
			s.look[i] *= 2
		}
		path := s.path(ctx, s.fullest[i].level, s.fullest[i].state)
		if path == nil {
			return
		}
		for k, before := range path[:len(path)-1] {
			if grown := s.covers(path[len(path)-1], before); grown != nil {
				s.grown(grown, len(path)-1-k)
				return
			}
		}
	}
}

func (s *search) grown(spaces []int, steps int) {
	var names []string
	for _, i := range spaces {
		s.unbounded[i] = true
		names = append(names, s.m.Spaces[i].Name)
	}
	s.stop(fmt.Sprintf("there are infinitely many states: %s grows without bound (%d steps can be repeated for ever); "+
		"--capacity N gives spaces without bound room for N tuples", strings.Join(names, " and "), steps))
}

// covers lists the spaces in which big has more tuples than little, if that is all
// they differ in.
func (s *search) covers(big, little []uint32) []int {
	first := len(s.m.Procs) + 1
	if !slices.Equal(big[:first], little[:first]) {
		return nil
	}
	var more []int
	for i, sp := range s.m.Spaces {
		a, b := big[first+i], little[first+i]
		switch {
		case a == b:
		case sp.Cap < 0 && sp.Kind == 'R' && contains(s.t.spaces.get(a), s.t.spaces.get(b)):
			more = append(more, i)
		default:
			return nil
		}
	}
	return more
}

// contains reports whether a sorted list has all elements of another.
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

// isMonotone reports whether more tuples in a space never take a choice away.
func isMonotone(p *syntax.Program) bool {
	for _, pr := range p.Procs {
		if !monotone(pr.Body) {
			return false
		}
	}
	return true
}

func monotone(all []*syntax.Stmt) bool {
	for _, s := range all {
		if s.Op != nil && (s.Op.Verb == syntax.GetP || s.Op.Verb == syntax.QueryP) || looks(s.Value) || looks(s.Target) {
			return false
		}
		ops := slices.ContainsFunc(s.Guards, func(g *syntax.Guard) bool { return g.Kind == syntax.OnOp })
		for _, g := range s.Guards {
			if g.Kind == syntax.Timeout || g.Kind == syntax.Else && ops || looks(g.Cond) || ops && s.Kind == syntax.Do || !monotone(g.Body) {
				return false
			}
		}
		if !monotone(s.Body) {
			return false
		}
	}
	return true
}

// looks reports whether an expression counts tuples.
func looks(x *syntax.Expr) bool {
	return x != nil && (x.Kind == syntax.Count || looks(x.X) || looks(x.Y))
}
