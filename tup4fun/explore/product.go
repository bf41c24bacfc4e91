package explore

import "slices"

// product runs a state graph and an automaton together. Its nodes are pairs, numbered in
// the order of discovery.
type product struct {
	graph     *Graph
	automaton *buchi
	letters   *letters
	fair      bool
	numbers   [][]int32 // by pair, in pages of pageSize: its number + 1; pages without one are nil
	pairs     []pair    // by number
	start     []int32
	component []int32  // by automaton node: its component there
	canAccept []bool   // by automaton node: some run that stays in its component is accepted
	succ      [][]move // computed on demand
	chunk     []move   // its spare capacity is for the moves of the next nodes
	found     []move   // those of the node whose moves are computed
	part      []int32  // by node: the component that it was last in; components count from 1
	parts     int32
}

// pair is a state of the graph and a node of the automaton.
type pair struct{ state, node int32 }

// move is one step of the product. A state without steps has a move to itself, without a
// process.
type move struct {
	to   int32
	proc int32 // -1: none
	edge int32 // of the state
}

// newProduct returns a product without nodes. Most products have about as many nodes as
// the graph or more, so it allocates for that number.
func newProduct(g *Graph, b *buchi, l *letters, fair bool) *product {
	n := g.Len()
	p := &product{graph: g, automaton: b, letters: l, fair: fair,
		pairs: make([]pair, 0, n), succ: make([][]move, 0, n), part: make([]int32, 0, n)}
	p.component, p.canAccept = b.components()
	return p
}

// pageSize is the number of pairs in a page of product.numbers.
const pageSize = 4096

// internPair returns the number of a pair, and numbers it if it is new. q is a node of the
// automaton.
func (p *product) internPair(state, q int32) int32 {
	place := int64(state)*int64(len(p.automaton.nodes)) + int64(q)
	at := int(place / pageSize)
	for at >= len(p.numbers) {
		p.numbers = append(p.numbers, nil)
	}
	if p.numbers[at] == nil {
		p.numbers[at] = make([]int32, pageSize)
	}
	id := &p.numbers[at][place%pageSize]
	if *id == 0 {
		p.pairs, p.succ, p.part = append(p.pairs, pair{state, q}), append(p.succ, nil), append(p.part, 0)
		*id = int32(len(p.pairs))
	}
	return *id - 1
}

func (p *product) state(n int32) int32         { return p.pairs[n].state }
func (p *product) automatonNode(n int32) int32 { return p.pairs[n].node }

// moves returns the moves from a node, and computes them once. The result is never nil.
func (p *product) moves(n int32) []move {
	if p.succ[n] == nil {
		p.found = p.found[:0]
		p.eachMove(n, func(m move) { p.found = append(p.found, m) })
		p.succ[n] = p.keep(p.found)
	}
	return p.succ[n]
}

// eachMove calls visit with each move from a node. A state without a step repeats itself, so that each run is
// infinite.
func (p *product) eachMove(n int32, visit func(move)) {
	state, next := p.state(n), p.automaton.nodes[p.automatonNode(n)].next
	edges := p.graph.edges[state]
	for i, e := range edges {
		letter := p.letters.after(e)
		for _, q := range next {
			if p.automaton.nodes[q].reads(letter) {
				visit(move{p.internPair(e.to, q), e.proc, int32(i)})
			}
		}
	}
	if len(edges) == 0 {
		for _, q := range next {
			if p.automaton.nodes[q].reads(p.letters.at(state)) {
				visit(move{p.internPair(state, q), -1, -1})
			}
		}
	}
}

// keep returns a copy of moves, which is not nil. Copies share chunks of memory.
func (p *product) keep(moves []move) []move {
	if cap(p.chunk)-len(p.chunk) < len(moves) || p.chunk == nil {
		p.chunk = make([]move, 0, max(len(moves), chunkEdges))
	}
	from := len(p.chunk)
	p.chunk = append(p.chunk, moves...)
	return slices.Clip(p.chunk[from:])
}

// search returns an accepted run, or nil. The nodes of the product are visited in the order of their numbers. A
// component of the product stays in one of the automaton, so only nodes where that can accept need components; the
// others only lead to further nodes.
func (p *product) search() *Trace {
	for _, q := range p.automaton.start {
		if p.automaton.nodes[q].reads(p.letters.at(0)) {
			p.start = append(p.start, p.internPair(0, q))
		}
	}
	var run *Trace
	c := Components{
		Next: p.nextWithin,
		Found: func(component []int32) bool {
			if p.accepts(component) {
				run = p.lasso(component)
			}
			return run == nil
		},
	}
	for n := int32(0); int(n) < len(p.pairs) && run == nil; n++ {
		if p.canAccept[p.automatonNode(n)] {
			c.From(n)
		} else {
			p.eachMove(n, func(move) {})
		}
	}
	return run
}

// nextWithin is Components.Next of the product. For a move into another component of the automaton it returns n, as
// if the move led back to it, because search visits that node by itself.
func (p *product) nextWithin(n int32, i int) (to int32, ok bool) {
	moves := p.moves(n)
	if i >= len(moves) {
		return 0, false
	}
	to = moves[i].to
	if p.component[p.automatonNode(to)] != p.component[p.automatonNode(n)] {
		return n, true
	}
	return to, true
}

// accepts reports whether a run through all of a component is accepted and, if required, weakly
// fair: each process moves or is disabled somewhere in it. A single node without a move to itself
// has no infinite run.
func (p *product) accepts(part []int32) bool {
	if len(part) == 1 && !slices.ContainsFunc(p.moves(part[0]), func(m move) bool { return m.to == part[0] }) {
		return false
	}
	var sets uint64
	for _, n := range part {
		sets |= p.automaton.nodes[p.automatonNode(n)].sets
	}
	return sets == 1<<p.automaton.sets-1 && (!p.fair || p.isFair(part))
}

// isFair reports whether each process moves within a component or is disabled somewhere in it.
func (p *product) isFair(part []int32) bool {
	p.parts++
	for _, n := range part {
		p.part[n] = p.parts
	}
	procs := len(p.graph.model.Procs)
	treatedFairly, enabled := make([]bool, procs), make([]bool, procs)
	for _, n := range part {
		for _, m := range p.moves(n) {
			if m.proc >= 0 && p.part[m.to] == p.parts {
				treatedFairly[m.proc] = true
			}
		}
		clear(enabled)
		for _, e := range p.graph.edges[p.state(n)] {
			enabled[e.proc] = true
		}
		for proc := range procs {
			treatedFairly[proc] = treatedFairly[proc] || !enabled[proc]
		}
	}
	return !slices.Contains(treatedFairly, false)
}

// enabled reports whether a process can make a step in the state of n.
func (p *product) enabled(n, proc int32) bool {
	return slices.ContainsFunc(p.graph.edges[p.state(n)], func(e graphEdge) bool { return e.proc == proc })
}
