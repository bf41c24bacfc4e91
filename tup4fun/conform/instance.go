package conform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/explore"
)

// instance is the part of a log that concerns one lease, one task or one session.
type instance struct {
	names   []string // such as "lease l1"
	numbers map[string]map[string]int64
	kept    map[string]value // by variable that keeps its value
	states  []candidate
	last    []Seen
	latest  trace.Event
	awaited []After // conditions on the spaces of the model after the transaction of latest
	ended   bool    // is in follower.ended
}

// maxLast bounds the events of an instance that a message shows.
const maxLast = 6

// internValue returns the number of a value of a variable: 1, 2, … in the order of first
// occurrence, and 0 for an empty value. A new value gets the next number.
func (in *instance) internValue(variable string, v value) int64 {
	if v.isEmpty() {
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

// numberMeanings lists the values that the numbers of an instance stand for, by variable and
// number.
func (in *instance) numberMeanings() (all []Meaning) {
	for variable, numbers := range in.numbers {
		for text, n := range numbers {
			all = append(all, Meaning{variable, n, text})
		}
	}
	slices.SortFunc(all, func(a, b Meaning) int {
		return cmp.Or(strings.Compare(a.Variable, b.Variable), cmp.Compare(a.Number, b.Number))
	})
	return all
}

// title returns the names of an instance; without names it is the whole log.
func (in *instance) title() string {
	if len(in.names) == 0 {
		return "the whole log"
	}
	return strings.Join(in.names, ", ")
}

// addEvent remembers an event for messages, and its clock.
func (in *instance) addEvent(o *observation) {
	if len(in.last) == maxLast {
		in.last = slices.Delete(in.last, 0, 1)
	}
	in.last = append(in.last, Seen{o.line, o.event})
	in.latest = o.event
}

// isOver reports whether an event shows that the transaction of the instance's last event is over: the clock moved, or a
// session did something else. Expiries may come in the middle of a transaction, and have no session.
func (in *instance) isOver(e trace.Event) bool {
	if in.latest.Clock != e.Clock {
		return true
	}
	if e.Process == "" || e.Operation == trace.Expire || e.Operation == trace.Begin || e.Operation == trace.End {
		return false
	}
	return in.latest.Procedure != e.Procedure || in.latest.Process != "" && in.latest.Operation != trace.Expire && in.latest.Process != e.Process
}

// candidate is a possible position of the model: in a state, or in the middle of a step
// whose first actions the log has shown.
type candidate struct {
	state explore.State // if step is nil
	step  *step         // nil: between steps
	shown int           // number of actions of step that the log has shown
}

func (c candidate) midStep() bool { return c.step != nil }

// findInstance returns the instance of an event by the values of the variables that name
// instances. Further names in the event become names of the same instance. An event with
// the names of two instances is a mismatch. It returns nil if the event names no instance.
func (c *Checker) findInstance(o *observation) (*instance, error) {
	if len(c.mapping.Instance) == 0 {
		return c.internInstance(""), nil
	}
	var found *instance
	var names []string
	for _, variable := range c.mapping.Instance {
		v, ok := o.bound[variable]
		if !ok || v.isEmpty() {
			continue
		}
		name := c.mapping.Names[variable] + " " + v.text
		if v.kind == Number {
			name += fmt.Sprint(v.number)
		}
		names = append(names, name)
		switch other := c.named[name]; {
		case found == nil:
			found = other
		case other != nil && other != found:
			return nil, &mismatch{in: found, observed: o, why: fmt.Sprintf("the event belongs to %s and to %s", found.title(), other.title())}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if found == nil {
		found = c.internInstance(names[0])
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

// internInstance returns the instance with that name, and adds it if it is new. A new one
// begins in the first state of the model. The name is "" if the map names no instances:
// then all events belong to one.
func (c *Checker) internInstance(name string) *instance {
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
