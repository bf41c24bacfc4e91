package pspace

import (
	"bytes"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// dialect is a variant of the protocol. It shows in each request.
type dialect byte

const (
	jSpace   dialect = iota // also SwiftSpace
	spaceJS                 // a numeric session, or actuals without a type
	dotSpace                // Action in place of messageType
)

// request is one decoded request.
type request struct {
	dialect dialect
	session []byte // JSON, as the client sent it; nil if it sent none
	action  string // messageType, or Action
	verb    space.Verb
	target  string
	tuple   tuple.Tuple
	pattern interop.Pattern
}

// isPut reports whether the request is a put.
func (r request) isPut() bool { return r.verb == space.VerbPut }

// wire is a request as it stands in its message.
type wire struct {
	action, target           string
	isDotSpace               bool
	session, tuple, template []byte // JSON; nil if absent
	blocking, all            bool
}

// decodeRequest reads a request. It is errMalformed if the message is not JSON. With any other error,
// fault.ErrInvalid or fault.ErrTooLarge, the request has the session, so that the client gets an
// answer.
func decodeRequest(data []byte) (request, error) {
	w, err := readWire(&scanner{data: data})
	if err != nil {
		return request{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	r := request{dialect: w.dialect(), session: w.session, action: w.action, target: w.target}
	if r.verb, err = w.verb(); err != nil {
		return r, err
	}
	content := w.template
	if r.isPut() {
		content = w.tuple
	}
	if content == nil {
		return r, fmt.Errorf("%.40q: %w: want a tuple or a template", w.action, fault.ErrInvalid)
	}
	if r.isPut() {
		r.tuple, err = r.dialect.readTuple(&scanner{data: content})
	} else {
		r.pattern, err = r.dialect.readTemplate(&scanner{data: content})
	}
	return r, err
}

// errMalformed means that a message is not JSON, so that nothing that follows it can be
// read.
var errMalformed = fmt.Errorf("malformed message: %w", fault.ErrInvalid)

// readWire reads the members that the dialects have, and skips all others. A text that is another value, and a
// null, count as absent; a truth is false unless it is true.
func readWire(s *scanner) (w wire, err error) {
	err = s.readObject(func(key string) (err error) {
		text := func(to *string) error {
			if s.peek() != '"' {
				_, err := s.readRaw()
				return err
			}
			value, err := s.readText()
			*to = value
			return err
		}
		truth := func(to *bool) error {
			raw, err := s.readRaw()
			*to = string(raw) == "true"
			return err
		}
		raw := func(to *[]byte) error {
			value, err := s.readRaw()
			if string(value) != "null" {
				*to = value
			}
			return err
		}
		switch key {
		case "messageType":
			return text(&w.action)
		case "Action":
			w.isDotSpace = true
			return text(&w.action)
		case "target", "Target":
			return text(&w.target)
		case "clientSession", "Session":
			return raw(&w.session)
		case "tuple", "Tuple":
			return raw(&w.tuple)
		case "template", "Template":
			return raw(&w.template)
		case "blocking":
			return truth(&w.blocking)
		case "all":
			return truth(&w.all)
		}
		_, err = s.readRaw()
		return err
	})
	if err == nil && s.peek() != 0 {
		err = errNotJSON(s.pos)
	}
	return w, err
}

// dialect returns the dialect of a request, by what only that dialect writes; without any of
// that it is jSpace.
func (w wire) dialect() dialect {
	switch {
	case w.isDotSpace:
		return dotSpace
	case len(w.session) > 0 && w.session[0] != '"', hasBareActual(w.template):
		return spaceJS
	}
	return jSpace
}

// hasBareActual reports whether a template has an actual without a type, as only SpaceJS writes
// it. Most templates have no actual, so the word false is searched first.
func hasBareActual(template []byte) bool {
	if !bytes.Contains(template, []byte("false")) {
		return false
	}
	bare := false
	s := scanner{data: template}
	_ = s.readArray(func() error { // the array was read before
		isFormal, value := false, byte(0)
		err := s.readObject(func(key string) error {
			first := s.peek()
			raw, err := s.readRaw()
			switch key {
			case "formal":
				isFormal = string(raw) == "true"
			case "value":
				value = first
			}
			return err
		})
		switch value { // the first byte
		case '{', '[', 'n', 0: // typed, an array, null or absent
		default:
			bare = bare || !isFormal
		}
		return err
	})
	return bare
}

// dotSpaceVerbs are the operations of dotSpace by their names without _REQUEST, and the
// number of the request's Actiontype, which for a response is higher by responseOffset.
var dotSpaceVerbs = map[string]struct {
	verb   space.Verb
	number int
}{
	"GET": {space.VerbGet, 1}, "GETP": {space.VerbGetP, 2}, "GETALL": {space.VerbGetAll, 3},
	"QUERY": {space.VerbQuery, 4}, "QUERYP": {space.VerbQueryP, 5}, "QUERYALL": {space.VerbQueryAll, 6}, "PUT": {space.VerbPut, 7},
}

const responseOffset = 7

// verb returns what a request asks for: in dotSpace the operation alone tells, else all and blocking too.
func (w wire) verb() (space.Verb, error) {
	if w.isDotSpace {
		if name, ok := dotSpaceOperation(w.action); ok {
			return dotSpaceVerbs[name].verb, nil
		}
		return 0, errUnknownAction(w.action)
	}
	choose := func(all, waits, atOnce space.Verb) space.Verb {
		switch {
		case w.all:
			return all
		case w.blocking:
			return waits
		}
		return atOnce
	}
	switch w.action {
	case "PUT_REQUEST":
		return space.VerbPut, nil
	case "GET_REQUEST":
		return choose(space.VerbGetAll, space.VerbGet, space.VerbGetP), nil
	case "QUERY_REQUEST":
		return choose(space.VerbQueryAll, space.VerbQuery, space.VerbQueryP), nil
	}
	return 0, errUnknownAction(w.action)
}

// dotSpaceOperation returns the name of a request without its end, and reports whether it is one
// of dotSpaceVerbs.
func dotSpaceOperation(action string) (name string, ok bool) {
	const end = "_REQUEST"
	if len(action) <= len(end) || action[len(action)-len(end):] != end {
		return "", false
	}
	name = action[:len(action)-len(end)]
	_, ok = dotSpaceVerbs[name]
	return name, ok
}

func errUnknownAction(action string) error {
	return fmt.Errorf("unknown operation %.40q: %w: want a PUT_REQUEST, GET_REQUEST or QUERY_REQUEST", action, fault.ErrInvalid)
}
