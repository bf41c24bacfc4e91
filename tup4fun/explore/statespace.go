package explore

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Graph is a complete state graph. States are numbered in the order of breadth-first search; 0 is
// the initial state. It uses neither symmetry nor partial-order reduction, so that its runs are the
// runs of the program.
type Graph struct {
	model    *Model
	expander *expander
	states   *stateTable
	edges    [][]graphEdge // by state
	expanded []bool        // by state: its edges are known
	mu       sync.Mutex    // guards the labels while several growers work
	labels   []Step
	known    map[string]int32 // labels by their text
	events   [][]event        // by label
	growers  []*grower
}

type graphEdge struct {
	to    int32
	proc  int32
	label int32
}

// Len returns the number of states.
func (g *Graph) Len() int { return len(g.edges) }

// Config describes a state.
func (g *Graph) Config(state int) Config { return g.expander.config(g.state(state)) }

// Expanded reports whether the steps from a state are known. In an incomplete graph some are not.
func (g *Graph) Expanded(state int) bool { return g.expanded[state] }

// Each calls visit with every step from a state and the state it leads to, in the order of
// Run.Choices.
func (g *Graph) Each(state int, visit func(Step, int)) {
	for _, e := range g.edges[state] {
		visit(g.labels[e.label], int(e.to))
	}
}

// Terminated reports whether all processes have ended in a state.
func (g *Graph) Terminated(state int) bool { return g.expander.terminated(g.state(state)) }

// state returns the parts of state i, which must not be changed.
func (g *Graph) state(i int) []uint32 { return g.states.get(i) }

// edgesBytes is about what the edges of a state take.
const edgesBytes = 60

// Build explores the state graph of a model. Of o's reductions it uses only Dead. If a
// bound of o is reached, reason names it, and the graph is incomplete: its last states
// lack their steps.
func Build(ctx context.Context, m *Model, o Options) (g *Graph, reason string) {
	o = o.withDefaults()
	g = newGraph(m, Reduction{Dead: o.Reduction.Dead})
	began := time.Now()
	for len(g.growers) < o.Cores {
		g.growers = append(g.growers, g.newGrower(newExpander(m, g.expander.tables, g.expander.reduction)))
	}
	for i := 0; i < g.Len(); {
		i = g.expandRound(i, o.States)
		switch {
		case int64(g.Len()) > o.States:
			return g, fmt.Sprintf("there are more than %d states", o.States)
		case ctx.Err() != nil:
			return g, "interrupted"
		case o.Time > 0 && time.Since(began) > o.Time:
			return g, fmt.Sprintf("the time is over (%s)", o.Time)
		case g.states.bytes()+g.expander.tables.bytes()+int64(i)*edgesBytes > o.Memory:
			return g, fmt.Sprintf("more than %d MiB of memory would be needed", o.Memory>>20)
		}
	}
	return g, ""
}

// newGraph returns a graph of the initial state alone.
func newGraph(m *Model, r Reduction) *Graph {
	g := &Graph{model: m, states: newStateTable(m.width()), known: map[string]int32{}}
	g.expander = newExpander(m, newTables(), r)
	g.growers = []*grower{g.newGrower(g.expander)}
	g.internState(g.expander.initial())
	return g
}

// expand adds the steps from state i, and the states that they lead to.
func (g *Graph) expand(i int) {
	p := &piece{from: i, to: i + 1}
	g.growers[0].expandPiece(p)
	g.merge(p, math.MaxInt64)
}

// internState returns the number of a state, and adds it if it is new. The table numbers
// states in the order of the calls, so edges has the same numbers.
func (g *Graph) internState(s []uint32) int32 {
	id := g.states.intern(s)
	if id == len(g.edges) {
		g.edges, g.expanded = append(g.edges, nil), append(g.expanded, false)
	}
	return int32(id)
}

// internLabel returns the number of the label of a step. Steps of one process at one
// position with the same actions share it.
func (g *Graph) internLabel(st taken) int32 {
	text := fmt.Sprint(st.proc, st.step.Pos, st.step.Actions)
	g.mu.Lock()
	defer g.mu.Unlock()
	id, ok := g.known[text]
	if !ok {
		id = int32(len(g.labels))
		g.known[text] = id
		g.labels = append(g.labels, st.step)
		g.events = append(g.events, st.event)
	}
	return id
}
