package petri

// Graph is a graph of markings. 0 is the start.
type Graph struct {
	Markings []Marking
	Edges    []Edge
	Whole    bool // the limit was not reached
}

// Edge is the firing of a transition, by number.
type Edge struct{ From, To, Transition int }

// Reach returns the reachability graph, breadth first, up to limit markings. With
// keep, only markings that it lets in.
func (n *Net) Reach(limit int, keep func(Marking) bool) *Graph {
	g := &Graph{Markings: []Marking{n.Start}, Whole: true}
	known := map[string]int{n.Start.key(): 0}
	for i := 0; i < len(g.Markings); i++ {
		for t := range n.Transitions {
			after, ok := g.Markings[i].Fire(&n.Transitions[t])
			if !ok || keep != nil && !keep(after) {
				continue
			}
			to, seen := known[after.key()]
			if !seen {
				if len(g.Markings) == limit {
					g.Whole = false
					continue
				}
				to = len(g.Markings)
				known[after.key()] = to
				g.Markings = append(g.Markings, after)
			}
			g.Edges = append(g.Edges, Edge{i, to, t})
		}
	}
	return g
}

// Cover returns the coverability graph, up to limit markings: where a marking
// covers one on its way, what grew is Omega. It is finite for every net.
func (n *Net) Cover(limit int) *Graph {
	g := &Graph{Markings: []Marking{n.Start}, Whole: true}
	known := map[string]int{n.Start.key(): 0}
	parent := []int{-1}
	for i := 0; i < len(g.Markings); i++ {
		for t := range n.Transitions {
			after, ok := g.Markings[i].Fire(&n.Transitions[t])
			if !ok {
				continue
			}
			for k := i; k >= 0; k = parent[k] {
				accelerate(after, g.Markings[k])
			}
			to, seen := known[after.key()]
			if !seen {
				if len(g.Markings) == limit {
					g.Whole = false
					continue
				}
				to = len(g.Markings)
				known[after.key()] = to
				g.Markings = append(g.Markings, after)
				parent = append(parent, i)
			}
			g.Edges = append(g.Edges, Edge{i, to, t})
		}
	}
	return g
}

// accelerate sets to Omega what is more in m than in before, if m covers it.
func accelerate(m, before Marking) {
	more := false
	for p := range m {
		if m[p] < before[p] {
			return
		}
		more = more || m[p] > before[p]
	}
	for p := range m {
		if more && m[p] > before[p] {
			m[p] = Omega
		}
	}
}

// parts numbers the strongly connected parts of a graph; a part that no edge leaves
// is a bottom.
func (g *Graph) parts() (part []int, bottom []bool) {
	next, back := g.neighbours()
	order := finish(next)
	part = make([]int, len(g.Markings))
	for i := range part {
		part[i] = -1
	}
	for k := len(order) - 1; k >= 0; k-- { // Kosaraju and Sharir
		if part[order[k]] >= 0 {
			continue
		}
		id := len(bottom)
		bottom = append(bottom, true)
		stack := []int{order[k]}
		part[order[k]] = id
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, m := range back[n] {
				if part[m] < 0 {
					part[m] = id
					stack = append(stack, m)
				}
			}
		}
	}
	for _, e := range g.Edges {
		if part[e.From] != part[e.To] {
			bottom[part[e.From]] = false
		}
	}
	return part, bottom
}

func (g *Graph) neighbours() (next, back [][]int) {
	next, back = make([][]int, len(g.Markings)), make([][]int, len(g.Markings))
	for _, e := range g.Edges {
		next[e.From] = append(next[e.From], e.To)
		back[e.To] = append(back[e.To], e.From)
	}
	return next, back
}

// finish orders the nodes by when depth-first search leaves them.
func finish(next [][]int) []int {
	var order []int
	seen := make([]bool, len(next))
	type visit struct{ node, edge int }
	for root := range next {
		if seen[root] {
			continue
		}
		seen[root] = true
		path := []visit{{root, 0}}
		for len(path) > 0 {
			v := &path[len(path)-1]
			if v.edge == len(next[v.node]) {
				order = append(order, v.node)
				path = path[:len(path)-1]
				continue
			}
			to := next[v.node][v.edge]
			v.edge++
			if !seen[to] {
				seen[to] = true
				path = append(path, visit{to, 0})
			}
		}
	}
	return order
}
