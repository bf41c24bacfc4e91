package conform

import (
	"slices"
	"strconv"
	"strings"

	"leasehold/shared/space/trace"
)

// observation is one event of the log with the fields of its tuple. covers adds the values
// that the variables of a rule have in it.
type observation struct {
	event  trace.Event
	line   int
	timed  bool             // the log tells when holds end, and what else a lost session held
	before *tupleState      // the tuple before; nil if it did not exist
	old    []value          // fields of the tuple before; now if it did not exist
	now    []value          // fields of the tuple after
	bound  map[string]value // by variable; of the rule that was tried last, so the one that covers the event
}

// newObservation parses the tuples of an event. A tuple that does not parse has no
// fields, so that only patterns without a tuple cover it.
func newObservation(e trace.Event, line int, before *tupleState) *observation {
	o := &observation{event: e, line: line, before: before}
	o.now, _ = fieldsOf(e.Tuple)
	if before != nil && before.text != e.Tuple {
		o.old, _ = fieldsOf(before.text)
	} else {
		o.old = o.now
	}
	return o
}

// covers reports whether r covers the event, and binds its variables. A restored tuple
// may be held by a process without a session.
func (r *Rule) covers(o *observation) bool {
	session := o.event.Process != ""
	if r.NoSession && session || r.Copy == "process" && !session && o.event.Operation != trace.Restore {
		return false
	}
	return r.Event.covers(o)
}

// covers reports whether e covers the event, and binds its variables in o; after false they are not
// of use. o.bound belongs to this pattern alone: process, ref and lease are always bound, then the
// serial of the session and the names in the fields.
func (e *Pattern) covers(o *observation) bool {
	ev := o.event
	if e.Operations[0] != "any" && !slices.Contains(e.Operations, ev.Operation) || e.Space != ev.Space {
		return false
	}
	if e.Results != nil && !slices.Contains(e.Results, ev.Result) && !slices.Contains(e.Results, o.loss()) || e.Procedures != nil && !slices.Contains(e.Procedures, ev.Procedure) {
		return false
	}
	if e.Place != "" && e.Place != o.place() || e.Role != "" && e.Role != ev.Role {
		return false
	}
	o.bound = map[string]value{
		"process": {kind: Text, text: ev.Process},
		"ref":     {kind: Number, number: ev.Ref},
	}
	if ev.Lease != "" {
		o.bound["lease"] = value{kind: Text, text: ev.Lease}
	}
	if e.Serial != "" {
		o.bound[e.Serial] = serialOf(strings.TrimPrefix(ev.Process, ev.Role+"-"))
	}
	return o.bind(e.Before, o.old) && o.bind(e.Tuple, o.now)
}

// loss returns how the session of an expiry was lost, as maps name it: "beside" with other holds of that procedure,
// "alone" without; "none" if it was not, or if the log does not tell it.
func (o *observation) loss() string {
	switch {
	case o.event.Operation != trace.Expire || o.event.Result != trace.Lost || !o.timed:
		return trace.None
	case o.event.Beside > 0:
		return "beside"
	}
	return "alone"
}

// serialOf returns the rest of a session's name after its role: a number if it is one,
// otherwise text.
func serialOf(s string) value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value{kind: Number, number: n}
	}
	return value{kind: Text, text: s}
}

// place returns the place of the tuple before the event, or for a restore its place after
// it.
func (o *observation) place() string {
	switch {
	case o.before != nil:
		return o.before.place
	case o.event.Operation == trace.Restore:
		return placeAfter(o.event)
	}
	return ""
}

// bind reports whether a pattern matches a tuple, and binds its variables. A nil pattern matches
// any tuple. After false the bindings are not of use.
func (o *observation) bind(pattern []Field, tuple []value) bool {
	if pattern == nil {
		return true
	}
	if len(pattern) != len(tuple) {
		return false
	}
	for i, f := range pattern {
		if !o.bindField(f, tuple[i]) {
			return false
		}
	}
	return true
}

// bindField reports whether a field of a pattern matches v. A variable matches any value at its
// first occurrence, which binds it, and the same value after that.
func (o *observation) bindField(f Field, v value) bool {
	switch f.Kind {
	case Text:
		return v.kind == Text && v.text == f.Text
	case Number:
		isBool := f.Text == "true" || f.Text == "false"
		return v.kind == Number && v.number == f.Value && (v.text != "") == isBool
	case Name:
		if b, ok := o.bound[f.Text]; ok {
			return b == v
		}
		o.bound[f.Text] = v
	}
	return true
}
