package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// AppendValue appends the value of a fact that has an encoding; for another it appends nothing.
func AppendValue(buf []byte, f journal.Fact) []byte {
	switch f := f.(type) {
	case *journal.Entry:
		return appendEntry(buf, f)
	case *journal.Space:
		return appendOptions(buf, f.Options)
	case *journal.Session:
		return append(binary.AppendVarint(buf, int64(f.TTL)), f.Key...)
	case *journal.Answer:
		// An answer is never one to VerbNext, so that its count of missed events is
		// free to hold DroppedBytes.
		reply := f.Reply
		reply.Missed = f.DroppedBytes
		return wire.AppendReply(binary.AppendUvarint(buf, f.Nth), reply)
	case journal.Token:
		return binary.AppendVarint(buf, int64(f))
	case *journal.Historic:
		for _, n := range []int64{int64(f.Clock), f.Count, f.Bytes} {
			buf = binary.AppendVarint(buf, n)
		}
		return appendText(appendText(buf, f.Key), f.Value)
	}
	return buf
}

// appendEntry appends all of an entry but its ref, which is in the key. Flags tell whether a hold
// and attributes follow. The tuple is last. The method entry of reader reads the same order.
func appendEntry(buf []byte, e *journal.Entry) []byte {
	buf = binary.AppendVarint(buf, e.Place)
	buf = appendText(buf, e.Space)
	buf = binary.AppendVarint(buf, int64(e.Deadline))
	buf = appendText(buf, e.Expiry)
	buf = appendText(buf, e.Owner)
	flags := byte(0)
	if e.Hold != nil {
		flags |= entryHeld
	}
	if e.Attributes != nil {
		flags |= entryAttributes
	}
	buf = append(buf, flags)
	if e.Hold != nil {
		buf = appendText(buf, e.Hold.Session)
		buf = binary.AppendVarint(buf, int64(e.Hold.Due))
		buf = appendText(buf, e.Hold.Expiry)
		buf = binary.AppendUvarint(buf, e.Hold.Op)
	}
	if a := e.Attributes; a != nil {
		buf = appendText(buf, a.Fields)
		buf = binary.AppendUvarint(buf, uint64(len(a.Labels)))
		for _, l := range a.Labels {
			buf = appendText(buf, l)
		}
		buf = binary.AppendVarint(buf, a.Turn)
	}
	return e.Tuple.Append(buf)
}

// The flags of an entry tell what follows.
const (
	entryHeld       = 1
	entryAttributes = 2
)

// appendOptions appends all options, in the order in which reader.options reads them.
func appendOptions(buf []byte, o space.Options) []byte {
	buf = appendText(buf, string(o.Kind))
	buf = binary.AppendVarint(buf, int64(o.OrderBy))
	buf = binary.AppendVarint(buf, int64(o.Capacity))
	buf = appendText(buf, string(o.Overflow))
	return appendBool(buf, o.Volatile)
}

