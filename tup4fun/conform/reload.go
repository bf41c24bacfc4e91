package conform

import (
	"cmp"
	"fmt"
	"slices"

	"leasehold/shared/trace"
)

// content is what spaces hold, by space, in words that compare.
type content map[int][]string

// reload goes on from the state that a log says after a reload: what instances hold
// is known, and the events just before may be missing. The model may have done in
// between what no event shows, but no more of it than is needed.
func (c *Checker) reload(block []*sight) error {
	for _, in := range c.all {
		in.clock = -1
	}
	slices.SortStableFunc(block, func(a, b *sight) int { return cmp.Compare(newest(a), newest(b)) })
	holds := map[*instance]content{}
	for _, in := range c.all {
		holds[in] = content{}
	}
	lines := map[*instance]*sight{}
	for _, s := range block {
		in, err := c.holding(s, holds)
		if err != nil {
			return err
		}
		if in != nil {
			lines[in] = s
		}
	}
	for _, in := range c.all {
		found, err := c.search(in.states, holds[in])
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return &mismatch{in: in, s: lines[in], why: fmt.Sprintf("after the reload at line %d the spaces hold what the model never has there", c.reloaded)}
		}
		in.states = found
	}
	return nil
}

// newest is the greatest number in a tuple's fields that a map may number: tokens
// grow, so that what is older is numbered first.
func newest(s *sight) (most int64) {
	for _, v := range s.now {
		if v.kind == Number && v.text == "" && v.number < 1<<40 {
			most = max(most, v.number)
		}
	}
	return most
}

// holding notes what an event after a reload says that the spaces hold.
func (c *Checker) holding(s *sight, holds map[*instance]content) (*instance, error) {
	rule, err := c.rule(s)
	if err != nil || rule == nil {
		return nil, err
	}
	in, err := c.find(s)
	if err != nil || in == nil {
		return nil, err
	}
	if holds[in] == nil {
		holds[in] = content{}
	}
	in.saw(s)
	g, err := c.glimpse(rule, s, in)
	if err != nil {
		return nil, err
	}
	for _, d := range g.deeds {
		if d.verb == "put" {
			holds[in][d.space] = append(holds[in][d.space], fmt.Sprint(d.values))
		}
	}
	return in, nil
}

// search returns the states, of those that the fewest steps lead to, whose spaces
// hold what they should.
func (c *Checker) search(from []candidate, want content) ([]candidate, error) {
	var level []candidate
	for _, x := range from {
		if x.within() {
			x = candidate{state: x.step.move.To}
		}
		level = append(level, x)
	}
	seen := map[candidate]bool{}
	for len(level) > 0 {
		all, err := c.closed(level)
		if err != nil {
			return nil, err
		}
		var found, next []candidate
		for _, x := range all {
			if seen[x] {
				continue
			}
			seen[x] = true
			if c.holds(x, want) {
				found = append(found, x)
			}
			steps, err := c.steps(x.state)
			if err != nil {
				return nil, err
			}
			for _, st := range steps {
				next = append(next, candidate{state: st.move.To})
			}
		}
		if len(found) > 0 {
			return c.closed(found)
		}
		level = unseen(next, seen)
		if len(seen)+len(level) > c.o.Search {
			return nil, fmt.Errorf("after a reload: %w", errTooMany)
		}
	}
	return nil, nil
}

// unseen returns those of next that were not seen, once each.
func unseen(next []candidate, seen map[candidate]bool) (all []candidate) {
	there := map[candidate]bool{}
	for _, x := range next {
		if !seen[x] && !there[x] {
			there[x] = true
			all = append(all, x)
		}
	}
	return all
}

// holds reports whether the spaces of a state that the log restores hold what they
// should.
func (c *Checker) holds(x candidate, want content) bool {
	for _, space := range c.restored {
		var have []string
		for _, t := range c.walker.Content(x.state, space) {
			have = append(have, fmt.Sprint(t))
		}
		slices.Sort(have)
		slices.Sort(want[space])
		if !slices.Equal(have, want[space]) {
			return false
		}
	}
	return true
}

// restores lists the spaces of the model that a reload says everything of.
func (m *Map) restores() (spaces []int) {
	for _, r := range m.Rules {
		if !slices.Contains(r.Event.Operations, trace.Restore) && !slices.Contains(r.Event.Operations, trace.Begin) {
			continue
		}
		for _, o := range r.observed {
			if o.verb == "put" && !slices.Contains(spaces, o.space) {
				spaces = append(spaces, o.space)
			}
		}
	}
	return spaces
}
