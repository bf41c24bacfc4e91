package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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
	mapping    *Map
	options    Options
	compile    compileFunc     // nil: the settings of a log change no constant
	spaces     map[string]bool // of the log that some rule names
	procedures map[string]bool // that some rule names

	// The fields below belong to the model with its current constants (useModel).
	constants map[string]int64
	model     *explore.Model
	walker    *explore.Walker
	shown     map[action]bool
	restored  []int
	stepsOf   map[explore.State][]*step
	start     []candidate
	anything  int64 // the symbol unknown, which stands for every value of the log

	// The fields below belong to the log being checked.
	settings  map[string]int64 // that the last reload told
	stopped   error            // why the check ended before the log did; nil: it goes on
	uncovered bool             // the outcome is Incomplete because the map covers no event
	early     *mismatch        // an event whose tuple is unknown; a later line may put it
	unknown   map[string]bool  // procedures in the spaces of the map that no rule names
	covered   map[syntax.Pos]bool
	used      map[*Rule]bool
	named     map[string]*instance
	all       []*instance
	open      []*instance // instances in the middle of a step
	logState  *logState
	block     []*observation // events since the reload
	loading   bool
	reloaded  int // line of the last reload
	last      []Seen
	report    *Report
}

// Load parses a model and a map and returns a Checker. An invalid file is a syntax.Errors
// or an error of explore.Compile.
func Load(modelFile, model, mapFile, mapping string, o Options) (*Checker, error) {
	m, err := ParseMap(mapFile, mapping)
	if err != nil {
		return nil, err
	}
	compile := func(constants map[string]int64) (*explore.Model, error) {
		p, err := syntax.ParseWith(modelFile, model, constants)
		if err != nil {
			return nil, err
		}
		return explore.Compile(p, 0)
	}
	compiled, err := compile(m.Constants)
	if err != nil {
		return nil, err
	}
	c, err := New(compiled, m, o)
	if err != nil {
		return nil, err
	}
	c.compile = compile
	return c, nil
}

// New returns a Checker. A map that does not fit the model is a syntax.Errors. Limits that are 0
// get their defaults. The settings of a log do not change the model.
func New(model *explore.Model, m *Map, o Options) (*Checker, error) {
	o.States = cmp.Or(max(o.States, 0), 1_000_000)
	o.Search = cmp.Or(max(o.Search, 0), 20_000)
	c := &Checker{mapping: m, options: o, spaces: map[string]bool{}, procedures: map[string]bool{}}
	for _, r := range m.Rules {
		c.spaces[r.Event.Space] = true
		for _, p := range r.Event.Procedures {
			c.procedures[p] = true
		}
	}
	return c, c.useModel(model, m.Constants)
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
	reports, err := CheckAll(ctx, name, log, c)
	return reports[0], err
}

// CheckAll is Check with several checkers, which read the log together. The reports are in their
// order.
func CheckAll(ctx context.Context, name string, log io.Reader, checkers ...*Checker) ([]*Report, error) {
	return checkAll(ctx, name, log, func(trace.Event) {}, checkers)
}

// checkAll is CheckAll, and calls each with every event that it reads.
func checkAll(ctx context.Context, name string, log io.Reader, each func(trace.Event), checkers []*Checker) ([]*Report, error) {
	for _, c := range checkers {
		c.resetForLog(name)
	}
	err := read(log, func(n int, e trace.Event) error {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		each(e)
		var running bool
		for _, c := range checkers {
			if c.stopped == nil {
				c.stopped = c.nextEvent(n, e)
			}
			running = running || c.stopped == nil
		}
		if !running {
			return errAllStopped
		}
		return nil
	})
	reports := make([]*Report, len(checkers))
	var errs []error
	for i, c := range checkers {
		reports[i] = c.report
		errs = append(errs, c.endLog(err))
	}
	return reports, errors.Join(slices.CompactFunc(errs, sameText)...)
}

// sameText reports whether two errors have the same text; all checkers of a log get the error of reading it.
func sameText(a, b error) bool { return a != nil && b != nil && a.Error() == b.Error() }

// errAllStopped ends the reading of a log whose checkers have all ended.
var errAllStopped = errors.New("all checks have ended")

