package explore

import "slices"

// Run is one run of a program, step by step. It is for one goroutine.
type Run struct {
	x     *expander
	now   []uint32
	steps []Step
}

// NewRun begins a run.
func NewRun(m *Model) *Run {
	x := newExpander(m, newTables(), Reduction{})
	return &Run{x: x, now: x.initial()}
}

// Choices lists what can be done now, in the order of the processes and of their
// programs. There is none when the program has terminated or is stuck; if a step
// has no meaning, the error is a *RuntimeError.
func (r *Run) Choices() ([]Step, error) {
	all, err := r.x.all(r.now)
	if err != nil {
		return nil, err
	}
	steps := make([]Step, len(all))
	for i, t := range all {
		steps[i] = t.step
	}
	return steps, nil
}

// Take does the i-th of Choices. It reports whether there is one.
func (r *Run) Take(i int) bool {
	all, _ := r.x.all(r.now)
	if i < 0 || i >= len(all) {
		return false
	}
	r.steps = append(r.steps, all[i].step)
	r.now = all[i].next
	return true
}

// Terminated reports whether all processes have ended.
func (r *Run) Terminated() bool { return r.x.terminated(r.now) }

// Trace is what was done, and where it has led.
func (r *Run) Trace() *Trace {
	return &Trace{Steps: slices.Clone(r.steps), End: r.x.config(r.now), Cycle: -1}
}

// Codes returns the program graphs of a model, those of equal processes once.
func (m *Model) Codes() []*Code { return m.codes }

// Locals returns the names of the local variables of a process.
func (c *Code) Locals() []string { return c.locals }

// UsesNumber reports whether the copies of a process differ by their number.
func (c *Code) UsesNumber() bool { return c.usesID }

// Number is that of a copy, from 1.
func (p Proc) Number() int64 { return p.param }

// All returns the edges of a node, timeouts last.
func (n *Node) All() []*Edge { return slices.Concat(n.Edges, n.timeouts) }

// Start returns the tuples that a space begins with, oldest first.
func (s Space) Start() [][]int64 { return s.start }

// A Variable is a shared variable, or an element of a shared array.
type Variable struct {
	Name  string
	Start int64
}

// Variables returns the shared variables, the elements of an array in order.
func (m *Model) Variables() []Variable {
	all := make([]Variable, len(m.mem))
	for i := range m.mem {
		all[i] = Variable{m.mem[i].name, m.start[i]}
	}
	return all
}
