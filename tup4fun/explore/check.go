package explore

import (
	"context"
	"time"

	"leasehold/tup4fun/syntax"
)

// Outcome is what is known of a property.
type Outcome string

// The outcomes. Incomplete is one of its own: nothing was violated as far as the
// search went, which was not to the end.
const (
	Holds      Outcome = "holds"
	Violated   Outcome = "violated"
	Incomplete Outcome = "incomplete"
)

// Report is what a search has found.
type Report struct {
	File        string      `json:"file"`
	States      int64       `json:"states"`
	Transitions int64       `json:"transitions"`
	Stuck       int64       `json:"stuck"`
	Terminated  int64       `json:"terminated"`
	Depth       int         `json:"depth"` // of the state that is furthest from the start
	Outcome     Outcome     `json:"outcome"`
	Reason      string      `json:"reason,omitempty"` // why it is incomplete
	Spaces      []SpaceSeen `json:"spaces"`
	Verdicts    []Verdict   `json:"verdicts"`
	Warnings    []string    `json:"warnings"`
	Bytes       int64       `json:"bytes"` // that the states took
	Elapsed     float64     `json:"seconds"`
	Least       int64       `json:"-"` // number that was seen, symbols aside
	Most        int64       `json:"-"`
}

// SpaceSeen is how full a space was.
type SpaceSeen struct {
	Name      string `json:"name"`
	Most      int    `json:"most"`      // tuples at once
	Capacity  int    `json:"capacity"`  // -1: none
	Unbounded bool   `json:"unbounded"` // it is proved that there is no bound
}

// Verdict is what is known of one property.
type Verdict struct {
	Name    string  `json:"name"`
	Text    string  `json:"text"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"`
	Trace   *Trace  `json:"trace,omitempty"` // a shortest run that violates it
}

// noErrors is the name of the property that each model is asked for: no step
// divides by zero, overflows, or leaves an array.
const noErrors = "noerrors"

// Check explores all states of a model within the bounds, and says of each
// property whether it holds. An incomplete search is no error.
func Check(ctx context.Context, m *Model, o Options) (*Report, error) {
	o = o.normal()
	s := newSearch(m, o)
	s.run(ctx, -1)
	r := &Report{File: m.Program.File, States: s.total.states, Transitions: s.total.transitions, Stuck: s.total.stuck,
		Terminated: s.total.terminated, Depth: max(0, s.level-1), Reason: s.reason, Bytes: s.st.bytes() + s.t.bytes(),
		Spaces: []SpaceSeen{}, Verdicts: []Verdict{}, Warnings: []string{}}
	for _, w := range syntax.Warn(m.Program) {
		r.Warnings = append(r.Warnings, w.Error())
	}
	for i, sp := range m.Spaces {
		r.Spaces = append(r.Spaces, SpaceSeen{sp.Name, s.most[i], sp.Cap, s.unbounded[i]})
	}
	for i := range s.found {
		v, err := s.verdict(ctx, i)
		if err != nil {
			return nil, err
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	r.Least, r.Most = s.t.extremes()
	r.Outcome = r.overall()
	r.Elapsed = time.Since(s.began).Seconds()
	return r, nil
}

// overall is violated if anything is, else incomplete if anything is.
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

// verdict says what is known of the i-th property; after the last comes noErrors.
func (s *search) verdict(ctx context.Context, i int) (Verdict, error) {
	v := Verdict{Name: noErrors, Text: "no step divides by zero, overflows, leaves an array or stops within atomic"}
	if i < len(s.m.props) {
		p := &s.m.props[i]
		v.Name, v.Text = p.Name, p.Text()
		if p.overRuns() {
			return s.overRuns(ctx, p, v)
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
		if v.Trace, err = s.trace(ctx, f); err != nil {
			v.Detail += err.Error()
		}
	case s.over.Load():
		v.Outcome = Incomplete
	default:
		v.Outcome = Holds
		if s.o.Compact {
			v.Detail = "unless two states had one print of 64 bits, in which case one of them was not seen"
		}
	}
	return v, nil
}
