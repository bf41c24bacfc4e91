package explore

import (
	"sync"
	"sync/atomic"
)

// grower computes steps of states of a graph. Each is for one goroutine. It only reads the states of the graph, so
// that several may work at the same time.
type grower struct {
	graph    *Graph
	expander *expander
	memos    []*memo     // by process: its steps with their labels, as labelledSteps returns them
	entries  [][]uint32  // by process of the state being expanded
	chunk    []graphEdge // its spare capacity is for the edges of the next states
}

// newGrower returns a grower that shares the tables of the graph's expander.
func (g *Graph) newGrower(x *expander) *grower {
	w := &grower{graph: g, expander: x}
	for range g.model.Procs {
		w.memos = append(w.memos, newMemo())
	}
	return w
}

// piece is a range of states that one grower expands. Their edges lead to states of the graph, or to -1 - k for the
// k-th of fresh.
type piece struct {
	from, to int
	fresh    []uint32 // states that are not in the graph, maybe repeated, one after the other
	count    int32    // of fresh
}

// A round expands up to roundStates states in pieces of pieceStates.
const (
	roundStates = 1 << 14
	pieceStates = 1 << 8
)

// expandRound expands the states from i on that are in the graph, up to the size of a round, and returns the number
// of the state after them. It stops after the state that makes the graph exceed limit. The numbers of new states do
// not depend on the growers, because they are given in the order of the edges.
func (g *Graph) expandRound(i int, limit int64) int {
	var pieces []*piece
	for end := min(g.Len(), i+roundStates); i < end; i += pieceStates {
		pieces = append(pieces, &piece{from: i, to: min(i+pieceStates, end)})
	}
	var next atomic.Int64
	work := func(w *grower) {
		for {
			at := int(next.Add(1)) - 1
			if at >= len(pieces) {
				return
			}
			w.expandPiece(pieces[at])
		}
	}
	var all sync.WaitGroup
	for _, w := range g.growers[1:min(len(g.growers), len(pieces))] {
		all.Go(func() { work(w) })
	}
	work(g.growers[0])
	all.Wait()
	for k, p := range pieces {
		if at := g.merge(p, limit); at < p.to || int64(g.Len()) > limit {
			g.forget(at, pieces[len(pieces)-1].to)
			return at
		} else if k == len(pieces)-1 {
			return at
		}
	}
	return i
}

// merge adds the new states of a piece, and the edges to them. It stops after the state that makes the graph exceed
// limit, and returns the number of the state after it.
func (g *Graph) merge(p *piece, limit int64) int {
	width := g.states.width
	for i := p.from; i < p.to; i++ {
		edges := g.edges[i]
		for k := range edges {
			if at := -1 - int(edges[k].to); at >= 0 {
				edges[k].to = g.internState(p.fresh[at*width : (at+1)*width])
			}
		}
		if int64(g.Len()) > limit {
			return i + 1
		}
	}
	return p.to
}

// forget makes states as if they had not been expanded.
func (g *Graph) forget(from, to int) {
	for i := from; i < to; i++ {
		g.edges[i], g.expanded[i] = nil, false
	}
}

// expandPiece sets the edges of the states of a piece.
func (w *grower) expandPiece(p *piece) {
	for i := p.from; i < p.to; i++ {
		w.expand(p, i)
	}
}

// expand sets the edges of state i. If a step fails, there are none.
func (w *grower) expand(p *piece, i int) {
	g := w.graph
	g.expanded[i] = true
	s, n := g.state(i), 0
	w.entries = w.entries[:0]
	for proc := range g.model.Procs {
		entry := w.labelledSteps(s, proc)
		if entry[0] == failedEntry {
			return
		}
		w.entries = append(w.entries, entry)
		n += int(entry[0])
	}
	if n == 0 {
		w.expandTimeouts(p, i)
		return
	}
	if cap(w.chunk)-len(w.chunk) < n {
		w.chunk = make([]graphEdge, 0, max(n, chunkEdges))
	}
	from := len(w.chunk)
	for proc, entry := range w.entries {
		w.addSteps(p, s, proc, entry)
	}
	g.edges[i] = w.chunk[from:len(w.chunk):len(w.chunk)]
}

// chunkEdges is the number of edges, or of moves of a product, that are allocated together.
const chunkEdges = 4096

// expandTimeouts sets the edges of state i, where only timeouts are possible, if anything.
func (w *grower) expandTimeouts(p *piece, i int) {
	for _, t := range w.expander.timeoutSteps(w.graph.state(i)) {
		w.expander.makeCanonical(t.next)
		w.graph.edges[i] = append(w.graph.edges[i], graphEdge{w.find(p, t.next), int32(t.proc), w.graph.internLabel(t)})
	}
}

// addSteps appends an edge to the chunk for each step of a process from s. entry is that of labelledSteps.
func (w *grower) addSteps(p *piece, s []uint32, proc int, entry []uint32) {
	if entry[0] == 0 {
		return
	}
	x := w.expander
	node := x.procInfo(s[proc]).node
	rest := entry[1:]
	for range entry[0] {
		copy(x.next, s)
		x.writeOutcome(x.next, proc, rest[1:], node)
		x.makeCanonical(x.next)
		w.chunk = append(w.chunk, graphEdge{w.find(p, x.next), int32(proc), int32(rest[0])})
		rest = rest[3+len(node.footprint.spaces):]
	}
}

// find returns the number of a state, or adds it to the fresh ones.
func (w *grower) find(p *piece, s []uint32) int32 {
	if id, _ := w.graph.states.find(s); id >= 0 {
		return int32(id)
	}
	p.fresh = append(p.fresh, s...)
	p.count++
	return -p.count
}

// labelledSteps returns the steps of a process in s without timeouts: their number, or failedEntry if one fails,
// and for each its label and its outcome, as expander.appendOutcome writes it. They are computed once for each
// key (expander.key), because describing a step takes much longer than looking it up.
func (w *grower) labelledSteps(s []uint32, proc int) []uint32 {
	node := w.expander.procInfo(s[proc]).node
	if len(node.footprint.spaces) > 4 {
		return w.describeSteps(s, proc, node)
	}
	k := w.expander.key(s, proc, node)
	entry, slot := w.memos[proc].find(k)
	if entry == nil {
		entry = w.describeSteps(s, proc, node)
		w.memos[proc].add(k, slot, entry)
	}
	return entry
}

// describeSteps computes the result of labelledSteps.
func (w *grower) describeSteps(s []uint32, proc int, node *Node) []uint32 {
	steps, err := w.expander.stepsOf(s, proc)
	if err != nil {
		return []uint32{failedEntry}
	}
	mem := len(w.graph.model.Procs)
	entry := []uint32{uint32(len(steps))}
	for _, t := range steps {
		entry = append(entry, uint32(w.graph.internLabel(t)), t.next[proc], t.next[mem])
		for _, sp := range node.footprint.spaces {
			entry = append(entry, t.next[mem+1+sp])
		}
	}
	return entry
}
