package conform

import (
	"fmt"
	"strings"
	"time"

	"leasehold/shared/space/trace"
)

// uniques are the values of the tuples in the spaces of the log that a map lists as unique.
type uniques struct {
	patterns []*Pattern
	refs     map[string]int64   // by pattern and values: the tuple that has them
	keys     map[int64][]string // of each tuple
}

func newUniques(patterns []*Pattern) *uniques {
	return &uniques{patterns, map[string]int64{}, map[int64][]string{}}
}

// apply follows an event after which its tuple exists, or not. It describes another tuple that has the same values, or
// returns "".
func (u *uniques) apply(o *observation, exists bool) (wrong string) {
	e := o.event
	if e.Operation == trace.Reload {
		clear(u.refs)
		clear(u.keys)
		return ""
	}
	for _, key := range u.keys[e.Ref] {
		delete(u.refs, key)
	}
	delete(u.keys, e.Ref)
	if !exists {
		return ""
	}
	for i, p := range u.patterns {
		key, ok := p.keyOf(i, o)
		if !ok {
			continue
		}
		if other, taken := u.refs[key]; taken {
			return fmt.Sprintf("tuple %d has the same values (unique %s)", other, fieldTexts(p.Tuple))
		}
		u.refs[key] = e.Ref
		u.keys[e.Ref] = append(u.keys[e.Ref], key)
	}
	return ""
}

// keyOf returns the values of the variables of a pattern, the i-th one, in the tuple of an event; false if the tuple
// does not match.
func (e *Pattern) keyOf(i int, o *observation) (string, bool) {
	if e.Space != o.event.Space {
		return "", false
	}
	o.bound = map[string]value{}
	if !o.bind(e.Tuple, o.now) {
		return "", false
	}
	key := fmt.Sprint(i)
	for n, f := range e.Tuple {
		if f.Kind == Name {
			key += fmt.Sprintf(" %q", fmt.Sprint(o.now[n]))
		}
	}
	return key, true
}

// fieldTexts writes the fields of a pattern as a map does.
func fieldTexts(fields []Field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		switch f.Kind {
		case Any:
			all[i] = "_"
		case Text:
			all[i] = fmt.Sprintf("%q", f.Text)
		default:
			all[i] = f.Text
		}
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// keepsValues describes a variable of the event whose value is not that of earlier events of the instance (same), or
// returns "".
func (c *Checker) keepsValues(in *instance, o *observation) (wrong string) {
	for _, name := range c.mapping.Same {
		v, ok := o.bound[name]
		if !ok {
			continue
		}
		if before, known := in.kept[name]; known && before != v {
			return fmt.Sprintf("%s is %s, and was %s in %s", name, v, before, in.title())
		}
		if in.kept == nil {
			in.kept = map[string]value{}
		}
		in.kept[name] = v
	}
	return ""
}

// wrongDuration describes a tuple that does not last as long as a setting of the log demands (lasts), or returns "". An
// event that only changes a tuple may leave its end as it was.
func (c *Checker) wrongDuration(o *observation) string {
	for _, d := range c.mapping.Durations {
		lasts, known := c.settings[d.Setting]
		if !known || !d.Event.covers(o) {
			continue
		}
		now := o.event.Due - o.event.Clock
		isSame := o.before != nil && o.before.due == o.event.Due
		if now != time.Duration(lasts) && !isSame {
			return fmt.Sprintf("tuple %d lasts %s from here, but %s is %s", o.event.Ref, now, d.Setting, time.Duration(lasts))
		}
	}
	return ""
}

// String writes a value as tuples do.
func (v value) String() string {
	switch {
	case v.kind == Number && v.text == "":
		return fmt.Sprint(v.number)
	case v.kind == Text:
		return fmt.Sprintf("%q", v.text)
	}
	return v.text
}

// leftOver returns a mismatch for an instance that has not ended at the end of a complete log: in each state in which
// the model may be, one of the spaces that the map lists (ends) has a tuple. It returns nil if there is none.
func (c *Checker) leftOver() error {
	if !c.options.Complete {
		return nil
	}
	for _, in := range c.all {
		states := betweenSteps(in.states)
		ended := false
		var left string
		for _, x := range states {
			space := c.occupied(x, c.mapping.Ends)
			ended = ended || space == ""
			left = space
		}
		if ended {
			continue
		}
		why := "the log ends in the middle of a step"
		if left != "" {
			why = "the log ends, but " + left + " still holds a tuple"
		}
		last := in.last[len(in.last)-1]
		return &mismatch{in: in, observed: &observation{event: last.Event, line: last.Line}, states: in.states, why: why}
	}
	return nil
}

// contradicts describes a space that is not as a says in a state, or returns "".
func (c *Checker) contradicts(x candidate, a After) string {
	if a.Empty {
		if space := c.occupied(x, a.Spaces); space != "" {
			return space + " still holds a tuple"
		}
		return ""
	}
	for _, name := range a.Spaces {
		if c.occupied(x, []string{name}) == "" {
			return name + " holds no tuple"
		}
	}
	return ""
}

// occupied returns the first of the named spaces that has a tuple in a state; "" if none has.
func (c *Checker) occupied(x candidate, names []string) string {
	for i, s := range c.model.Spaces {
		for _, name := range names {
			if s.Name == name && len(c.walker.Content(x.state, i)) > 0 {
				return name
			}
		}
	}
	return ""
}
