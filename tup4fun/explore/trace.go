package explore

import (
	"context"
	"slices"
	"strings"

	"leasehold/tup4fun/syntax"
)

// Trace is one run and the state it leads to.
type Trace struct {
	Steps []Step `json:"steps"`
	End   Config `json:"end"`
	Cycle int    `json:"cycle"` // steps from this index repeat forever; -1: no cycle

	Shortest bool  `json:"shortest"` // no run with fewer steps shows the same
	Choices  []int `json:"choices"`  // the numbers of the steps among Run.Choices
}

// Step is one step of one process.
type Step struct {
	Process string     `json:"process"`
	Pos     syntax.Pos `json:"position"`
	Actions []Action   `json:"actions"` // several within atomic
}

// Action is one test, assignment or operation.
type Action struct {
	Text  string `json:"text"`            // as in the program
	Space string `json:"space,omitempty"` // of an operation that found or put a tuple
	Verb  string `json:"verb,omitempty"`
	Tuple string `json:"tuple,omitempty"`
}

// Config is one state as text.
type Config struct {
	Processes []ProcConfig  `json:"processes"`
	Variables []Value       `json:"variables"`
	Spaces    []SpaceConfig `json:"spaces"`
}

// ProcConfig is the state of a process.
type ProcConfig struct {
	Name       string     `json:"name"`
	Pos        syntax.Pos `json:"position"` // of the next statement; zero if terminated
	Next       []string   `json:"next"`     // texts of the possible steps
	Terminated bool       `json:"terminated"`
	Locals     []Value    `json:"locals"`
}

// Value is the value of a variable.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SpaceConfig is the content of a space, oldest tuple first. A random space is sorted by
// text.
type SpaceConfig struct {
	Name   string   `json:"name"`
	Tuples []string `json:"tuples"`
}

// config converts a state to text. The tuples of a random space are sorted, because their order
// has no meaning. With Reduction.Dead, dead variables are left out, because they count as 0.
func (x *expander) config(s []uint32) Config {
	var c Config
	m := x.model
	for i, p := range m.Procs {
		c.Processes = append(c.Processes, x.procConfig(p, s[i]))
	}
	live := x.liveShared(s)
	for i, v := range x.tables.mem.get(s[len(m.Procs)]) {
		if x.reduction.Dead && !isLive(live, i) {
			continue
		}
		c.Variables = append(c.Variables, Value{m.Variables[i].Name, m.Program.Show(v)})
	}
	for i, sp := range m.Spaces {
		sc := SpaceConfig{Name: sp.Name}
		for _, id := range x.tables.spaces.get(s[len(m.Procs)+1+i]) {
			sc.Tuples = append(sc.Tuples, m.tuple(x.tables.tuples.get(uint32(id))))
		}
		if sp.Kind == 'R' {
			slices.Sort(sc.Tuples)
		}
		c.Spaces = append(c.Spaces, sc)
	}
	return c
}

// procConfig converts the state id of process p to text. Next lists the statements that may come
// next, and Pos is where the first of them is; without any it is zero. With the reduction of dead
// variables, Locals has only those that are read again.
func (x *expander) procConfig(p Proc, id uint32) ProcConfig {
	part, values := x.procInfo(id), x.tables.procs.get(id)
	pc := ProcConfig{Name: p.Name, Terminated: part.at == part.code.Final}
	for _, e := range slices.Concat(part.node.Edges, part.node.timeouts) {
		if pc.Pos.Line == 0 {
			pc.Pos = e.Pos
		}
		pc.Next = append(pc.Next, e.Text)
	}
	for i, name := range part.code.Locals {
		if x.reduction.Dead && !part.node.live[i] {
			continue
		}
		pc.Locals = append(pc.Locals, Value{name, x.model.Program.Show(values[procHead+i])})
	}
	return pc
}

