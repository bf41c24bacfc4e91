package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// Options bounds a check. The zero value selects the defaults.
type Options struct {
	States int // explored states of the model; 0: a million
	Search int // states explored per instance after a reload; 0: 20,000
}

// Checker checks logs against one model, one log after the other. It caches the states
// and steps of the model between logs. It is not safe for concurrent use.
type Checker struct {
	model    *explore.Model
	mapping  *Map
	options  Options
	walker   *explore.Walker
	shown    map[action]bool
	restored []int
	stepsOf  map[explore.State][]*step
	spaces   map[string]bool // of the log that some rule names
	start    []candidate

	// The fields below belong to the log being checked.
	covered  map[*explore.Edge]bool
	used     map[*Rule]bool
	named    map[string]*instance
	all      []*instance
	open     []*instance // instances in the middle of a step
	logState *logState
	block    []*observation // events since the reload
	loading  bool
	reloaded int // line of the last reload
	last     []Seen
	report   *Report
}

// Load parses a model and a map and returns a Checker. An invalid file is a syntax.Errors
// or an error of explore.Compile.
func Load(modelFile, model, mapFile, mapping string, o Options) (*Checker, error) {
	m, err := ParseMap(mapFile, mapping)
	if err != nil {
		return nil, err
	}
	p, err := syntax.ParseWith(modelFile, model, m.Constants)
	if err != nil {
		return nil, err
	}
	compiled, err := explore.Compile(p, 0)
	if err != nil {
		return nil, err
	}
	return New(compiled, m, o)
}

// New returns a Checker. A map that does not fit the model is a syntax.Errors. Limits that are 0
// get their defaults.
func New(model *explore.Model, m *Map, o Options) (*Checker, error) {
	if err := m.resolve(model); err != nil {
		return nil, err
	}
	o.States = cmp.Or(max(o.States, 0), 1_000_000)
	o.Search = cmp.Or(max(o.Search, 0), 20_000)
	c := &Checker{
		model: model, mapping: m, options: o, walker: explore.NewWalker(model), shown: m.shownActions(), restored: m.restoredSpaces(),
		stepsOf: map[explore.State][]*step{}, spaces: map[string]bool{},
	}
	for _, r := range m.Rules {
		c.spaces[r.Event.Space] = true
	}
	return c, nil
}

// mismatch is an error: an event that no step of the model explains.
type mismatch struct {
	in       *instance
	observed *observation
	why      string
	want     *expectation
	states   []candidate

	contradicts bool // the log contradicts itself, so the model was not asked
}

func (m *mismatch) Error() string { return m.why }

// awaitPut handles e, an event after the event of m, whose tuple is missing. If e puts this tuple,
// it adds the line of e to the reason. Then, and at a reload, which lists all tuples again, it
// returns m, which ends the check. With nil the search for the put goes on.
func (m *mismatch) awaitPut(line int, e trace.Event) error {
	switch {
	case puts(e, m.observed.event):
		m.why += fmt.Sprintf("; line %d puts it", line)
		return m
	case e.Operation == trace.Reload:
		return m
	}
	return nil
}

// Check reads a log and reports whether the model explains it; a log that it does not
// explain is an outcome, not an error. The error wraps ErrNoLog if the input is not a
// log, and is ctx.Err() if ctx is done. With an error the report is unfinished.
func (c *Checker) Check(ctx context.Context, name string, log io.Reader) (*Report, error) {
	c.resetForLog(name)
	var err error
	var early *mismatch // the tuple of the event is unknown; a later line may put it
	if c.start, err = c.closure([]candidate{{}}); err == nil {
		err = read(log, func(n int, e trace.Event) error {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if early != nil {
				return early.awaitPut(n, e)
			}
			err := c.checkEvent(n, e)
			if c.logState.missing && errors.As(err, &early) {
				return nil // read on, to report the line that puts the tuple
			}
			return err
		})
	}
	if early != nil && ctx.Err() == nil {
		err = early
	}
	var torn *tornLine
	if errors.As(err, &torn) {
		c.report.Torn, err = true, nil
	}
	if err == nil && c.loading {
		err = c.endReload()
	}
	return c.report, c.setOutcome(err)
}

// resetForLog empties the fields of a log. The outcome is Conforms until setOutcome.
func (c *Checker) resetForLog(name string) {
	c.report = &Report{Model: c.model.Program.File, Map: c.mapping.File, Trace: name, Outcome: Conforms}
	c.covered, c.used = map[*explore.Edge]bool{}, map[*Rule]bool{}
	c.named, c.all, c.open = map[string]*instance{}, nil, nil
	c.logState, c.block, c.loading, c.last = newLogState(), nil, false, nil
}