// nextEvent checks an event unless an earlier one had a tuple that does not exist. Then it only looks
// for the line that puts that tuple.
func (c *Checker) nextEvent(line int, e trace.Event) error {
	if c.early != nil {
		return c.early.awaitPut(line, e)
	}
	err := c.checkEvent(line, e)
	if c.logState.missing && errors.As(err, &c.early) {
		return nil
	}
	return err
}

// endLog completes the report. err ended the reading of the log; nil at its end.
func (c *Checker) endLog(err error) error {
	switch {
	case c.stopped != nil:
		err = c.stopped
	case c.early != nil && (err == nil || errors.As(err, new(*tornLine))):
		err = c.early
	}
	var torn *tornLine
	if errors.As(err, &torn) {
		c.report.Torn, err = true, nil
	}
	if err == nil && c.loading {
		err = c.endReload()
	}
	return c.setOutcome(err)
}

// resetForLog empties the fields of a log. The outcome is Conforms until setOutcome.
func (c *Checker) resetForLog(name string) {
	c.report = &Report{Model: c.model.Program.File, Map: c.mapping.File, Trace: name, Outcome: Conforms}
	c.settings, c.unknown, c.stopped, c.early, c.uncovered = nil, map[string]bool{}, nil, nil, false
	c.covered, c.used = map[syntax.Pos]bool{}, map[*Rule]bool{}
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
	case err == nil && len(c.unknown) > 0:
		r.Outcome, r.Unknown = Incomplete, slices.Sorted(maps.Keys(c.unknown))
		r.Reason = r.Model + " does not know " + strings.Join(r.Unknown, ", ")
		return nil
	case err == nil && r.Explained == 0:
		c.uncovered = true
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
	if err := c.endTransactions(o); err != nil && len(c.unknown) == 0 {
		return err
	}
	if len(c.unknown) > 0 { // the model has lost track; only what else it does not know counts
		_, err := c.ruleFor(o)
		return unlessMismatch(err)
	}
	return c.advanceInstance(o)
}

// noteReload reports whether an event is a reload or one of those that restore the state after it.
// It collects the latter; any other event ends them.
func (c *Checker) noteReload(o *observation) (ofReload bool, err error) {
	operation := o.event.Operation
	if operation == trace.Settings {
		c.settings = settingsOf(o.now)
		return true, nil
	}
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
	c.loading, c.reloaded, c.open, c.settings = true, o.line, nil, nil // steps under way have not happened
	c.report.Reloads++
	return true, nil
}

// endReload ends the events after a reload, and continues from the state that they list.
func (c *Checker) endReload() error {
	block := c.block
	c.loading, c.block = false, nil
	if len(c.unknown) > 0 {
		return nil
	}
	if err := c.applySettings(); err != nil {
		return err
	}
	if c.start == nil {
		var err error
		if c.start, err = c.closure([]candidate{{}}); err != nil {
			return err
		}
	}
	if !c.mapping.Restarts {
		return c.continueFromReload(block)
	}
	c.named, c.all = map[string]*instance{}, nil
	for _, o := range block {
		if err := c.advanceInstance(o); err != nil {
			return err
		}
	}
	return nil
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

// unlessMismatch returns err unless it is a *mismatch.
func unlessMismatch(err error) error {
	var m *mismatch
	if errors.As(err, &m) {
		return nil
	}
	return err
}

// ruleFor returns the first rule that covers an event, and binds its variables in o. It
// returns nil if the event is to be ignored: its space is in no rule, it was refused, its
// rule has no actions, or it only reads. Another event without a rule is a mismatch, unless
// no rule names its procedure: then it is noted in c.unknown, because the map is of a system
// without that procedure.
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
	if p := o.event.Procedure; p != "" && !c.procedures[p] {
		c.unknown[p] = true
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
		want.actions = append(want.actions, c.wanted(r, a, o, in))
	}
	if r.input != nil {
		input := c.wanted(r, *r.input, o, in)
		want.input = &input
	}
	return want, nil
}

// wanted translates an action of a rule, with the values of the event in the instance.
func (c *Checker) wanted(r *Rule, a resolvedAction, o *observation, in *instance) wantedAction {
	d := wantedAction{action: action{a.verb, a.space}}
	for _, f := range a.fields {
		d.values = append(d.values, c.value(r, f, o, in))
		d.free = append(d.free, f.Kind == Any)
	}
	return d
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