// tuple prints a tuple.
func (m *Model) tuple(values []int64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = m.Program.Show(v)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// taken is one possible step of a state.
type taken struct {
	proc  int
	step  Step
	next  []uint32 // not canonical
	edge  *Edge
	event []event
}

// allSteps lists the possible steps of s, in the order of the processes and of their
// programs, without symmetry or partial-order reduction. Timeouts are possible only if no
// other step is. If a step fails there are none.
func (x *expander) allSteps(s []uint32) ([]taken, *RuntimeError) {
	var steps []taken
	for p := range x.model.Procs {
		its, err := x.stepsOf(s, p)
		if err != nil {
			return nil, err
		}
		steps = append(steps, its...)
	}
	if len(steps) > 0 {
		return steps, nil
	}
	return x.timeoutSteps(s), nil
}

// timeoutSteps lists the steps of timeouts in s, where no other step is possible.
func (x *expander) timeoutSteps(s []uint32) (steps []taken) {
	x.step.track = true
	defer func() { x.step.track = false }()
	for p := range x.model.Procs {
		f := x.loadFrame(s, p)
		for _, e := range x.procInfo(s[p]).node.timeouts {
			x.step.moveTo(e, f, event{}, func(g *frame) { steps = append(steps, x.describeStep(s, p, e, g)) })
		}
	}
	return steps
}

// stepsOf lists the possible steps of process p in s, without timeouts. If a step fails there are
// none.
func (x *expander) stepsOf(s []uint32, p int) (steps []taken, _ *RuntimeError) {
	x.step.track = true
	defer func() { x.step.track = false }()
	f, q := x.loadFrame(s, p), x.procInfo(s[p])
	x.step.runNode(q.code, f, func(e *Edge, g *frame) { steps = append(steps, x.describeStep(s, p, e, g)) })
	if f.err != nil {
		at := x.step.at
		return nil, &RuntimeError{x.model.Procs[p].Name, at.Pos, at.Text, f.err}
	}
	return steps, nil
}

// describeStep describes a step of process p by edge e to g. It must be called before the stepper
// leaves the step, because it reads its events.
func (x *expander) describeStep(s []uint32, p int, e *Edge, g *frame) taken {
	q := x.procInfo(s[p])
	t := taken{proc: p, edge: e, event: slices.Clone(x.step.events), next: slices.Clone(s)}
	entry := x.appendOutcome(nil, q.code, q.node, g)
	x.writeOutcome(t.next, p, entry, q.node)
	t.step = Step{Process: x.model.Procs[p].Name, Pos: e.Pos}
	for _, ev := range t.event {
		a := Action{Text: ev.edge.Text}
		if ev.verb != "" {
			a.Space, a.Verb, a.Tuple = x.model.Spaces[ev.space].Name, string(ev.verb), x.model.tuple(ev.tuple)
		}
		t.step.Actions = append(t.step.Actions, a)
	}
	return t
}

// path returns the states on a shortest path to a state of that level, or nil if ctx is
// done.
func (s *search) path(ctx context.Context, level int, state []uint32) [][]uint32 {
	path := make([][]uint32, level+1)
	path[level] = state
	for k := level - 1; k >= 0; k-- {
		path[k] = s.predecessor(ctx, k, path[k+1])
		if path[k] == nil {
			return nil
		}
	}
	return path
}

// predecessor returns the state of a level that leads to target; of several, the one with
// the smallest hash. It returns nil if ctx is done.
func (s *search) predecessor(ctx context.Context, level int, target []uint32) []uint32 {
	w := s.workers[0]
	var best []uint32
	var least uint64
	for _, piece := range s.store.level(level) {
		if ctx.Err() != nil {
			return nil
		}
		for len(piece) > 0 {
			piece = piece[readState(piece, w.state):]
			leads := false
			_, _ = w.expander.expand(w.state, func(_ int, next []uint32) { leads = leads || slices.Equal(next, target) })
			if !leads {
				continue
			}
			if hash := w.expander.hash(w.state); best == nil || hash < least {
				best, least = slices.Clone(w.state), hash
			}
		}
	}
	return best
}

// concreteTrace returns the steps along a path of canonical states. Each state has a step to the
// next. In a canonical state equal processes may have changed places; in the trace each keeps its
// own.
func (s *search) concreteTrace(path [][]uint32) *Trace {
	x := newExpander(s.model, s.tables, s.options.Reduction)
	now := slices.Clone(path[0])
	t := &Trace{Cycle: -1}
	for _, want := range path[1:] {
		steps, _ := x.allSteps(now) // of this state no step fails, because one of them leads to want
		for _, st := range steps {
			next := slices.Clone(st.next)
			x.makeCanonical(next)
			if slices.Equal(next, want) {
				t.Steps = append(t.Steps, st.step)
				now = st.next
				break
			}
		}
	}
	t.End = x.config(now)
	return t
}
