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
	"sync/atomic"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// Options bounds a check. The zero value selects the defaults.
type Options struct {
	States int // explored states of the model; 0: a million
	Search int // states explored per instance after a reload; 0: 20,000

	Complete bool // at the end of a log nothing may be left over
	// Deviates is called with each deviation, and the check goes on at the next reload, which lists all tuples; the
	// first deviation decides the outcome. Instances that have ended are forgotten, so that a log may go on for ever.
	// It is called also with a report of Incomplete when a model can say nothing until the next reload: events are
	// missing, a bound was reached, or the map does not know a procedure. nil: a deviation ends the check.
	Deviates func(*Report)
	Resumes  func(model string) // is called when a model goes on after Deviates; nil: nothing
	Tuples   int                // of the log that Deviates allows at once; 0: no bound
	Read     *atomic.Uint64     // gets the number of each event; nil: nothing
}

// Checker checks logs against one model, one log after the other. It caches the states
// and steps of the model between logs. It is not safe for concurrent use.
type Checker struct {
	mapping    *Map
	options    Options
	compile    compileFunc     // nil: the settings of a log change no constant
	spaces     map[string]bool // of the log that some rule names
	procedures map[string]bool // that some rule names
	sessions   map[string]bool // processes of the model whose copies stand for sessions

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
	uniques   *uniques
	block     []*observation // events since the reload
	loading   bool
	reloaded  int // line of the last reload
	last      []Seen
	report    *Report
	follower  follower
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
	c := &Checker{mapping: m, options: o, spaces: map[string]bool{}, procedures: map[string]bool{}, sessions: map[string]bool{}}
	for _, r := range m.Rules {
		c.spaces[r.Event.Space] = true
		if r.Copy == "process" {
			c.sessions[r.By] = true
		}
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
//
// A checker that follows a log (Options.Deviates) goes on after a gap, at the next reload.
func checkAll(ctx context.Context, name string, log io.Reader, each func(trace.Event), checkers []*Checker) ([]*Report, error) {
	for _, c := range checkers {
		c.resetForLog(name)
		c.follower = follower{}
	}
	missed := func(err error) error {
		for _, c := range checkers {
			if c.options.Deviates == nil {
				return err
			}
			if c.stopped == nil {
				c.stopped = c.goOnAfter(&missedEvents{err})
			}
		}
		return nil
	}
	err := read(log, missed, func(n int, e trace.Event) error {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		each(e)
		var running bool
		for _, c := range checkers {
			if c.stopped == nil {
				c.stopped = c.goOnAfter(c.nextEvent(n, e))
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
		errs = append(errs, c.endLog(err))
		reports[i] = c.report
	}
	return reports, errors.Join(slices.CompactFunc(errs, sameText)...)
}

// sameText reports whether two errors have the same text; all checkers of a log get the error of reading it.
func sameText(a, b error) bool { return a != nil && b != nil && a.Error() == b.Error() }

// errAllStopped ends the reading of a log whose checkers have all ended.
var errAllStopped = errors.New("all checks have ended")

// nextEvent checks an event unless an earlier one had a tuple that does not exist. Then it only looks
// for the line that puts that tuple; not in a log that goes on, because it may never come.
func (c *Checker) nextEvent(line int, e trace.Event) error {
	if c.follower.waits && e.Operation != trace.Reload {
		return nil
	}
	c.follower.resume(c, line, e)
	if c.early != nil {
		return c.early.awaitPut(line, e)
	}
	err := c.checkEvent(line, e)
	if err == nil && c.options.Tuples > 0 && len(c.logState.tuples) > c.options.Tuples {
		return errTooManyTuples
	}
	if c.logState.missing && c.options.Deviates == nil && errors.As(err, &c.early) {
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
	if err == nil && len(c.unknown) == 0 {
		err = c.leftOver()
	}
	if err := c.setOutcome(err); err != nil {
		return err
	}
	if c.follower.first != nil {
		c.report, c.uncovered = c.follower.first, false
	}
	return nil
}

// resetForLog empties the fields of a log. The outcome is Conforms until setOutcome.
func (c *Checker) resetForLog(name string) {
	c.report = &Report{Model: c.model.Program.File, Map: c.mapping.File, Trace: name, Outcome: Conforms}
	c.settings, c.unknown, c.stopped, c.early, c.uncovered = nil, map[string]bool{}, nil, nil, false
	c.covered, c.used = map[syntax.Pos]bool{}, map[*Rule]bool{}
	c.named, c.all, c.open = map[string]*instance{}, nil, nil
	c.logState, c.uniques, c.block, c.loading, c.last = newLogState(c.procedures), newUniques(c.mapping.Unique), nil, false, nil
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
	case errors.Is(err, errTooManyStates), errors.Is(err, errTooManyTuples), errors.Is(err, errTooFewProcesses), errors.As(err, &wrong), errors.As(err, new(*missedEvents)):
		r.Outcome, r.Reason = Incomplete, err.Error()
		return nil
	}
	return err
}

// tornLine is an error: the last line of a log is incomplete.
type tornLine struct{ line int }

func (t *tornLine) Error() string { return fmt.Sprintf("line %d is incomplete", t.line) }
