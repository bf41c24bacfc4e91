package explore

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/tup4fun/syntax"
)

// maxAtomic bounds the steps of one atomic block.
const maxAtomic = 10_000

// Errors of a step, besides those of arithmetic.
var (
	errBlocked = errors.New("atomic is blocked: only its first statement may wait")
	errEndless = fmt.Errorf("atomic took more than %d steps", maxAtomic)
)

// RuntimeError is a step that fails. Its state has no successors.
type RuntimeError struct {
	Process string     `json:"process"`
	Pos     syntax.Pos `json:"position"`
	Text    string     `json:"text"`
	Err     error      `json:"-"`
}

// Error names the process, the step and the error.
func (e *RuntimeError) Error() string {
	return fmt.Sprintf("%s at %s: %s: %s", e.Process, e.Pos, e.Text, e.Err)
}

// Unwrap returns the error of the step.
func (e *RuntimeError) Unwrap() error { return e.Err }

// event is the effect of one step on a space or a variable.
type event struct {
	edge  *Edge
	verb  syntax.Verb // "": no operation, or one that found nothing
	space int
	tuple []int64
}

// stepper runs the steps of one node. It is not safe for concurrent use.
type stepper struct {
	model  *Model
	tuples *table
	track  bool    // record events
	events []event // of the step so far
	steps  int     // within atomic
	at     *Edge   // the last edge tried
	taken  []bool  // by Edge.index: edges that were possible
}

// runNode calls done for each possible step from the node that f is at, except timeouts;
// apart from f.err, f is not changed. It reports whether there was one. If a step fails,
// f.err is its error, s.at its edge, and no further step is tried.
func (s *stepper) runNode(code *Code, f *frame, done func(*Edge, *frame)) bool {
	n := code.Nodes[f.proc[atNode]]
	possible := false
	var otherwise *Edge
	for _, e := range n.Edges {
		if e.Kind == Else {
			otherwise = e
			continue
		}
		if s.runEdge(code, e, f, func(g *frame) { done(e, g) }) {
			possible, s.taken[e.index] = true, true
		}
		if f.err != nil {
			return possible
		}
	}
	if otherwise != nil && !possible {
		s.moveTo(otherwise, f, event{}, func(g *frame) { done(otherwise, g) })
		possible, s.taken[otherwise.index] = true, true
	}
	return possible
}

// runEdge calls done with the outcomes of one edge, which is neither else nor timeout. It reports
// whether there was one. An error is in f.err.
func (s *stepper) runEdge(code *Code, e *Edge, f *frame, done func(*frame)) bool {
	s.at = e
	switch e.Kind {
	case Test:
		if !e.test(f) || f.err != nil {
			return false
		}
	case Assign:
		g := *f
		v := e.value(&g)
		g.assign(e.target, v)
		if f.err = g.err; f.err != nil {
			return false
		}
		s.moveTo(e, &g, event{}, done)
		return true
	case Op:
		return s.operate(e, f, done)
	case Atomic:
		return s.runAtomic(code, e, f, done)
	}
	s.moveTo(e, f, event{}, done)
	return true
}

// moveTo calls done with f at the node after e. During the call s.events ends with ev, if
// events are recorded.
func (s *stepper) moveTo(e *Edge, f *frame, ev event, done func(*frame)) {
	g := *f
	g.proc = slices.Clone(f.proc)
	g.proc[atNode] = int64(e.To)
	if s.track {
		ev.edge = e
		s.events = append(s.events, ev)
		defer func() { s.events = s.events[:len(s.events)-1] }()
	}
	done(&g)
}

// assign sets a variable. It clones the slice first, because frames share slices. An index
// outside of the array fails the step.
func (f *frame) assign(t *target, v int64) {
	if !t.mem {
		f.proc = slices.Clone(f.proc)
		f.proc[procHead+t.index] = v
		return
	}
	i := t.index
	if t.size > 0 {
		at := t.elem(f)
		if at < 0 || at >= int64(t.size) {
			f.fail(fmt.Errorf("%s[%d]: the array has the elements 0 to %d", t.name, at, t.size-1))
			return
		}
		i += int(at)
	}
	f.mem = slices.Clone(f.mem)
	f.mem[i] = v
}

// runAtomic runs a block to its end, in every possible way. It reports whether the first
// statement could be executed; only that one may block.
func (s *stepper) runAtomic(code *Code, e *Edge, f *frame, done func(*frame)) bool {
	s.steps = 0
	g := *f
	g.proc = slices.Clone(f.proc)
	g.proc[atNode] = int64(e.Entry)
	possible := s.runBlock(code, e, &g, done)
	if f.err = g.err; f.err != nil {
		return false
	}
	return possible
}

// runBlock continues the block of e from the node that f is at, and calls done at its
// end. Only the first statement may block; after it a blocked statement is an error, as
// are more than maxAtomic steps. Errors are in f.err. It reports whether a step was
// possible.
func (s *stepper) runBlock(code *Code, e *Edge, f *frame, done func(*frame)) bool {
	first := int(f.proc[atNode]) == e.Entry && s.steps == 0
	if int(f.proc[atNode]) == e.Last {
		g := *f
		g.proc = slices.Clone(f.proc)
		g.proc[atNode] = int64(e.To)
		done(&g)
		return true
	}
	if s.steps++; s.steps > maxAtomic {
		f.fail(errEndless)
		return false
	}
	var failed error
	possible := s.runNode(code, f, func(_ *Edge, g *frame) {
		s.runBlock(code, e, g, done)
		if failed == nil {
			failed = g.err
		}
	})
	if f.err == nil {
		f.err = failed
	}
	if !possible && !first && f.err == nil {
		f.err = errBlocked
	}
	return possible
}
