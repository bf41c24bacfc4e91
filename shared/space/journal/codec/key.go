package codec

import (
	"encoding/binary"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// The first byte of a key.
const (
	keyAnswer   = 'a'
	keyEntry    = 'e'
	keySession  = 'l' // alive
	keySpace    = 's'
	keyStanding = 'p' // position
	keyToken    = 't'

	// The keys of the history are behind all others.
	keyHistory      = 'x'
	keyHistoryIndex = 'y'
)

// AppendEntryKey appends the key of the tuple with that ref. Refs are not
// negative, and keys are in their order.
func AppendEntryKey(buf []byte, ref int64) []byte {
	return binary.BigEndian.AppendUint64(append(buf, keyEntry), uint64(ref))
}

// AppendSpaceKey appends the key of a space.
func AppendSpaceKey(buf []byte, name string) []byte { return append(append(buf, keySpace), name...) }

// AppendSessionKey appends the key of a session.
func AppendSessionKey(buf []byte, id string) []byte { return append(append(buf, keySession), id...) }

// AppendAnswersKey appends what the keys of all answers to a session begin with,
// and no other key does.
func AppendAnswersKey(buf []byte, session string) []byte {
	buf = binary.AppendUvarint(append(buf, keyAnswer), uint64(len(session)))
	return append(buf, session...)
}

// AppendAnswerKey appends the key of the answer to an operation.
func AppendAnswerKey(buf []byte, op space.OpID) []byte {
	return binary.BigEndian.AppendUint64(AppendAnswersKey(buf, op.Session), op.Seq)
}

// StandingKey returns the key of where the journal stands.
func StandingKey() []byte { return []byte{keyStanding} }

// HistoryKeys returns the first key of the history's records, and the first key behind them.
// All keys of the state are before the first one.
func HistoryKeys() (first, behind []byte) { return []byte{keyHistory}, []byte{keyHistory + 1} }

// AppendHistoryKey appends the key of a history record; the keys are in the order of Seq.
func AppendHistoryKey(buf []byte, seq int64) []byte {
	return binary.BigEndian.AppendUint64(append(buf, keyHistory), uint64(seq))
}

// AppendHistoryIndexKeys appends what the index keys of all history records with a key begin
// with, and no other key does. The position of the record follows (AppendHistoryIndexKey).
func AppendHistoryIndexKeys(buf []byte, key string) []byte {
	buf = binary.AppendUvarint(append(buf, keyHistoryIndex), uint64(len(key)))
	return append(buf, key...)
}

// AppendHistoryIndexKey appends the key under which a history record is found by its own key.
// It has no value.
func AppendHistoryIndexKey(buf []byte, key string, seq int64) []byte {
	return binary.BigEndian.AppendUint64(AppendHistoryIndexKeys(buf, key), uint64(seq))
}

// HistoryIndexSeq returns the position at the end of a key that AppendHistoryIndexKey made.
func HistoryIndexSeq(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[len(key)-8:])) }

// AppendKey appends the key of a fact that has an encoding; for another it appends nothing.
// Facts of different subjects have different keys.
func AppendKey(buf []byte, f journal.Fact) []byte {
	switch f := f.(type) {
	case *journal.Entry:
		return AppendEntryKey(buf, f.Ref)
	case *journal.Space:
		return AppendSpaceKey(buf, f.Name)
	case *journal.Session:
		return AppendSessionKey(buf, f.ID)
	case *journal.Answer:
		return AppendAnswerKey(buf, f.Op)
	case journal.Token:
		return append(buf, keyToken)
	case *journal.Historic:
		return AppendHistoryKey(buf, f.Seq)
	}
	return buf
}

// entryRef reads the rest of the key of an entry or of a history record: its ref or its seq.
func entryRef(rest []byte) (int64, error) {
	if len(rest) != 8 {
		return 0, fmt.Errorf("%w: the key of a tuple or of a history record has %d bytes", fault.ErrCorrupt, len(rest))
	}
	ref := int64(binary.BigEndian.Uint64(rest))
	if ref < 0 {
		return 0, fmt.Errorf("%w: a tuple with ref %d", fault.ErrCorrupt, ref)
	}
	return ref, nil
}

// answerOp reads the rest of an answer's key: the session, and 8 bytes of its sequence number.
func answerOp(rest []byte) (space.OpID, error) {
	r := reader{data: rest}
	op := space.OpID{Session: r.text()}
	if r.err == nil && len(r.data) == 8 {
		op.Seq = binary.BigEndian.Uint64(r.data)
		return op, nil
	}
	return space.OpID{}, fmt.Errorf("%w: the key of an answer", fault.ErrCorrupt)
}

// AnswersOf returns what AppendAnswersKey appended for the session of an answer, from the key of the answer; nil for any
// other key.
func AnswersOf(key []byte) []byte {
	if len(key) < 9 || key[0] != keyAnswer {
		return nil
	}
	return key[:len(key)-8]
}
