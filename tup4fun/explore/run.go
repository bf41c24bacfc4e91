package explore

import "slices"

// Run is one run of a program, step by step. It is not safe for concurrent use.
type Run struct {
	expander *expander
	now      []uint32
	steps    []Step
}

// NewRun returns a run in the initial state.
func NewRun(m *Model) *Run {
	x := newExpander(m, newTables(), Reduction{})
	return &Run{expander: x, now: x.initial()}
}

// Choices lists the possible steps, in the order of the processes and of their programs.
// The list is empty if the program has terminated or is stuck. If a step fails, the error
// is a *RuntimeError.
func (r *Run) Choices() ([]Step, error) {
	all, err := r.expander.allSteps(r.now)
	if err != nil {
		return nil, err
	}
	steps := make([]Step, len(all))
	for i, t := range all {
		steps[i] = t.step
	}
	return steps, nil
}

// Take takes step i of Choices. It reports whether there is such a step.
func (r *Run) Take(i int) bool {
	all, _ := r.expander.allSteps(r.now)
	if i < 0 || i >= len(all) {
		return false
	}
	r.steps = append(r.steps, all[i].step)
	r.now = all[i].next
	return true
}

// Terminated reports whether all processes have ended.
func (r *Run) Terminated() bool { return r.expander.terminated(r.now) }

// Trace returns the steps so far and the current state.
func (r *Run) Trace() *Trace {
	return &Trace{Steps: slices.Clone(r.steps), End: r.expander.config(r.now), Cycle: -1}
}

// All returns the edges of a node, timeouts last.
func (n *Node) All() []*Edge { return slices.Concat(n.Edges, n.timeouts) }
