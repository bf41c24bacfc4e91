package explore

import "slices"

// product runs a state graph and an automaton together. Its nodes are pairs, numbered in
// the order of discovery.
type product struct {
	graph     *Graph
	automaton *buchi
	letters   *letters
	fair      bool
	number    map[int64]int32
	pairs     []int64 // state × number of automaton nodes + automaton node
	start     []int32
	succ      [][]move // computed on demand
}

// move is one step of the product. A state without steps has a move to itself, without a
// process.
type move struct {
	to   int32
	proc int32 // -1: none
	edge int32 // of the state
}

// internPair returns the number of a pair, and numbers it if it is new. q is a node of the
// automaton.
func (p *product) internPair(state, q int32) int32 {
	pair := int64(state)*int64(len(p.automaton.nodes)) + int64(q)
	id, ok := p.number[pair]
	if !ok {
		id = int32(len(p.pairs))
		p.number[pair] = id
		p.pairs = append(p.pairs, pair)
		p.succ = append(p.succ, nil)
	}
	return id
}

func (p *product) state(n int32) int32 { return int32(p.pairs[n] / int64(len(p.automaton.nodes))) }
func (p *product) automatonNode(n int32) int32 {
	return int32(p.pairs[n] % int64(len(p.automaton.nodes)))
}

// moves returns the moves from a node, and computes them once. A state without a step repeats
// itself, so that each run is infinite. The result is never nil.
func (p *product) moves(n int32) []move {
	if p.succ[n] != nil {
		return p.succ[n]
	}
	state, next := p.state(n), p.automaton.nodes[p.automatonNode(n)].next
	all := []move{}
	edges := p.graph.edges[state]
	for i, e := range edges {
		letter := p.letters.after(e)
		for _, q := range next {
			if p.automaton.nodes[q].reads(letter) {
				all = append(all, move{p.internPair(e.to, q), e.proc, int32(i)})
			}
		}
	}
	if len(edges) == 0 {
		for _, q := range next {
			if p.automaton.nodes[q].reads(p.letters.states[state]) {
				all = append(all, move{p.internPair(state, q), -1, -1})
			}
		}
	}
	p.succ[n] = all
	return all
}

// search returns an accepted run, or nil. It goes through the components that the start nodes
// lead to, until one accepts.
func (p *product) search() *Trace {
	for _, q := range p.automaton.start {
		if p.automaton.nodes[q].reads(p.letters.states[0]) {
			p.start = append(p.start, p.internPair(0, q))
		}
	}
	var run *Trace
	c := Components{
		Next: func(n int32, i int) (int32, bool) {
			if moves := p.moves(n); i < len(moves) {
				return moves[i].to, true
			}
			return 0, false
		},
		Found: func(component []int32) bool {
			if p.accepts(component) {
				run = p.lasso(component)
			}
			return run == nil
		},
	}
	for _, n := range p.start {
		if !c.From(n) {
			break
		}
	}
	return run
}

// accepts reports whether a run through all of a component is accepted and, if required, weakly
// fair: each process moves or is disabled somewhere in it. A single node without a move to itself
// has no infinite run.
func (p *product) accepts(part []int32) bool {
	if len(part) == 1 && !slices.ContainsFunc(p.moves(part[0]), func(m move) bool { return m.to == part[0] }) {
		return false
	}
	in := map[int32]bool{}
	for _, n := range part {
		in[n] = true
	}
	var sets uint64
	moved, treatedFairly := false, map[int32]bool{} // treatedFairly: processes that move or are disabled somewhere
	for _, n := range part {
		sets |= p.automaton.nodes[p.automatonNode(n)].sets
		for _, m := range p.moves(n) {
			if in[m.to] {
				moved = true
				treatedFairly[m.proc] = true
			}
		}
		if p.fair {
			for proc := range p.graph.model.Procs {
				if !p.enabled(n, int32(proc)) {
					treatedFairly[int32(proc)] = true
				}
			}
		}
	}
	if !moved || sets != 1<<p.automaton.sets-1 {
		return false
	}
	for proc := range p.graph.model.Procs {
		if p.fair && !treatedFairly[int32(proc)] {
			return false
		}
	}
	return true
}

// enabled reports whether a process can make a step in the state of n.
func (p *product) enabled(n, proc int32) bool {
	return slices.ContainsFunc(p.graph.edges[p.state(n)], func(e graphEdge) bool { return e.proc == proc })
}
