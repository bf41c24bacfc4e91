package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"leasehold/shared/trace"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// Options bounds a check. The zero value is the default.
type Options struct {
	States int // of the model, that are looked at; 0: a million
	Search int // of them, after a reload, for each instance; 0: 20,000
}

// Checker checks logs against a model, one after the other; what it has found out of
// the model it keeps. It is for one goroutine.
type Checker struct {
	model    *explore.Model
	m        *Map
	o        Options
	walker   *explore.Walker
	shown    map[deed]bool
	restored []int
	known    map[explore.State][]*step
	spaces   map[string]bool // of the log that the map speaks of
	start    []candidate

	// What follows is of one log.
	covered  map[*explore.Edge]bool
	used     map[*Rule]bool
	named    map[string]*instance
	all      []*instance
	open     []*instance // within a step
	ledger   *ledger
	block    []*sight // since the reload
	loading  bool
	reloaded int // line of the last reload
	last     []Seen
	report   *Report
}

// Load reads a model and a map, and readies a check. What is wrong with them is a
// syntax.Errors, or what explore.Compile says.
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

// New readies a check. What is wrong with the map, or does not fit the model, is a
// syntax.Errors.
func New(model *explore.Model, m *Map, o Options) (*Checker, error) {
	if err := m.resolve(model); err != nil {
		return nil, err
	}
	if o.States <= 0 {
		o.States = 1_000_000
	}
	if o.Search <= 0 {
		o.Search = 20_000
	}
	c := &Checker{
		model: model, m: m, o: o, walker: explore.NewWalker(model), shown: m.deeds(), restored: m.restores(),
		known: map[explore.State][]*step{}, spaces: map[string]bool{},
	}
	for _, r := range m.Rules {
		c.spaces[r.Event.Space] = true
	}
	return c, nil
}

// mismatch is an event that nothing explains.
type mismatch struct {
	in     *instance
	s      *sight
	why    string
	g      *glimpse
	states []candidate

	contradicts bool // the log itself, whatever the model
}

func (m *mismatch) Error() string { return m.why }

// await looks in the rest of a log for what puts the tuple that m misses. It returns m
// when that is found, or cannot be any more.
func (m *mismatch) await(line int, e trace.Event) error {
	switch {
	case puts(e, m.s.event):
		m.why += fmt.Sprintf("; line %d puts it", line)
		return m
	case e.Operation == trace.Reload: // which says anew what there is
		return m
	}
	return nil
}

