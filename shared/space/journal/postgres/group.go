package postgres

import (
	"encoding/binary"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// A row of the log is the changes of one commit, in order, one after the other: the kind, the length of the key, the
// key, and for a put the length of the value and the value.

// kind is what a change does.
type kind byte

const (
	put       kind = '+' // the fact with the key has the value
	remove    kind = '-' // there is no fact with the key
	removeAll kind = '*' // there is no answer of the session: the key is that of codec.AppendAnswersKey
)

// change is one change of the facts.
type change struct {
	kind       kind
	key, value []byte
}

// appendFact appends the changes that a fact makes. A record of the history makes none, because it has a table of its
// own.
func appendFact(buf []byte, f journal.Fact) []byte {
	var key [300]byte
	switch f := f.(type) {
	case journal.Gone:
		return appendChange(buf, change{kind: remove, key: codec.AppendEntryKey(key[:0], int64(f))})
	case journal.Deleted:
		return appendChange(buf, change{kind: remove, key: codec.AppendSpaceKey(key[:0], string(f))})
	case journal.Forgotten:
		return appendChange(buf, change{kind: remove, key: codec.AppendAnswerKey(key[:0], space.OpID(f))})
	case journal.Ended:
		buf = appendChange(buf, change{kind: remove, key: codec.AppendSessionKey(key[:0], string(f))})
		return appendChange(buf, change{kind: removeAll, key: codec.AppendAnswersKey(key[:0], string(f))})
	case *journal.Historic:
		return buf
	}
	return appendChange(buf, change{put, codec.AppendKey(key[:0], f), codec.AppendValue(nil, f)})
}

func appendChange(buf []byte, c change) []byte {
	buf = append(buf, byte(c.kind))
	buf = append(binary.AppendUvarint(buf, uint64(len(c.key))), c.key...)
	if c.kind == put {
		buf = append(binary.AppendUvarint(buf, uint64(len(c.value))), c.value...)
	}
	return buf
}

// eachChange calls do with the changes of a row, which share its memory. It fails with fault.ErrCorrupt if row is not
// what appendChange appended.
func eachChange(row []byte, do func(change)) error {
	for len(row) > 0 {
		c := change{kind: kind(row[0])}
		if c.kind != put && c.kind != remove && c.kind != removeAll {
			return fmt.Errorf("%w: a change of the unknown kind %q", fault.ErrCorrupt, row[0])
		}
		var ok bool
		c.key, row, ok = cutBytes(row[1:])
		if ok && c.kind == put {
			c.value, row, ok = cutBytes(row)
		}
		if !ok {
			return fmt.Errorf("%w: the length of a key or of a value", fault.ErrCorrupt)
		}
		do(c)
	}
	return nil
}

// cutBytes reads a length and as many bytes from the front of data. It reports false if data has less, or if another
// length has the same meaning.
func cutBytes(data []byte) (front, rest []byte, ok bool) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) || size > 1 && data[size-1] == 0 {
		return nil, nil, false
	}
	data = data[size:]
	return data[:n:n], data[n:], true
}
