package conform

import (
	"cmp"
	"fmt"
	"slices"

	"leasehold/shared/space/trace"
)

// content is the tuples of each space.
type content map[int][][]int64

// continueFromReload continues from the state that a log lists after a reload. The last events
// before it may be missing from the log, so the model may take unlogged steps, but only as few as
// lead to the listed state. The tuples are taken in the order of their numbers, so that the copies
// of the model get theirs as before. A state that the model cannot have is a *mismatch.
func (c *Checker) continueFromReload(block []*observation) error {
	slices.SortStableFunc(block, func(a, b *observation) int { return cmp.Compare(maxNumber(a), maxNumber(b)) })
	holds := map[*instance]content{}
	known := len(c.all)
	for _, in := range c.all {
		holds[in] = content{}
	}
	lines := map[*instance]*observation{}
	for _, o := range block {
		in, err := c.addRestored(o, holds)
		if err != nil {
			return err
		}
		if in != nil {
			lines[in] = o
		}
	}
	for n, in := range c.all {
		search := c.searchRestored
		if n >= known && c.mapping.Earlier != "" {
			search = c.restoreEarlier
		}
		found, err := search(in, holds[in])
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return &mismatch{in: in, observed: lines[in], why: fmt.Sprintf("after the reload at line %d the spaces hold tuples that the model cannot have there", c.reloaded)}
		}
		in.states = found
	}
	return nil
}

// maxNumber returns the greatest number among the fields that a map may number. Tokens
// grow, so sorting by it numbers older tuples first.
func maxNumber(o *observation) (most int64) {
	for _, v := range o.now {
		if v.kind == Number && v.text == "" && v.number < 1<<40 {
			most = max(most, v.number)
		}
	}
	return most
}

// addRestored adds the tuple of an event after a reload to the content of its instance in holds. It
// returns nil if the event has no instance or is to be ignored.
func (c *Checker) addRestored(o *observation, holds map[*instance]content) (*instance, error) {
	rule, err := c.ruleFor(o)
	if err != nil || rule == nil {
		return nil, err
	}
	in, err := c.findInstance(o)
	if err != nil || in == nil {
		return nil, err
	}
	if wrong := c.keepsValues(in, o); wrong != "" {
		return nil, &mismatch{in: in, observed: o, why: wrong}
	}
	if holds[in] == nil {
		holds[in] = content{}
	}
	in.addEvent(o)
	want, err := c.expect(rule, o, in)
	if err != nil {
		return nil, err
	}
	for _, d := range want.actions {
		if d.verb == "put" {
			holds[in][d.space] = append(holds[in][d.space], d.values)
		}
	}
	return in, nil
}

// searchRestored returns the states with the wanted content that are reached from the positions
// of an instance with the fewest steps, as a closure. Of the copies of a process that stand for no session yet, one
// takes the steps of all, because they are alike. It returns none if none has it, and
// errTooManyStates if it would visit more than Options.Search states. A position in the middle of
// a step counts as its end, because a transaction is in the journal as a whole.
func (c *Checker) searchRestored(in *instance, want content) ([]candidate, error) {
	var level []candidate
	for _, x := range in.states {
		if x.midStep() {
			x = candidate{state: x.step.move.To}
		}
		level = append(level, x)
	}
	seen := map[candidate]bool{}
	for len(level) > 0 {
		all, err := c.closure(level)
		if err != nil {
			return nil, err
		}
		var found, next []candidate
		queued := map[candidate]bool{}
		for _, x := range all {
			if seen[x] {
				continue
			}
			seen[x] = true
			if c.spacesEqual(x, want) {
				found = append(found, x)
			}
			steps, err := c.steps(x.state)
			if err != nil {
				return nil, err
			}
			for _, st := range steps {
				y := candidate{state: st.move.To}
				if c.isSpare(in, st.move.Proc) {
					continue
				}
				if !seen[y] && !queued[y] {
					queued[y] = true
					next = append(next, y)
				}
			}
		}
		if len(found) > 0 {
			return c.closure(found)
		}
		level = next
		if len(seen)+len(level) > c.options.Search {
			return nil, fmt.Errorf("after a reload: %w", errTooManyStates)
		}
	}
	return nil, nil
}

// isSpare reports whether a process of the model is a copy beyond those that stand for the sessions of an instance,
// and beyond one more.
func (c *Checker) isSpare(in *instance, proc int) bool {
	p := c.model.Procs[proc]
	title := p.Code.Proc.Title
	return c.sessions[title] && p.Number > int64(len(in.numbers[title])+1)
}

// restoreEarlier returns the states of an instance that the log did not show before: the tuples that
// it lists, put into its positions, and after that a step of the process Earlier of the map, which
// sets the variables that belong to them. Until that step the model has no such state, so other processes may fail
// there. The positions are between steps.
func (c *Checker) restoreEarlier(in *instance, want content) ([]candidate, error) {
	var found []candidate
	for _, x := range in.states {
		for _, space := range c.restored {
			for _, t := range want[space] {
				x.state = c.walker.With(x.state, space, t)
			}
		}
		for p, proc := range c.model.Procs {
			if proc.Code.Proc.Title != c.mapping.Earlier {
				continue
			}
			moves, err := c.walker.MovesOf(x.state, p)
			if err != nil {
				return nil, fmt.Errorf("the model failed: %w", err)
			}
			for _, m := range moves {
				if y := (candidate{state: m.To}); c.spacesEqual(y, want) {
					found = append(found, y)
				}
			}
		}
	}
	return c.closure(found)
}

// spacesEqual reports whether the spaces that the log restores hold the wanted content in
// the state of x, which is not in the middle of a step.
func (c *Checker) spacesEqual(x candidate, want content) bool {
	for _, space := range c.restored {
		have := c.walker.Content(x.state, space)
		if len(have) != len(want[space]) {
			return false
		}
		slices.SortFunc(have, slices.Compare)
		sorted := slices.SortedFunc(slices.Values(want[space]), slices.Compare)
		if !slices.EqualFunc(sorted, have, c.fits) {
			return false
		}
	}
	return true
}

// restoredSpaces lists the spaces of the model that a reload lists completely: those into which a
// rule about the events of a reload puts. The rules must be resolved.
func (m *Map) restoredSpaces() (spaces []int) {
	for _, r := range m.Rules {
		if !slices.Contains(r.Event.Operations, trace.Restore) && !slices.Contains(r.Event.Operations, trace.Begin) {
			continue
		}
		for _, o := range r.resolved {
			if o.verb == "put" && !slices.Contains(spaces, o.space) {
				spaces = append(spaces, o.space)
			}
		}
	}
	return spaces
}