func appendText(buf []byte, s string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

// appendBool appends one byte: 0 or 1.
func appendBool(buf []byte, b bool) []byte {
	if b {
		return append(buf, 1)
	}
	return append(buf, 0)
}

// Names keeps one copy of each name decoded repeatedly. The zero Names is ready. It must not be used concurrently.
type Names map[string]string

// maxNames bounds a Names. Names beyond it are copied each time.
const maxNames = 4096

// text returns b as a string: the copy that n keeps of it, or a new one. A nil n keeps none.
func (n Names) text(b []byte) string {
	if s, ok := n[string(b)]; ok {
		return s
	}
	s := string(b)
	if n != nil && len(n) < maxNames {
		n[s] = s
	}
	return s
}

// Decode returns the fact that a key and a value stand for, or nil for the Standing and the index of the history,
// which are not facts. names may be nil. The fact shares no memory with key and value. It fails with fault.ErrCorrupt
// if they do not encode a fact.
func Decode(key, value []byte, names Names) (journal.Fact, error) {
	if len(key) == 0 {
		return nil, fmt.Errorf("%w: an empty key", fault.ErrCorrupt)
	}
	f, err := decode(key[0], key[1:], &reader{data: value, names: names})
	if err != nil {
		return nil, fmt.Errorf("the fact with the key %q: %w", key, err)
	}
	return f, nil
}

// decode returns the fact of a kind, or nil if it is none. rest is the key without its
// kind, and r reads the value. The fact is valid only if there is no error, because r
// returns zeros after its first error.
func decode(kind byte, rest []byte, r *reader) (journal.Fact, error) {
	switch kind {
	case keyEntry:
		ref, err := entryRef(rest)
		if err != nil {
			return nil, err
		}
		e := r.entry(ref)
		return e, r.end()
	case keySpace:
		s := &journal.Space{Name: string(rest), Options: r.options()}
		return s, r.end()
	case keySession:
		s := &journal.Session{ID: string(rest), TTL: time.Duration(r.varint())}
		if len(r.data) > 0 { // a session may have no key
			s.Key, r.data = bytes.Clone(r.data), nil
		}
		if n := len(s.Key); n != 0 && n != sha256.Size {
			r.fail("the key of a session")
		}
		return s, r.end()
	case keyAnswer:
		op, err := answerOp(rest)
		if err != nil {
			return nil, err
		}
		return r.answer(op)
	case keyToken:
		t := journal.Token(r.varint())
		return t, r.end()
	case keyHistory:
		seq, err := entryRef(rest)
		if err != nil {
			return nil, err
		}
		h := r.historic(seq)
		return h, r.end()
	case keyStanding, keyHistoryIndex:
		return nil, nil
	}
	return nil, fmt.Errorf("%w: no kind of fact begins with %q", fault.ErrCorrupt, kind)
}

// entry reads what appendEntry appended. Go evaluates the reads of a literal in their order. The
// entry is valid only if r has no error then.
func (r *reader) entry(ref int64) *journal.Entry {
	e := &journal.Entry{
		Ref: ref, Place: r.varint(), Space: r.text(), Deadline: time.Duration(r.varint()), Expiry: r.text(), Owner: r.text(),
	}
	flags := r.flags(entryHeld | entryAttributes)
	if flags&entryHeld != 0 {
		e.Hold = &journal.Hold{Session: r.text(), Due: time.Duration(r.varint()), Expiry: r.text(), Op: r.uvarint()}
	}
	if flags&entryAttributes != 0 {
		e.Attributes = r.attributes()
	}
	if r.err == nil {
		e.Tuple, r.data, r.err = tuple.Decode(r.data)
	}
	return e
}

// historic reads what AppendValue appended of a history record. Keys and values are not kept in
// names, because each is different.
func (r *reader) historic(seq int64) *journal.Historic {
	h := &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: seq, Clock: time.Duration(r.varint())}}
	h.Count, h.Bytes, h.Key, h.Value = r.varint(), r.varint(), string(r.bytes()), string(r.bytes())
	return h
}

// attributes reads the attributes of an entry. The number of labels is checked before they are
// read, so that a damaged one takes no memory.
func (r *reader) attributes() *space.Attributes {
	a := &space.Attributes{Fields: string(r.bytes())}
	if n := r.uvarint(); n <= space.MaxLabels {
		for range n {
			a.Labels = append(a.Labels, r.text())
		}
	} else {
		r.fail("the number of labels")
	}
	a.Turn = r.varint()
	return a
}

// options reads what appendOptions appended.
func (r *reader) options() space.Options {
	return space.Options{
		Kind: space.Kind(r.text()), OrderBy: int(r.varint()), Capacity: int(r.varint()),
		Overflow: space.Overflow(r.text()), Volatile: r.boolean(),
	}
}

// answer reads the rest of the data as an answer (see AppendValue).
func (r *reader) answer(op space.OpID) (journal.Fact, error) {
	a := &journal.Answer{Op: op, Nth: r.uvarint()}
	if r.err == nil {
		a.Reply, r.err = wire.DecodeReply(r.data)
		a.DroppedBytes, a.Reply.Missed = a.Reply.Missed, 0
		r.data = nil
	}
	return a, r.end()
}
