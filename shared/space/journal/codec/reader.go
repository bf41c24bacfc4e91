package codec

import (
	"encoding/binary"
	"fmt"

	"leasehold/shared/fault"
)

// reader reads from the front of data until the first error; then each read returns zero.
type reader struct {
	data  []byte
	names Names
	err   error
}

// fail ends the reader with fault.ErrCorrupt, unless it has an error. what names what could not be
// read. No data are left then, so that each later read fails too and returns zero.
func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", fault.ErrCorrupt, what)
	}
	r.data = nil
}

// varint reads a signed number; 0 after an error.
func (r *reader) varint() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.fail("a number")
		return 0
	}
	r.data = r.data[size:]
	return n
}

// uvarint reads an unsigned number; 0 after an error.
func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.fail("a number")
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *reader) text() string { return r.names.text(r.bytes()) }

// bytes reads a length and as many bytes, which share memory with data. A length beyond data is
// an error, and the result is nil then.
func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.data)) {
		r.fail("the length of a name")
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// flags reads a byte. It refuses any bit outside known, because this program cannot know what such a flag changes.
func (r *reader) flags(known byte) byte {
	if len(r.data) == 0 || r.data[0]&^known != 0 {
		r.fail("unknown flags")
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// boolean reads a byte, 0 or 1, and reports whether it is 1. Another is an error, because decoding and encoding again
// must yield the same bytes.
func (r *reader) boolean() bool {
	if len(r.data) == 0 || r.data[0] > 1 {
		r.fail("neither yes nor no")
		return false
	}
	b := r.data[0] == 1
	r.data = r.data[1:]
	return b
}

// end returns the first error, as fault.ErrCorrupt, or one if data are left, because a value
// must be read as a whole.
func (r *reader) end() error {
	if len(r.data) > 0 {
		r.fail("more than there should be")
	}
	if r.err != nil {
		return fmt.Errorf("%w: %w", fault.ErrCorrupt, r.err)
	}
	return nil
}
