package petri

// components numbers the strongly connected components of a graph, after Tarjan:
// each component has a higher number than those it leads to.
func (g *Graph) components() (of []int, count int) {
	w := walk{g: g, of: make([]int, g.Len()), low: make([]int, g.Len()), order: make([]int, g.Len())}
	for i := range w.of {
		w.of[i] = -1
	}
	for i := range w.of {
		if w.order[i] == 0 {
			w.from(i)
		}
	}
	return w.of, w.count
}

type walk struct {
	g          *Graph
	of         []int // component by marking, -1: not known yet
	low, order []int // order counts from 1
	met, count int
	open       []int // markings met whose component is not known
}

// from walks depth first, without recursion.
func (w *walk) from(root int) {
	type place struct{ at, edge int }
	w.enter(root)
	for path := []place{{root, 0}}; len(path) > 0; {
		top := &path[len(path)-1]
		if es := w.g.edges[top.at]; top.edge < len(es) {
			to := es[top.edge].To
			top.edge++
			switch {
			case w.order[to] == 0:
				w.enter(to)
				path = append(path, place{to, 0})
			case w.of[to] < 0:
				w.low[top.at] = min(w.low[top.at], w.order[to])
			}
			continue
		}
		w.leave(top.at)
		done := top.at
		if path = path[:len(path)-1]; len(path) > 0 {
			above := path[len(path)-1].at
			w.low[above] = min(w.low[above], w.low[done])
		}
	}
}

func (w *walk) enter(i int) {
	w.met++
	w.order[i], w.low[i] = w.met, w.met
	w.open = append(w.open, i)
}

// leave closes the component of i if i was its first.
func (w *walk) leave(i int) {
	if w.low[i] != w.order[i] {
		return
	}
	for {
		last := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		w.of[last] = w.count
		if last == i {
			w.count++
			return
		}
	}
}

// terminal lists the components that nothing leaves, each with its first marking
// and the transitions that fire in it.
type terminal struct {
	first int
	fires map[int]bool
}

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

// leadsTo reports of each marking whether one of the targets can be reached.
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
