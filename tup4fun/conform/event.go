package conform

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/shared/space/trace"
)

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
	o.timed = c.logState.timed
	if wrong == "" && leaseOf(o.now) != e.Lease {
		wrong = fmt.Sprintf("the tuple names the lease %q, not %q", leaseOf(o.now), e.Lease)
	}
	if wrong != "" {
		return &mismatch{observed: o, why: "the log contradicts itself: " + wrong, contradicts: true}
	}
	c.last = append(c.last, Seen{line, e})
	if wrong := c.wrongDuration(o); wrong != "" {
		return &mismatch{observed: o, why: wrong}
	}
	if wrong := c.uniques.apply(o, c.logState.tuples[e.Ref] != nil); wrong != "" {
		return &mismatch{observed: o, why: wrong}
	}
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
	for _, in := range c.open {
		in.awaited = nil
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

// endTransactions requires that each instance in the middle of a step has finished it when the next
// transaction begins, because a step is part of one; else it returns a *mismatch. Candidates in the middle
// of a step are dropped then.
func (c *Checker) endTransactions(o *observation) error {
	for _, in := range c.open {
		if !in.isOver(o.event) {
			continue
		}
		rest := betweenSteps(in.states)
		if left := c.afterTransaction(in, &rest); left != "" {
			return &mismatch{in: in, observed: o, states: in.states, why: "the transaction is over, but " + left}
		}
		if len(rest) == 0 {
			return &mismatch{in: in, observed: o, states: in.states, why: "the transaction is over, but the step that the instance began is incomplete: an event is missing"}
		}
		in.states = rest
	}
	c.open = slices.DeleteFunc(c.open, func(in *instance) bool { return in.isOver(o.event) })
	return nil
}

// afterTransaction leaves the states in which what the map tells of the end of the transaction is true (after). If
// there is none it describes the space that is wrong; else it returns "".
func (c *Checker) afterTransaction(in *instance, states *[]candidate) (left string) {
	for _, a := range in.awaited {
		if len(*states) == 0 {
			break
		}
		*states = slices.DeleteFunc(*states, func(x candidate) bool {
			wrong := c.contradicts(x, a)
			if wrong != "" {
				left = wrong
			}
			return wrong != ""
		})
	}
	in.awaited = nil
	if len(*states) > 0 {
		return ""
	}
	return left
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
	if wrong := c.keepsValues(in, o); wrong != "" {
		return &mismatch{in: in, observed: o, why: wrong}
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
	if len(next) == 0 && c.follower.mayForget(c, in) {
		return nil
	}
	if len(next) == 0 {
		return &mismatch{in: in, observed: o, want: want, states: in.states, why: "no step of the model explains this event"}
	}
	in.states = next
	in.addEvent(o)
	for _, a := range c.mapping.After {
		if a.Operation == o.event.Operation {
			in.awaited = append(in.awaited, a)
		}
	}
	if (slices.ContainsFunc(next, candidate.midStep) || in.awaited != nil) && !slices.Contains(c.open, in) {
		c.open = append(c.open, in)
	}
	c.follower.note(c, in)
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
	if !slices.Contains(operations, o.event.Operation) { // of a newer version
		c.unknown["operation "+o.event.Operation] = true
		return nil, nil
	}
	return nil, &mismatch{observed: o, why: "no rule of " + c.mapping.File + " covers this event"}
}
