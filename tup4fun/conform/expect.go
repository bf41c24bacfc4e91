package conform

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/tup4fun/syntax"
)

// errTooFewProcesses reports that the log has more sessions than the model has processes.
var errTooFewProcesses = errors.New("the model has too few processes")

// expect translates an event by a rule into the actions that a step of the model must
// have. It numbers the values of the event in the instance. The number 0 fits each copy of the
// process; an event without a session has it. The error is errTooFewProcesses if the number of the
// copy is above the copies of the process.
func (c *Checker) expect(r *Rule, o *observation, in *instance) (*expectation, error) {
	want := &expectation{by: r.By}
	if r.Copy != "" {
		want.number = c.valueOfVariable(r, r.Copy, o, in)
		if want.number == 0 && r.Copy != "process" {
			want.number = nowhere // because 0 would fit each copy
		}
		if n := (&resolver{model: c.model}).copies(r.By); int(want.number) > n {
			return nil, fmt.Errorf("%w: %s is number %d of %s in %s, and %s has %d: set the constant in the map, const … = %d",
				errTooFewProcesses, o.event.Process, want.number, r.By, in.title(), c.model.Program.File, n, 2*want.number)
		}
	}
	for _, a := range r.resolved {
		want.actions = append(want.actions, c.wanted(r, a, o, in))
	}
	if r.input != nil {
		input := c.wanted(r, *r.input, o, in)
		want.input = &input
	}
	return want, nil
}

// wanted translates an action of a rule, with the values of the event in the instance.
func (c *Checker) wanted(r *Rule, a resolvedAction, o *observation, in *instance) wantedAction {
	d := wantedAction{action: action{a.verb, a.space}}
	for _, f := range a.fields {
		d.values = append(d.values, c.value(r, f, o, in))
		d.free = append(d.free, f.Kind == Any)
	}
	return d
}

// nowhere is a value that occurs in no model.
const nowhere = -1 << 62

// value translates a field of an action into a value of the model.
func (c *Checker) value(r *Rule, f Field, o *observation, in *instance) int64 {
	if f.Kind != Name {
		return f.Value
	}
	return c.valueOfVariable(r, f.Text, o, in)
}

// valueOfVariable translates the value of a variable of the event into a value of the
// model: the number that the instance gives it, a number as it is, or a symbol of the
// same text. Other values, and unbound variables, are nowhere.
func (c *Checker) valueOfVariable(r *Rule, name string, o *observation, in *instance) int64 {
	v := o.bound[name]
	switch {
	case name == "process" && r.Copy == name:
		return in.internValue(r.By, v)
	case name == "process":
		return in.internValue(name, v)
	case c.mapping.Numbered[name] != "":
		return in.internValue(c.mapping.Numbered[name], v)
	case v.kind == Number:
		return v.number
	}
	if i := slices.Index(c.model.Program.Symbols, v.text); i >= 0 && v.kind == Text {
		return syntax.SymbolBase + int64(i)
	}
	return nowhere
}