// Check reads a log and says whether the model explains it. The error says that it
// is no log, or that ctx is done.
func (c *Checker) Check(ctx context.Context, name string, log io.Reader) (*Report, error) {
	c.begin(name)
	var err error
	var early *mismatch // the tuple of the event is not there: perhaps it comes later
	if c.start, err = c.closed([]candidate{{}}); err == nil {
		err = read(log, func(n int, e trace.Event) error {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if early != nil {
				return early.await(n, e)
			}
			err := c.event(n, e)
			if c.ledger.missing && errors.As(err, &early) {
				return nil
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
	return c.report, c.conclude(err)
}

// begin forgets the log before.
func (c *Checker) begin(name string) {
	c.report = &Report{Model: c.model.Program.File, Map: c.m.File, Trace: name, Outcome: Conforms}
	c.covered, c.used = map[*explore.Edge]bool{}, map[*Rule]bool{}
	c.named, c.all, c.open = map[string]*instance{}, nil, nil
	c.ledger, c.block, c.loading, c.last = newLedger(), nil, false, nil
}

// conclude turns what ended the check into a verdict.
func (c *Checker) conclude(err error) error {
	r := c.report
	r.Instances, r.States = len(c.all), c.walker.Len()
	r.Unseen, r.Unused = c.unseen(), c.unused()
	for _, in := range c.all {
		if len(settled(in.states)) == 0 {
			r.Within++
		}
	}
	var m *mismatch
	var wrong *explore.RuntimeError
	switch {
	case err == nil && r.Explained == 0:
		r.Outcome, r.Reason = Incomplete, "no event of the log is one that "+r.Map+" speaks of: is it the log of another system?"
		return nil
	case err == nil:
		return nil
	case errors.As(err, &m):
		r.Outcome = Violates
		r.Violation = c.explain(m)
		return nil
	case errors.Is(err, errTooMany), errors.Is(err, errTooFew), errors.As(err, &wrong):
		r.Outcome, r.Reason = Incomplete, err.Error()
		return nil
	}
	return err
}

// event takes the next event.
func (c *Checker) event(line int, e trace.Event) error {
	c.report.Events++
	if len(c.last) == maxLast {
		c.last = slices.Delete(c.last, 0, 1)
	}
	before, wrong := c.ledger.take(e)
	s := newSight(e, line, before)
	if wrong == "" && leaseOf(s.now) != e.Lease {
		wrong = fmt.Sprintf("the tuple names the lease %q, not %q", leaseOf(s.now), e.Lease)
	}
	if wrong != "" {
		return &mismatch{s: s, why: "the log contradicts itself: " + wrong, contradicts: true}
	}
	c.last = append(c.last, Seen{line, e})
	switch {
	case e.Operation == trace.Reload:
		if c.loading {
			if err := c.endReload(); err != nil {
				return err
			}
		}
		c.loading, c.reloaded, c.open = true, line, nil
		c.report.Reloads++
		return nil
	case c.loading && (e.Operation == trace.Begin || e.Operation == trace.Restore):
		c.block = append(c.block, s)
		return nil
	case c.loading:
		if err := c.endReload(); err != nil {
			return err
		}
	}
	if err := c.endTransactions(s); err != nil {
		return err
	}
	return c.observe(s)
}

func (c *Checker) endReload() error {
	block := c.block
	c.loading, c.block = false, nil
	return c.reload(block)
}

// endTransactions ends what was under way: all events of a transaction have one
// clock.
func (c *Checker) endTransactions(s *sight) error {
	for _, in := range c.open {
		if in.clock < 0 || in.clock == int64(s.event.Clock) {
			continue
		}
		rest := settled(in.states)
		if len(rest) == 0 {
			return &mismatch{in: in, s: s, states: in.states, why: "the clock goes on, but what the instance did before is not complete: something is missing"}
		}
		in.states = rest
	}
	c.open = slices.DeleteFunc(c.open, func(in *instance) bool { return in.clock != int64(s.event.Clock) })
	return nil
}

// observe holds an event against the model.
func (c *Checker) observe(s *sight) error {
	rule, err := c.rule(s)
	if err != nil || rule == nil {
		return err
	}
	in, err := c.find(s)
	if err != nil || in == nil {
		return err
	}
	c.report.Explained++
	g, err := c.glimpse(rule, s, in)
	if err != nil {
		return err
	}
	next, err := c.advance(in.states, g)
	if err != nil {
		return err
	}
	if len(next) == 0 {
		return &mismatch{in: in, s: s, g: g, states: in.states, why: "nothing in the model explains this"}
	}
	in.states = next
	in.saw(s)
	if slices.ContainsFunc(next, candidate.within) && !slices.Contains(c.open, in) {
		c.open = append(c.open, in)
	}
	return nil
}

// rule returns the rule that says what an event is; nil, if it is to be ignored.
func (c *Checker) rule(s *sight) (*Rule, error) {
	if !c.spaces[s.event.Space] || refused(s.event) {
		return nil, nil
	}
	for _, r := range c.m.Rules {
		if !r.covers(s) {
			continue
		}
		c.used[r] = true
		if r.Never {
			return nil, &mismatch{s: s, why: fmt.Sprintf("%s:%s says that this never happens", c.m.File, r.Pos)}
		}
		if len(r.Actions) == 0 {
			return nil, nil
		}
		return r, nil
	}
	if s.event.Space == "" || slices.Contains(reads, s.event.Operation) {
		return nil, nil
	}
	return nil, &mismatch{s: s, why: "no rule of " + c.m.File + " says what this is in the model"}
}

// errTooFew says that the model has fewer processes than the log has sessions.
var errTooFew = errors.New("the model has too few processes")

// glimpse is what an event says by a rule.
func (c *Checker) glimpse(r *Rule, s *sight, in *instance) (*glimpse, error) {
	g := &glimpse{by: r.By}
	if r.Copy != "" {
		if g.number = c.variable(r, r.Copy, s, in); g.number == 0 && r.Copy != "process" {
			g.number = nowhere // 0 would be any
		}
		if n := (&resolver{model: c.model}).copies(r.By); int(g.number) > n {
			return nil, fmt.Errorf("%w: %s is the %d. %s of %s, and %s has %d: let the map say const … = %d",
				errTooFew, s.event.Process, g.number, r.By, in.title(), c.model.Program.File, n, 2*g.number)
		}
	}
	for _, o := range r.observed {
		d := observedDeed{deed: deed{o.verb, o.space}}
		for _, f := range o.fields {
			d.values = append(d.values, c.value(r, f, s, in))
			d.free = append(d.free, f.Kind == Any)
		}
		g.deeds = append(g.deeds, d)
	}
	return g, nil
}

// nowhere is a value that no model has.
const nowhere = -1 << 62

// value is what a field of an action is in the model.
func (c *Checker) value(r *Rule, f Field, s *sight, in *instance) int64 {
	if f.Kind != Name {
		return f.Value
	}
	return c.variable(r, f.Text, s, in)
}

// variable is what the value of a variable of the event is in the model.
func (c *Checker) variable(r *Rule, name string, s *sight, in *instance) int64 {
	v := s.bound[name]
	switch {
	case name == "process" && r.Copy == name:
		return in.number(r.By, v)
	case name == "process":
		return in.number(name, v)
	case c.m.Numbered[name] != "":
		return in.number(c.m.Numbered[name], v)
	case v.kind == Number:
		return v.number
	}
	if i := slices.Index(c.model.Program.Symbols, v.text); i >= 0 && v.kind == Text {
		return syntax.SymbolBase + int64(i)
	}
	return nowhere
}

// tornLine says that the last line of a log is not whole.
type tornLine struct{ line int }

func (t *tornLine) Error() string { return fmt.Sprintf("line %d is not whole", t.line) }

// unmarshal reads one line.
func unmarshal(data []byte) (e trace.Event, err error) {
	err = json.Unmarshal(data, &e)
	return e, err
}
