package conform

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/tup4fun/explore"
)

// errTooManyStates reports that a bound on states was reached.
var errTooManyStates = errors.New("the bound on states of the model was reached")

// step is a step of the model with the actions that the log shows.
type step struct {
	move    *explore.Move
	actions []explore.Operation // shown by the log, in order
}

// expectation is what one event requires of a step of the model: the next actions of the
// step, in this order, and who executes it. A step with more actions than one event shows
// is explained by several events in a row.
type expectation struct {
	actions []wantedAction
	by      string        // process of the model; "": any
	number  int64         // of the copy; 0: any
	input   *wantedAction // a tuple that a new step must take; nil: none
}

// wantedAction is an action with values. A free value matches any.
type wantedAction struct {
	action
	values []int64
	free   []bool
}

// steps returns the steps from a state, with those of their actions that the log shows. They are
// cached, because the instances of a log pass through the same states.
func (c *Checker) steps(s explore.State) ([]*step, error) {
	if known, ok := c.stepsOf[s]; ok {
		return known, nil
	}
	if c.walker.Len() > c.options.States {
		return nil, errTooManyStates
	}
	moves, err := c.walker.Moves(s)
	if err != nil {
		return nil, fmt.Errorf("the model failed: %w", err)
	}
	all := make([]*step, len(moves))
	for i, m := range moves {
		all[i] = &step{move: m}
		for _, d := range m.Operations {
			if c.shown[action{d.Verb, d.Space}] {
				all[i].actions = append(all[i].actions, d)
			}
		}
	}
	c.stepsOf[s] = all
	return all, nil
}

// closure returns the given positions with the states that the model reaches from them by steps
// that the log does not show. Positions in the middle of a step lead nowhere yet.
func (c *Checker) closure(states []candidate) ([]candidate, error) {
	seen := map[candidate]bool{}
	var all []candidate
	add := func(x candidate) {
		if !seen[x] {
			seen[x] = true
			all = append(all, x)
		}
	}
	for _, x := range states {
		add(x)
	}
	for i := 0; i < len(all); i++ {
		if all[i].midStep() {
			continue
		}
		steps, err := c.steps(all[i].state)
		if err != nil {
			return nil, err
		}
		if len(all) > c.options.States {
			return nil, errTooManyStates
		}
		for _, st := range steps {
			if len(st.actions) == 0 {
				add(candidate{state: st.move.To})
			}
		}
	}
	return all, nil
}

// advance returns the possible positions after an event that requires want; none if no step of the
// model explains it. The states must be a closure, and so is the result.
func (c *Checker) advance(states []candidate, want *expectation) ([]candidate, error) {
	var next []candidate
	for _, x := range states {
		if x.midStep() {
			if y, ok := c.continueStep(x, want); ok {
				next = append(next, y)
			}
			continue
		}
		from := x.state
		if want.input != nil {
			from = c.walker.With(from, want.input.space, want.input.values)
		}
		steps, err := c.steps(from)
		if err != nil {
			return nil, err
		}
		for _, st := range steps {
			if y, ok := c.continueStep(candidate{step: st}, want); ok && len(st.actions) > 0 && c.tookInput(st, want) {
				next = append(next, y)
			}
		}
	}
	return c.closure(next)
}

// tookInput reports whether a step takes the input that want has, if any.
func (c *Checker) tookInput(st *step, want *expectation) bool {
	return want.input == nil || len(c.walker.Content(st.move.To, want.input.space)) == 0
}

// continueStep returns x, which is in the middle of a step, after the wanted actions. It
// returns false if they are not the next actions of the step, or if its process is not
// the wanted one.
func (c *Checker) continueStep(x candidate, want *expectation) (candidate, bool) {
	rest := x.step.actions[x.shown:]
	if len(rest) < len(want.actions) || !c.isBy(x.step, want) {
		return x, false
	}
	for i, a := range want.actions {
		if a.verb != rest[i].Verb || a.space != rest[i].Space || !c.fits(a.wanted(rest[i].Tuple), rest[i].Tuple) {
			return x, false
		}
	}
	for _, d := range rest[:len(want.actions)] {
		c.covered[d.Edge.Pos] = true
	}
	if len(rest) == len(want.actions) {
		return candidate{state: x.step.move.To}, true
	}
	return candidate{step: x.step, shown: x.shown + len(want.actions)}, true
}

// isBy reports whether the process of a step is the wanted one.
func (c *Checker) isBy(st *step, want *expectation) bool {
	p := c.model.Procs[st.move.Proc]
	if want.by != "" && p.Code.Proc.Title != want.by {
		return false
	}
	return want.number == 0 || !p.Code.UsesNumber || p.Number == want.number
}

// wanted returns the values of an action; a free one is that of the tuple, which has as many fields.
func (o wantedAction) wanted(tuple []int64) []int64 {
	if len(o.values) != len(tuple) || !slices.Contains(o.free, true) {
		return o.values
	}
	values := slices.Clone(o.values)
	for i, free := range o.free {
		if free {
			values[i] = tuple[i]
		}
	}
	return values
}

// fits reports whether a tuple of the model can stand for values of the log: they are equal, or the
// model has the symbol unknown there.
func (c *Checker) fits(values, tuple []int64) bool {
	return slices.EqualFunc(values, tuple, func(v, in int64) bool { return v == in || in == c.anything })
}

// betweenSteps returns the states of an instance that are not in the middle of a step.
func betweenSteps(states []candidate) []candidate {
	return slices.DeleteFunc(slices.Clone(states), candidate.midStep)
}