// setOutcome completes the report, whose outcome is Conforms so far (resetForLog). err ended the
// check; it is nil at the end of the log. An error about the log or the model becomes the outcome;
// any other, such as ctx.Err() or ErrNoLog, is returned. If no event was explained, because the map
// covers none or only by rules without actions, the outcome is Incomplete.
func (c *Checker) setOutcome(err error) error {
	r := c.report
	r.Instances, r.States = len(c.all), c.walker.Len()
	r.Unseen, r.Unused = c.unseen(), c.unused()
	for _, in := range c.all {
		if len(betweenSteps(in.states)) == 0 {
			r.Within++
		}
	}
	var m *mismatch
	var wrong *explore.RuntimeError
	switch {
	case err == nil && r.Explained == 0:
		r.Outcome, r.Reason = Incomplete, "no rule of "+r.Map+" covers an event of the log: is it the log of another system?"
		return nil
	case err == nil:
		return nil
	case errors.As(err, &m):
		r.Outcome = Violates
		r.Violation = c.explain(m)
		return nil
	case errors.Is(err, errTooManyStates), errors.Is(err, errTooFewProcesses), errors.As(err, &wrong):
		r.Outcome, r.Reason = Incomplete, err.Error()
		return nil
	}
	return err
}

// checkEvent checks the next event: first against the log state, then against the model. The
// events that follow a reload are collected, because only together they give the state. The error
// is a *mismatch if the log contradicts itself or the model does not explain the event.
func (c *Checker) checkEvent(line int, e trace.Event) error {
	c.report.Events++
	if len(c.last) == maxLast {
		c.last = slices.Delete(c.last, 0, 1)
	}
	before, wrong := c.logState.applyEvent(e)
	o := newObservation(e, line, before)
	if wrong == "" && leaseOf(o.now) != e.Lease {
		wrong = fmt.Sprintf("the tuple names the lease %q, not %q", leaseOf(o.now), e.Lease)
	}
	if wrong != "" {
		return &mismatch{observed: o, why: "the log contradicts itself: " + wrong, contradicts: true}
	}
	c.last = append(c.last, Seen{line, e})
	if ofReload, err := c.noteReload(o); err != nil || ofReload {
		return err
	}
	if err := c.endTransactions(o); err != nil {
		return err
	}
	return c.advanceInstance(o)
}

// noteReload reports whether an event is a reload or one of those that restore the state after it.
// It collects the latter; any other event ends them.
func (c *Checker) noteReload(o *observation) (ofReload bool, err error) {
	operation := o.event.Operation
	if c.loading && (operation == trace.Begin || operation == trace.Restore) {
		c.block = append(c.block, o)
		return true, nil
	}
	if c.loading {
		if err := c.endReload(); err != nil {
			return false, err
		}
	}
	if operation != trace.Reload {
		return false, nil
	}
	c.loading, c.reloaded, c.open = true, o.line, nil // steps under way have not happened
	c.report.Reloads++
	return true, nil
}

// endReload ends the events after a reload, and continues from the state that they list.
func (c *Checker) endReload() error {
	block := c.block
	c.loading, c.block = false, nil
	return c.continueFromReload(block)
}

// endTransactions requires that each instance in the middle of a step has finished it when the
// clock moves, because all events of one transaction carry the same clock; else it returns a
// *mismatch. Candidates in the middle of a step are dropped then.
func (c *Checker) endTransactions(o *observation) error {
	for _, in := range c.open {
		if in.clock == int64(o.event.Clock) {
			continue
		}
		rest := betweenSteps(in.states)
		if len(rest) == 0 {
			return &mismatch{in: in, observed: o, states: in.states, why: "the clock has moved on, but the step that the instance began is incomplete: an event is missing"}
		}
		in.states = rest
	}
	c.open = slices.DeleteFunc(c.open, func(in *instance) bool { return in.clock != int64(o.event.Clock) })
	return nil
}

