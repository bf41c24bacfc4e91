package explore

import (
	"context"
	"time"

	"leasehold/tup4fun/syntax"
)

// Outcome is the result for one property or for a whole check.
type Outcome string

// The outcomes. Incomplete: a bound ended the search before a violation was found.
const (
	Holds      Outcome = "holds"
	Violated   Outcome = "violated"
	Incomplete Outcome = "incomplete"
)

// Report is the result of a check.
type Report struct {
	File        string      `json:"file"`
	States      int64       `json:"states"`
	Transitions int64       `json:"transitions"`
	Stuck       int64       `json:"stuck"`
	Terminated  int64       `json:"terminated"`
	Depth       int         `json:"depth"` // greatest distance of a state from the initial one
	Outcome     Outcome     `json:"outcome"`
	Reason      string      `json:"reason,omitempty"` // for Incomplete
	Spaces      []SpaceSeen `json:"spaces"`
	Verdicts    []Verdict   `json:"verdicts"`
	Unreached   []Unreached `json:"unreached"` // nil: unknown, because the search is incomplete
	Warnings    []string    `json:"warnings"`
	Bytes       int64       `json:"bytes"` // memory of the states
	Elapsed     float64     `json:"seconds"`
	Least       int64       `json:"-"` // smallest number in any state, symbols aside
	Most        int64       `json:"-"`
}

// SpaceSeen is the use of one space.
type SpaceSeen struct {
	Name      string `json:"name"`
	Most      int    `json:"most"`      // tuples at the same time
	Capacity  int    `json:"capacity"`  // -1: unbounded
	Unbounded bool   `json:"unbounded"` // proved to grow without bound
}

// Verdict is the result for one property.
type Verdict struct {
	Name    string  `json:"name"`
	Text    string  `json:"text"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"`
	Vacuous bool    `json:"vacuous"`         // it holds because the left side of an implication never occurs
	Trace   *Trace  `json:"trace,omitempty"` // a run that violates it
}

// noErrors is the property checked in every model: no step divides by zero, overflows, indexes
// outside an array, or stops within atomic.
const noErrors = "noerrors"

// Check explores all states of a model within the bounds and decides each property. An
// incomplete search, also one that ctx ended, is an outcome.
func Check(ctx context.Context, m *Model, o Options) *Report {
	s := searchAll(ctx, m, o.withDefaults())
	r := &Report{File: m.Program.File, States: s.total.states, Transitions: s.total.transitions, Stuck: s.total.stuck,
		Terminated: s.total.terminated, Depth: max(0, s.level-1), Reason: s.reason, Bytes: s.store.bytes() + s.tables.bytes(),
		Spaces: []SpaceSeen{}, Verdicts: []Verdict{}, Warnings: []string{}}
	for _, w := range syntax.Warn(m.Program) {
		r.Warnings = append(r.Warnings, w.Error())
	}
	for i, sp := range m.Spaces {
		r.Spaces = append(r.Spaces, SpaceSeen{sp.Name, s.most[i], sp.Cap, s.unbounded[i]})
	}
	for i := range s.found {
		r.Verdicts = append(r.Verdicts, s.verdict(ctx, i))
	}
	r.Stuck = max(r.Stuck, s.stuckFound())
	r.Unreached = s.unreached()
	r.Least, r.Most = s.tables.extremes()
	r.Outcome = r.overall()
	r.Elapsed = time.Since(s.began).Seconds()
	return r
}

// searchAll searches all states. A step that fails is the end of its state, so with partial-order
// reduction it could hide the steps that other processes take before it. The search is then repeated
// without this reduction.
func searchAll(ctx context.Context, m *Model, o Options) *search {
	s := newSearch(m, o)
	s.run(ctx, toTheEnd)
	if !o.Reduction.Order || s.found[len(m.props)] == nil {
		return s
	}
	o.Reduction.Order = false
	again := newSearch(m, o)
	again.began = s.began
	again.run(ctx, toTheEnd)
	return again
}

// stuckFound returns 1 if a stuck state was found, otherwise 0. The counts of an incomplete level are
// not part of the total, but a report of such a state must count it.
func (s *search) stuckFound() int64 {
	for i, f := range s.found {
		isStuck := i == len(s.model.props) || s.model.props[i].Kind == syntax.DeadlockFree
		if f != nil && isStuck {
			return 1
		}
	}
	return 0
}

// overall returns Violated if any property is violated, otherwise Incomplete if the
// search or any property is incomplete.
func (r *Report) overall() Outcome {
	all := Holds
	if r.Reason != "" {
		all = Incomplete
	}
	for _, v := range r.Verdicts {
		switch {
		case v.Outcome == Violated:
			return Violated
		case v.Outcome == Incomplete:
			all = Incomplete
		}
	}
	return all
}

// verdict decides property i after run; the index after the last property is noErrors. A
// violation was found or not by run; properties of whole runs are decided here. Without a
// violation the outcome is Incomplete if the search ended at a bound. If the trace of a violation
// cannot be found, Detail has the reason.
func (s *search) verdict(ctx context.Context, i int) Verdict {
	v := Verdict{Name: noErrors, Text: "no step divides by zero, overflows, leaves an array or stops within atomic"}
	if i < len(s.model.props) {
		p := &s.model.props[i]
		v.Name, v.Text = p.Name, p.Text()
		if p.isOverRuns() {
			return s.checkRuns(ctx, p, v)
		}
	}
	f := s.found[i]
	switch {
	case f != nil:
		v.Outcome = Violated
		if f.err != nil {
			v.Detail = f.err.Error()
		}
		var err error
		if v.Trace, err = s.trace(ctx, i); err != nil {
			v.Detail += err.Error()
		}
	case s.over.Load():
		v.Outcome = Incomplete
	default:
		v.Outcome = Holds
		if i < len(s.model.props) {
			v.noteVacuous(s.model.props[i].begins, s.begun(i))
		}
		if s.options.Compact && !v.Vacuous {
			v.Detail = "unless two states had the same 64-bit hash and one of them was not explored"
		}
	}
	return v
}
