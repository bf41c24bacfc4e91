package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"leasehold/shared/space"
)

// The fields of a request.
const (
	requestVerb         = 1
	requestSession      = 2 // of the operation id
	requestSeq          = 3
	requestSpace        = 4
	requestTuple        = 5
	requestTemplate     = 6
	requestTTL          = 7 // nanoseconds
	requestProcedure    = 8
	requestOptions      = 9
	requestSubscription = 10
	requestAck          = 11
	requestRecent       = 12
	requestArgs         = 13
	requestAcknowledged = 14 // each
)

// The fields of options.
const (
	optionsKind     = 1
	optionsOrderBy  = 2
	optionsCapacity = 3
	optionsOverflow = 4
	optionsVolatile = 5
)

// AppendRequest appends a request's body to buf. A tuple, a template or a name
// that no engine would accept is fault.ErrInvalid.
func AppendRequest(buf []byte, r space.Request) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return buf, err
	}
	b := body(buf)
	b.natural(requestVerb, uint64(r.Verb))
	b.text(requestSession, r.Op.Session)
	b.natural(requestSeq, r.Op.Seq)
	b.text(requestSpace, r.Space)
	if r.Tuple != nil {
		b.tuple(requestTuple, r.Tuple)
	}
	if r.Template != nil {
		b.bytes(requestTemplate, r.Template.Append(nil))
	}
	b.integer(requestTTL, int64(r.TTL))
	b.text(requestProcedure, r.Procedure)
	if r.Args != nil {
		b.tuple(requestArgs, r.Args)
	}
	if r.Options != (space.Options{}) {
		b.bytes(requestOptions, appendOptions(nil, r.Options))
	}
	b.integer(requestSubscription, r.Subscription)
	b.boolean(requestAck, r.Ack)
	b.boolean(requestRecent, r.Recent)
	for _, seq := range r.Acknowledged {
		b.bytes(requestAcknowledged, binary.AppendUvarint(nil, seq))
	}
	return b, nil
}

// DecodeRequest decodes the body of a request.
func DecodeRequest(data []byte) (space.Request, error) {
	var r space.Request
	err := fields(data, func(tag uint64, content []byte) error { return requestField(&r, tag, content) })
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return space.Request{}, fmt.Errorf("request: %w", err)
	}
	return r, nil
}

func requestField(r *space.Request, tag uint64, content []byte) (err error) {
	switch tag {
	case requestVerb:
		var v uint64
		v, err = natural(content, math.MaxUint8)
		r.Verb = space.Verb(v)
	case requestSession:
		err = name(content, &r.Op.Session)
	case requestSeq:
		r.Op.Seq, err = decodeSeq(content)
	case requestSpace:
		err = name(content, &r.Space)
	case requestTuple:
		r.Tuple, err = decodeTuple(content)
	case requestTemplate:
		err = decodeTemplate(content, &r.Template)
	case requestTTL:
		err = integer(content, &r.TTL)
	case requestProcedure:
		err = name(content, &r.Procedure)
	case requestOptions:
		r.Options, err = decodeOptions(content)
	case requestSubscription:
		err = integer(content, &r.Subscription)
	case requestAck:
		err = boolean(content, &r.Ack)
	case requestRecent:
		err = boolean(content, &r.Recent)
	case requestArgs:
		r.Args, err = decodeTuple(content)
	case requestAcknowledged:
		err = each(&r.Acknowledged, content, decodeSeq)
	}
	return err
}

func appendOptions(buf []byte, o space.Options) []byte {
	b := body(buf)
	b.text(optionsKind, string(o.Kind))
	b.integer(optionsOrderBy, int64(o.OrderBy))
	b.integer(optionsCapacity, int64(o.Capacity))
	b.text(optionsOverflow, string(o.Overflow))
	b.boolean(optionsVolatile, o.Volatile)
	return b
}

func decodeOptions(data []byte) (space.Options, error) {
	var o space.Options
	err := fields(data, func(tag uint64, content []byte) error {
		switch tag {
		case optionsKind:
			return name(content, &o.Kind)
		case optionsOrderBy:
			return integer(content, &o.OrderBy)
		case optionsCapacity:
			return integer(content, &o.Capacity)
		case optionsOverflow:
			return name(content, &o.Overflow)
		case optionsVolatile:
			return boolean(content, &o.Volatile)
		}
		return nil
	})
	return o, err
}
