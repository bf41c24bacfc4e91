package conform

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/tup4fun/explore"
)

// instance is one of the small logs that a log is made of: all that concerns one
// lease, one task or one session.
type instance struct {
	names   []string // "lease l1"
	numbers map[string]map[string]int64
	states  []candidate
	last    []Seen
	clock   int64 // of its last event
}

// maxLast is how many events of an instance a message shows.
const maxLast = 6

// number returns the number of a value of a variable: 1, 2, … in the order in which
// they were met, and 0 for nothing.
func (in *instance) number(variable string, v value) int64 {
	if v.nothing() {
		return 0
	}
	key := v.text
	if v.kind == Number {
		key = fmt.Sprint(v.number)
	}
	if in.numbers == nil {
		in.numbers = map[string]map[string]int64{}
	}
	if in.numbers[variable] == nil {
		in.numbers[variable] = map[string]int64{}
	}
	n, ok := in.numbers[variable][key]
	if !ok {
		n = int64(len(in.numbers[variable]) + 1)
		in.numbers[variable][key] = n
	}
	return n
}

// meaning says what the numbers of an instance stand for.
func (in *instance) meaning() (all []Meaning) {
	for variable, numbers := range in.numbers {
		for text, n := range numbers {
			all = append(all, Meaning{variable, n, text})
		}
	}
	slices.SortFunc(all, func(a, b Meaning) int {
		if c := strings.Compare(a.Variable, b.Variable); c != 0 {
			return c
		}
		return int(a.Number - b.Number)
	})
	return all
}

func (in *instance) title() string {
	if len(in.names) == 0 {
		return "the whole log"
	}
	return strings.Join(in.names, ", ")
}

// saw notes an event for messages.
func (in *instance) saw(s *sight) {
	if len(in.last) == maxLast {
		in.last = slices.Delete(in.last, 0, 1)
	}
	in.last = append(in.last, Seen{s.line, s.event})
	in.clock = int64(s.event.Clock)
}

// candidate is where the model may be: in a state, or within a step of which the
// log has shown the first deeds.
type candidate struct {
	state explore.State
	step  *step
	shown int
}

func (c candidate) within() bool { return c.step != nil }

// find returns the instance that an event is of, by the values of the variables
// that name one. Whatever else names it from now on does so too.
// One that names two contradicts itself.
func (c *Checker) find(s *sight) (*instance, error) {
	if len(c.m.Instance) == 0 {
		return c.instance(""), nil
	}
	var found *instance
	var names []string
	for _, variable := range c.m.Instance {
		v, ok := s.bound[variable]
		if !ok || v.nothing() {
			continue
		}
		name := variable + " " + v.text
		if v.kind == Number {
			name += fmt.Sprint(v.number)
		}
		names = append(names, name)
		switch other := c.named[name]; {
		case found == nil:
			found = other
		case other != nil && other != found:
			return nil, &mismatch{in: found, s: s, why: fmt.Sprintf("the event is of %s, and of %s", found.title(), other.title())}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if found == nil {
		found = c.instance(names[0])
	}
	for _, n := range names {
		if c.named[n] == nil {
			c.named[n] = found
		}
		if !slices.Contains(found.names, n) {
			found.names = append(found.names, n)
		}
	}
	return found, nil
}

// instance returns the instance of that name, which begins where the model does.
func (c *Checker) instance(name string) *instance {
	if in := c.named[name]; in != nil {
		return in
	}
	in := &instance{states: slices.Clone(c.start)}
	if name != "" {
		in.names = []string{name}
	}
	c.named[name] = in
	c.all = append(c.all, in)
	return in
}
