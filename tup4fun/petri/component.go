package petri

import "leasehold/tup4fun/explore"

// components numbers the strongly connected components of a graph. Each component has a
// higher number than those it leads to.
func (g *Graph) components() (of []int, count int) {
	of = make([]int, g.Len())
	c := explore.Components{
		Next: func(n int32, i int) (int32, bool) {
			if i < len(g.edges[n]) {
				return int32(g.edges[n][i].To), true
			}
			return 0, false
		},
		Found: func(component []int32) bool {
			for _, n := range component {
				of[n] = count
			}
			count++
			return true
		},
	}
	for i := range of {
		c.From(int32(i))
	}
	return of, count
}

// terminal is a component without edges to others: its first marking, and the
// transitions that fire in it.
type terminal struct {
	first int
	fires map[int]bool
}

// terminals lists the components without edges to others. first is the smallest number,
// because the loop runs downwards.
func (g *Graph) terminals() []terminal {
	of, count := g.components()
	all := make([]terminal, count)
	leaves := make([]bool, count)
	for i := g.Len() - 1; i >= 0; i-- {
		c := &all[of[i]]
		c.first = i
		if c.fires == nil {
			c.fires = map[int]bool{}
		}
		for _, e := range g.edges[i] {
			c.fires[e.Transition] = true
			if of[e.To] != of[i] {
				leaves[of[i]] = true
			}
		}
	}
	var ends []terminal
	for c, out := range leaves {
		if !out {
			ends = append(ends, all[c])
		}
	}
	return ends
}

// leadsTo reports for each marking whether one of the targets can be reached from it, by going
// back from them. It changes targets.
func (g *Graph) leadsTo(targets []int) []bool {
	back := make([][]int32, g.Len())
	for i, es := range g.edges {
		for _, e := range es {
			back[e.To] = append(back[e.To], int32(i))
		}
	}
	can := make([]bool, g.Len())
	for len(targets) > 0 {
		i := targets[len(targets)-1]
		targets = targets[:len(targets)-1]
		if can[i] {
			continue
		}
		can[i] = true
		for _, from := range back[i] {
			targets = append(targets, int(from))
		}
	}
	return can
}
