package wire

import (
	"fmt"

	"leasehold/shared/space"
)

// The fields of a reply.
const (
	replyFound        = 1
	replyTuple        = 2
	replyTuples       = 3 // each
	replyCount        = 4
	replyInfos        = 5 // each
	replyEvents       = 6 // each
	replyMissed       = 7
	replySubscription = 8
)

// The fields of the description of a space.
const (
	infoName    = 1
	infoOptions = 2
	infoVisible = 3
	infoHeld    = 4
)

// The fields of an event.
const (
	eventChange    = 1
	eventSpace     = 2
	eventProcedure = 3
	eventTuple     = 4
)

// AppendReply appends a reply's body to buf. Its tuples must be valid, as an
// engine's are.
func AppendReply(buf []byte, r space.Reply) []byte {
	b := body(buf)
	b.boolean(replyFound, r.Found)
	if r.Tuple != nil {
		b.tuple(replyTuple, r.Tuple)
	}
	for _, t := range r.Tuples {
		b.tuple(replyTuples, t)
	}
	b.integer(replyCount, int64(r.Count))
	for _, i := range r.Infos {
		b.bytes(replyInfos, appendInfo(nil, i))
	}
	for _, e := range r.Events {
		b.bytes(replyEvents, appendEvent(nil, e))
	}
	b.integer(replyMissed, int64(r.Missed))
	b.integer(replySubscription, r.Subscription)
	return b
}

// DecodeReply decodes the body of a reply.
func DecodeReply(data []byte) (space.Reply, error) {
	var r space.Reply
	err := fields(data, func(tag uint64, content []byte) error { return replyField(&r, tag, content) })
	if err != nil {
		return space.Reply{}, fmt.Errorf("reply: %w", err)
	}
	return r, nil
}

func replyField(r *space.Reply, tag uint64, content []byte) (err error) {
	switch tag {
	case replyFound:
		err = boolean(content, &r.Found)
	case replyTuple:
		r.Tuple, err = decodeTuple(content)
	case replyTuples:
		err = each(&r.Tuples, content, decodeTuple)
	case replyCount:
		err = count(content, &r.Count)
	case replyInfos:
		err = each(&r.Infos, content, decodeInfo)
	case replyEvents:
		err = each(&r.Events, content, decodeEvent)
	case replyMissed:
		err = count(content, &r.Missed)
	case replySubscription:
		err = integer(content, &r.Subscription)
	}
	return err
}

// each decodes one of several elements.
func each[T any](into *[]T, content []byte, decode func([]byte) (T, error)) error {
	v, err := decode(content)
	*into = append(*into, v)
	return err
}

func appendInfo(buf []byte, i space.Info) []byte {
	b := body(buf)
	b.text(infoName, i.Name)
	b.bytes(infoOptions, appendOptions(nil, i.Options))
	b.integer(infoVisible, int64(i.Visible))
	b.integer(infoHeld, int64(i.Held))
	return b
}

func decodeInfo(data []byte) (i space.Info, err error) {
	err = fields(data, func(tag uint64, content []byte) (err error) {
		switch tag {
		case infoName:
			err = name(content, &i.Name)
		case infoOptions:
			i.Options, err = decodeOptions(content)
		case infoVisible:
			err = count(content, &i.Visible)
		case infoHeld:
			err = count(content, &i.Held)
		}
		return err
	})
	return i, err
}

func appendEvent(buf []byte, e space.Event) []byte {
	b := body(buf)
	b.text(eventChange, string(e.Change))
	b.text(eventSpace, e.Space)
	b.text(eventProcedure, e.Procedure)
	b.tuple(eventTuple, e.Tuple)
	return b
}

func decodeEvent(data []byte) (e space.Event, err error) {
	err = fields(data, func(tag uint64, content []byte) (err error) {
		switch tag {
		case eventChange:
			err = name(content, &e.Change)
		case eventSpace:
			err = name(content, &e.Space)
		case eventProcedure:
			err = name(content, &e.Procedure)
		case eventTuple:
			e.Tuple, err = decodeTuple(content)
		}
		return err
	})
	return e, err
}
