package conform

import (
	"slices"
	"strconv"
	"strings"

	"leasehold/shared/trace"
)

// match is an event together with the variables that a rule binds.
type match struct {
	event  trace.Event
	line   int
	before *tupleState // the tuple before; nil if it did not exist
	old    []value
	now    []value
	bound  map[string]value // by the rule that covers the event
}

// newMatch parses the tuples of an event. A tuple that does not parse has no fields, so
// that only patterns without a tuple cover it.
func newMatch(e trace.Event, line int, before *tupleState) *match {
	s := &match{event: e, line: line, before: before}
	s.now, _ = fieldsOf(e.Tuple)
	if before != nil && before.text != e.Tuple {
		s.old, _ = fieldsOf(before.text)
	} else {
		s.old = s.now
	}
	return s
}

// covers reports whether r covers the event, and binds its variables. A restored tuple
// may be held by a process without a session.
func (r *Rule) covers(s *match) bool {
	session := s.event.Process != ""
	if r.NoSession && session || r.Copy == "process" && !session && s.event.Operation != trace.Restore {
		return false
	}
	return r.Event.covers(s)
}

// covers reports whether e covers the event, and binds its variables.
func (e *Pattern) covers(s *match) bool {
	ev := s.event
	if e.Operations[0] != "any" && !slices.Contains(e.Operations, ev.Operation) || e.Space != ev.Space {
		return false
	}
	if e.Results != nil && !slices.Contains(e.Results, ev.Result) || e.Procedures != nil && !slices.Contains(e.Procedures, ev.Procedure) {
		return false
	}
	if e.Place != "" && e.Place != s.place() || e.Role != "" && e.Role != ev.Role {
		return false
	}
	s.bound = map[string]value{
		"process": {kind: Text, text: ev.Process},
		"ref":     {kind: Number, number: ev.Ref},
	}
	if ev.Lease != "" {
		s.bound["lease"] = value{kind: Text, text: ev.Lease}
	}
	if e.Serial != "" {
		s.bound[e.Serial] = serialOf(strings.TrimPrefix(ev.Process, ev.Role+"-"))
	}
	return s.bind(e.Before, s.old) && s.bind(e.Tuple, s.now)
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
func (s *match) place() string {
	switch {
	case s.before != nil:
		return s.before.place
	case s.event.Operation == trace.Restore:
		return arrives(s.event)
	}
	return ""
}

// bind reports whether a pattern matches a tuple, and binds its variables. A nil pattern
// matches any tuple.
func (s *match) bind(pattern []Field, tuple []value) bool {
	if pattern == nil {
		return true
	}
	if len(pattern) != len(tuple) {
		return false
	}
	for i, f := range pattern {
		if !s.field(f, tuple[i]) {
			return false
		}
	}
	return true
}

// field reports whether a field of a pattern matches v. A variable matches any value at
// its first occurrence, and the same value after that.
func (s *match) field(f Field, v value) bool {
	switch f.Kind {
	case Text:
		return v.kind == Text && v.text == f.Text
	case Number:
		isBool := f.Text == "true" || f.Text == "false"
		return v.kind == Number && v.number == f.Value && (v.text != "") == isBool
	case Name:
		if b, ok := s.bound[f.Text]; ok {
			return b == v
		}
		s.bound[f.Text] = v
	}
	return true
}
