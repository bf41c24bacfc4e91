package explore

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Graph is a complete state graph. States are numbered in the order of breadth-first search; 0 is
// the initial state. It uses neither symmetry nor partial-order reduction, so that its runs are the
// runs of the program.
type Graph struct {
	model    *Model
	expander *expander
	states   *table
	edges    [][]graphEdge // by state
	labels   []Step
	known    map[string]int32 // labels by their text
	events   [][]event        // by label
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

// Each calls visit with every step from a state and the state it leads to.
func (g *Graph) Each(state int, visit func(Step, int)) {
	for _, e := range g.edges[state] {
		visit(g.labels[e.label], int(e.to))
	}
}

// Terminated reports whether all processes have ended in a state.
func (g *Graph) Terminated(state int) bool { return g.expander.terminated(g.state(state)) }

// state returns the parts of state i.
func (g *Graph) state(i int) []uint32 {
	values := g.states.get(uint32(i))
	s := make([]uint32, len(values))
	for k, v := range values {
		s[k] = uint32(v)
	}
	return s
}

// edgesBytes is about what the edges of a state take.
const edgesBytes = 60

// Build explores the state graph of a model. Of o's reductions it uses only Dead. If a
// bound of o is reached, reason names it, and the graph is incomplete: its last states
// lack their steps.
func Build(ctx context.Context, m *Model, o Options) (g *Graph, reason string) {
	o = o.withDefaults()
	g = &Graph{model: m, states: newTable(), known: map[string]int32{}}
	t := newTables()
	g.expander = newExpander(m, t, Reduction{Dead: o.Reduction.Dead})
	g.internState(g.expander.initial())
	began := time.Now()
	for i := 0; i < len(g.edges); i++ {
		steps, _ := g.expander.allSteps(g.state(i)) // a failing step has no successor
		for _, st := range steps {
			g.expander.makeCanonical(st.next)
			g.edges[i] = append(g.edges[i], graphEdge{g.internState(st.next), int32(st.proc), g.internLabel(st)})
		}
		checksAll := i%1024 == 0 // the other bounds take longer to check
		switch {
		case int64(len(g.edges)) > o.States:
			return g, fmt.Sprintf("there are more than %d states", o.States)
		case !checksAll:
		case ctx.Err() != nil:
			return g, "interrupted"
		case o.Time > 0 && time.Since(began) > o.Time:
			return g, fmt.Sprintf("the time is over (%s)", o.Time)
		case g.states.size()+t.bytes()+int64(i)*edgesBytes > o.Memory:
			return g, fmt.Sprintf("more than %d MiB of memory would be needed", o.Memory>>20)
		}
	}
	return g, ""
}

// internState returns the number of a state, and adds it if it is new. The table numbers
// states in the order of the calls, so edges has the same numbers.
func (g *Graph) internState(s []uint32) int32 {
	values := make([]int64, len(s))
	for i, v := range s {
		values[i] = int64(v)
	}
	id := int(g.states.intern(values, 0))
	if id == len(g.edges) {
		g.edges = append(g.edges, nil)
	}
	return int32(id)
}

// internLabel returns the number of the label of a step. Steps of one process with the same
// actions share it.
func (g *Graph) internLabel(st taken) int32 {
	text := fmt.Sprint(st.proc, st.step.Actions)
	id, ok := g.known[text]
	if !ok {
		id = int32(len(g.labels))
		g.known[text] = id
		g.labels = append(g.labels, st.step)
		g.events = append(g.events, slices.Clone(st.event))
	}
	return id
}
