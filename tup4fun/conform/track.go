package conform

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/tup4fun/explore"
)

// errTooMany says that the bound on states was reached.
var errTooMany = errors.New("more states of the model would have to be looked at than are allowed")

// step is a step of the model as the log may show it.
type step struct {
	move  *explore.Move
	deeds []explore.Deed // that the log shows
}

// glimpse is what one event says about a step.
type glimpse struct {
	deeds  []observedDeed
	by     string // process of the model; "": any
	number int64  // of the copy; 0: any
}

// observedDeed is a deed with values; those that are free may be anything.
type observedDeed struct {
	deed
	values []int64
	free   []bool
}

// steps returns the steps from a state.
func (c *Checker) steps(s explore.State) ([]*step, error) {
	if known, ok := c.known[s]; ok {
		return known, nil
	}
	if c.walker.Len() > c.o.States {
		return nil, errTooMany
	}
	moves, err := c.walker.Moves(s)
	if err != nil {
		return nil, fmt.Errorf("the model goes wrong: %w", err)
	}
	all := make([]*step, len(moves))
	for i, m := range moves {
		all[i] = &step{move: m}
		for _, d := range m.Deeds {
			if c.shown[deed{d.Verb, d.Space}] {
				all[i].deeds = append(all[i].deeds, d)
			}
		}
	}
	c.known[s] = all
	return all, nil
}

// closed adds to states what the model reaches by steps that the log does not show.
func (c *Checker) closed(states []candidate) ([]candidate, error) {
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
		if all[i].within() {
			continue
		}
		steps, err := c.steps(all[i].state)
		if err != nil {
			return nil, err
		}
		if len(all) > c.o.States {
			return nil, errTooMany
		}
		for _, st := range steps {
			if len(st.deeds) == 0 {
				add(candidate{state: st.move.To})
			}
		}
	}
	return all, nil
}

// advance returns where the model may be after an event, of states that are closed.
func (c *Checker) advance(states []candidate, g *glimpse) ([]candidate, error) {
	var next []candidate
	for _, x := range states {
		if x.within() {
			if y, ok := c.matches(x, g); ok {
				next = append(next, y)
			}
			continue
		}
		steps, err := c.steps(x.state)
		if err != nil {
			return nil, err
		}
		for _, st := range steps {
			if y, ok := c.matches(candidate{step: st}, g); ok && len(st.deeds) > 0 {
				next = append(next, y)
			}
		}
	}
	return c.closed(next)
}

// matches goes on with the step of x, if the next of its deeds are those of g.
func (c *Checker) matches(x candidate, g *glimpse) (candidate, bool) {
	rest := x.step.deeds[x.shown:]
	if len(rest) < len(g.deeds) || !c.does(x.step, g) {
		return x, false
	}
	for i, want := range g.deeds {
		if !want.is(rest[i]) {
			return x, false
		}
	}
	for _, d := range rest[:len(g.deeds)] {
		c.covered[d.Edge] = true
	}
	if len(rest) == len(g.deeds) {
		return candidate{state: x.step.move.To}, true
	}
	return candidate{step: x.step, shown: x.shown + len(g.deeds)}, true
}

// does reports whether the process of a step is the one that g names.
func (c *Checker) does(st *step, g *glimpse) bool {
	p := c.model.Procs[st.move.Proc]
	if g.by != "" && p.Code.Proc.Title != g.by {
		return false
	}
	return g.number == 0 || !p.Code.UsesNumber() || p.Number() == g.number
}

func (o observedDeed) is(d explore.Deed) bool {
	if o.verb != d.Verb || o.space != d.Space || len(o.values) != len(d.Tuple) {
		return false
	}
	for i, v := range o.values {
		if !o.free[i] && v != d.Tuple[i] {
			return false
		}
	}
	return true
}

// settled returns the states of an instance that are not within a step.
func settled(states []candidate) []candidate {
	return slices.DeleteFunc(slices.Clone(states), candidate.within)
}
