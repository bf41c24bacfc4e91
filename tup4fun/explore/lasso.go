package explore

import "slices"

// lasso builds a run for an accepting component: a shortest path to it, and a cycle that
// passes all nodes needed for acceptance and fairness.
func (p *product) lasso(part []int32) *Trace {
	in := map[int32]bool{}
	for _, n := range part {
		in[n] = true
	}
	prefix := p.path(p.start, func(int32) bool { return true }, func(n int32, _ *move) bool { return in[n] })
	entry := prefix[len(prefix)-1].to
	inside := func(n int32) bool { return in[n] }
	at, cycle := entry, []move{}
	for _, goal := range p.goals(in) {
		isMet := goal(entry, nil) || slices.ContainsFunc(cycle, func(m move) bool { return goal(m.to, &m) })
		if isMet {
			continue
		}
		way := p.path([]int32{at}, inside, goal)[1:]
		cycle = append(cycle, way...)
		at = cycle[len(cycle)-1].to
	}
	if at != entry || len(cycle) == 0 {
		cycle = append(cycle, p.path([]int32{at}, inside, func(n int32, m *move) bool { return m != nil && n == entry })[1:]...)
	}
	return p.traceOf(prefix, cycle)
}

// goals returns the conditions that a cycle in the component in must meet, each a test of
// a node and the move into it, which is nil for the first node.
func (p *product) goals(in map[int32]bool) []func(int32, *move) bool {
	var all []func(int32, *move) bool
	for set := range p.automaton.sets {
		all = append(all, func(n int32, _ *move) bool { return p.automaton.nodes[p.automatonNode(n)].sets>>set&1 == 1 })
	}
	for proc := range p.graph.model.Procs {
		if p.fair {
			all = append(all, func(n int32, m *move) bool {
				return !p.enabled(n, int32(proc)) || m != nil && m.proc == int32(proc)
			})
		}
	}
	return all
}

// path returns a shortest path from one of the nodes to a goal, over nodes for which in
// is true. Its first move has no edge and leads to the start. goal also gets the move
// into the node: nil for a start.
func (p *product) path(from []int32, in func(int32) bool, goal func(int32, *move) bool) []move {
	type visit struct {
		m    move
		from int // index in all
	}
	var all []visit
	for _, n := range from {
		all = append(all, visit{move{n, -1, -1}, -1})
		if goal(n, nil) {
			return []move{{n, -1, -1}}
		}
	}
	known := map[int32]bool{}
	for i := 0; i < len(all); i++ {
		n := all[i].m.to
		for _, m := range p.moves(n) {
			if !in(m.to) {
				continue
			}
			if goal(m.to, &m) {
				way := []move{m}
				for k := i; k >= 0; k = all[k].from {
					way = append(way, all[k].m)
				}
				slices.Reverse(way)
				return way
			}
			if !known[m.to] {
				known[m.to] = true
				all = append(all, visit{m, i})
			}
		}
	}
	return []move{{from[0], -1, -1}} // not reached, because a component is strongly connected
}

// traceOf converts the moves of a lasso into a trace. A cycle without steps, because the
// last state has none, gives a trace without a cycle.
func (p *product) traceOf(prefix, cycle []move) *Trace {
	t := &Trace{Cycle: -1}
	at := p.state(prefix[0].to)
	add := func(moves []move) {
		for _, m := range moves {
			if m.edge < 0 {
				continue
			}
			e := p.graph.edges[at][m.edge]
			t.Steps = append(t.Steps, p.graph.labels[e.label])
			at = e.to
		}
	}
	add(prefix[1:])
	before := len(t.Steps)
	add(cycle)
	if len(t.Steps) > before {
		t.Cycle = before
	}
	t.End, t.Choices = p.graph.Config(int(at)), choices(p.graph.model, t.Steps)
	return t
}
