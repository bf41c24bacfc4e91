package pspace

import (
	"errors"
	"strconv"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// outcome is how a request ended, as its client reads it.
type outcome struct {
	code    string
	message string
}

// The outcomes.
var (
	outcomeOK          = outcome{"200", "OK"}
	outcomeBadRequest  = outcome{"400", "Bad Request"}
	outcomeForbidden   = outcome{"403", "Forbidden"}
	outcomeUnavailable = outcome{"503", "Service Unavailable"}
	outcomeInternal    = outcome{"500", "Internal Server Error"}
)

// outcomeOf returns the outcome of a request that ended with err; nil is outcomeOK. An error of
// an unknown kind is outcomeInternal.
func outcomeOf(err error) outcome {
	is := func(kinds ...error) bool {
		for _, k := range kinds {
			if errors.Is(err, k) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return outcomeOK
	case is(fault.ErrForbidden):
		return outcomeForbidden
	case is(fault.ErrInvalid, fault.ErrNotFound, fault.ErrTooLarge):
		return outcomeBadRequest
	case is(fault.ErrOverloaded, fault.ErrUnavailable, fault.ErrClosed):
		return outcomeUnavailable
	}
	return outcomeInternal
}

// appendAnswer appends the answer to a request in its dialect: the tuples that it found, or the
// error. The session is as the client sent it, because the client finds its request by it.
func appendAnswer(buf []byte, r request, found []tuple.Tuple, err error) []byte {
	if r.dialect == dotSpace {
		return appendDotSpaceAnswer(buf, r, found, err)
	}
	o := outcomeOf(err)
	kind := "GET_RESPONSE"
	switch {
	case r.isPut():
		kind = "PUT_RESPONSE"
	case err != nil:
		kind = "FAILURE"
	}
	if r.dialect == spaceJS {
		o.message = spaceJSMessage(err)
	}
	buf = append(append(buf, `{"messageType":"`...), kind...)
	buf = strconv.AppendBool(append(buf, `","status":`...), err == nil)
	buf = append(append(buf, `,"statusCode":"`...), o.code...)
	buf = append(append(buf, `","statusMessage":"`...), o.message...)
	buf = append(buf, '"')
	if !r.isPut() && err == nil {
		buf = append(r.dialect.appendTuples(append(buf, `,"tuples":[`...), found), ']')
	}
	if r.session != nil {
		buf = append(append(buf, `,"clientSession":`...), r.session...)
	}
	buf = append(buf, '}')
	if r.dialect == spaceJS {
		return buf // its client counts brackets
	}
	return append(buf, '\n')
}

// spaceJSMessage returns the message of an answer in SpaceJS, whose clients know the outcome by
// it alone.
func spaceJSMessage(err error) string {
	switch {
	case err == nil:
		return "ACTION_PERFORMED"
	case errors.Is(err, fault.ErrNotFound):
		return "SPACE_NOT_EXISTING"
	}
	return outcomeOf(err).message
}

// appendTuples appends tuples with commas between them, without the brackets.
func (d dialect) appendTuples(buf []byte, found []tuple.Tuple) []byte {
	for i, t := range found {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = d.appendTuple(buf, t)
	}
	return buf
}

// appendDotSpaceAnswer appends an answer with the members of dotSpace. Result is the array of a
// tuple's fields; the operations on all matches answer with an array of such arrays. Without a
// match Result is null. An error is in Code and Message. A request whose operation is unknown has
// the action NONE.
func appendDotSpaceAnswer(buf []byte, r request, found []tuple.Tuple, err error) []byte {
	o, number, action := outcomeOf(err), 0, "NONE"
	if errors.Is(err, fault.ErrNotFound) {
		o = outcome{"404", "Not Found"}
	}
	if name, ok := dotSpaceOperation(r.action); ok {
		number, action = dotSpaceVerbs[name].number+responseOffset, name+"_RESPONSE"
	}
	buf = strconv.AppendInt(append(buf, `{"Actiontype":`...), int64(number), 10)
	buf = append(append(append(buf, `,"Action":"`...), action...), `","Source":"","Session":`...)
	if r.session != nil {
		buf = append(buf, r.session...)
	} else {
		buf = append(buf, `""`...)
	}
	buf = appendText(append(buf, `,"Target":`...), r.target)
	buf = append(append(buf, `,"Code":`...), o.code...)
	buf = appendText(append(buf, `,"Message":`...), o.message)
	buf = append(buf, `,"Result":`...)
	switch {
	case err == nil && (r.verb == space.VerbGetAll || r.verb == space.VerbQueryAll):
		buf = append(dotSpace.appendTuples(append(buf, '['), found), ']')
	case len(found) == 1:
		buf = dotSpace.appendTuple(buf, found[0])
	default:
		buf = append(buf, "null"...)
	}
	return append(buf, '}', '\n')
}