// advanceInstance advances the instance of an event by the steps that explain it. It returns a
// *mismatch if no step does. It ignores an event that the map ignores (no rule) or that names no
// instance (in is nil).
//
// An instance has several candidates, because several steps may explain the same events. If one of
// them is in the middle of a step, endTransactions checks later that the step is completed.
func (c *Checker) advanceInstance(o *observation) error {
	rule, err := c.ruleFor(o)
	if err != nil || rule == nil {
		return err
	}
	in, err := c.findInstance(o)
	if err != nil || in == nil {
		return err
	}
	c.report.Explained++
	want, err := c.expect(rule, o, in)
	if err != nil {
		return err
	}
	next, err := c.advance(in.states, want)
	if err != nil {
		return err
	}
	if len(next) == 0 {
		return &mismatch{in: in, observed: o, want: want, states: in.states, why: "no step of the model explains this event"}
	}
	in.states = next
	in.addEvent(o)
	if slices.ContainsFunc(next, candidate.midStep) && !slices.Contains(c.open, in) {
		c.open = append(c.open, in)
	}
	return nil
}

// ruleFor returns the first rule that covers an event, and binds its variables in o. It
// returns nil if the event is to be ignored: its space is in no rule, it was refused, its
// rule has no actions, or it only reads. Another event without a rule is a mismatch.
func (c *Checker) ruleFor(o *observation) (*Rule, error) {
	if !c.spaces[o.event.Space] || refused(o.event) {
		return nil, nil
	}
	for _, r := range c.mapping.Rules {
		if !r.covers(o) {
			continue
		}
		c.used[r] = true
		if r.Never {
			return nil, &mismatch{observed: o, why: fmt.Sprintf("%s:%s: a never rule covers this event", c.mapping.File, r.Pos)}
		}
		if len(r.Actions) == 0 {
			return nil, nil
		}
		return r, nil
	}
	if o.event.Space == "" || slices.Contains(readOperations, o.event.Operation) {
		return nil, nil
	}
	return nil, &mismatch{observed: o, why: "no rule of " + c.mapping.File + " covers this event"}
}

// errTooFewProcesses reports that the log has more sessions than the model has processes.
var errTooFewProcesses = errors.New("the model has too few processes")

// expect translates an event by a rule into the actions that a step of the model must
// have. It numbers the values of the event in the instance. The number 0 fits each copy of the
// process; an event without a session has it. The error is errTooFewProcesses if the number of the
// copy is above the copies of the process.
func (c *Checker) expect(r *Rule, o *observation, in *instance) (*expectation, error) {
	want := &expectation{by: r.By}
	if r.Copy != "" {
		want.number = c.valueOfVariable(r, r.Copy, o, in)
		if want.number == 0 && r.Copy != "process" {
			want.number = nowhere // because 0 would fit each copy
		}
		if n := (&resolver{model: c.model}).copies(r.By); int(want.number) > n {
			return nil, fmt.Errorf("%w: %s is number %d of %s in %s, and %s has %d: set the constant in the map, const … = %d",
				errTooFewProcesses, o.event.Process, want.number, r.By, in.title(), c.model.Program.File, n, 2*want.number)
		}
	}
	for _, a := range r.resolved {
		d := wantedAction{action: action{a.verb, a.space}}
		for _, f := range a.fields {
			d.values = append(d.values, c.value(r, f, o, in))
			d.free = append(d.free, f.Kind == Any)
		}
		want.actions = append(want.actions, d)
	}
	return want, nil
}

// nowhere is a value that occurs in no model.
const nowhere = -1 << 62

// value translates a field of an action into a value of the model.
func (c *Checker) value(r *Rule, f Field, o *observation, in *instance) int64 {
	if f.Kind != Name {
		return f.Value
	}
	return c.valueOfVariable(r, f.Text, o, in)
}

// valueOfVariable translates the value of a variable of the event into a value of the
// model: the number that the instance gives it, a number as it is, or a symbol of the
// same text. Other values, and unbound variables, are nowhere.
func (c *Checker) valueOfVariable(r *Rule, name string, o *observation, in *instance) int64 {
	v := o.bound[name]
	switch {
	case name == "process" && r.Copy == name:
		return in.internValue(r.By, v)
	case name == "process":
		return in.internValue(name, v)
	case c.mapping.Numbered[name] != "":
		return in.internValue(c.mapping.Numbered[name], v)
	case v.kind == Number:
		return v.number
	}
	if i := slices.Index(c.model.Program.Symbols, v.text); i >= 0 && v.kind == Text {
		return syntax.SymbolBase + int64(i)
	}
	return nowhere
}

// tornLine is an error: the last line of a log is incomplete.
type tornLine struct{ line int }

func (t *tornLine) Error() string { return fmt.Sprintf("line %d is incomplete", t.line) }
