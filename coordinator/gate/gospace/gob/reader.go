package gob

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"leasehold/shared/fault"
)

// Limits of one stream.
const (
	maxTypes  = 1_000  // definitions
	maxFields = 10_000 // of all definitions
	maxDepth  = 100    // values within each other
	chunk     = 32 << 10
)

// A Reader reads one stream. After the first error, which Err returns, it reads zeros.
type Reader struct {
	src     *bufio.Reader
	left    int               // bytes that may still come
	reserve func(int64) error // called before memory is taken; nil: no limit
	buf     []byte            // the rest of the message
	types   map[int64]*Type   // by number
	fields  int               // of all types
	err     error
}

// NewReader returns a reader of a stream of at most limit bytes. It calls reserve, if not nil, with each number
// of bytes that it is about to take for messages. Reading fails with fault.ErrTooLarge for a longer stream, and
// with fault.ErrInvalid for a malformed one; errors of src and of reserve are returned as they are.
func NewReader(src io.Reader, limit int, reserve func(int64) error) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, 1<<10), left: limit, reserve: reserve, types: map[int64]*Type{}}
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail ends the reader with an error, unless it has one. All later reads return zeros, because
// nothing is left to read.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.buf = nil
}

// invalid ends the reader with fault.ErrInvalid and a reason.
func (r *Reader) invalid(format string, args ...any) {
	r.Fail(fmt.Errorf("gob: "+format+": %w", append(args, fault.ErrInvalid)...))
}

// nextMessage reads a message into buf, in chunks that double, so that memory is taken only as bytes arrive,
// however long the message is announced to be.
func (r *Reader) nextMessage() {
	n := r.readLength()
	if r.err != nil {
		return
	}
	if n > uint64(r.left) {
		r.Fail(fmt.Errorf("gob: a message of %d bytes: %w: %d are left of the limit", n, fault.ErrTooLarge, r.left))
		return
	}
	r.left -= int(n)
	var message []byte
	for size := 0; size < int(n); size = len(message) {
		more := min(max(chunk, size), int(n)-size)
		if r.reserve != nil {
			if err := r.reserve(int64(more)); err != nil {
				r.Fail(err)
				return
			}
		}
		message = append(message, make([]byte, more)...)
		if _, err := io.ReadFull(r.src, message[size:]); err != nil {
			r.Fail(noEOF(err))
			return
		}
	}
	r.buf = message
}

// noEOF returns io.ErrUnexpectedEOF for io.EOF, because the end is within a message.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readLength reads the length of a message from the stream, as Uint reads a number from a
// message. The end of the stream before it is io.EOF, within it io.ErrUnexpectedEOF. The bytes
// behind the first count towards the limit of the stream. After an error it returns 0.
func (r *Reader) readLength() uint64 {
	first, err := r.src.ReadByte()
	if err != nil {
		r.Fail(err)
		return 0
	}
	size := countOf(first)
	if size == 0 {
		return uint64(first)
	}
	if size > 8 || r.left < size {
		r.invalid("a length of %d bytes", size)
		return 0
	}
	r.left -= size
	n := uint64(0)
	for range size {
		b, err := r.src.ReadByte()
		if err != nil {
			r.Fail(noEOF(err))
			return 0
		}
		n = n<<8 | uint64(b)
	}
	return n
}

// countOf returns how many bytes follow the first byte of a number, which is their negated
// count; 0 if the first byte is the number, as below 128.
func countOf(first byte) int {
	if first < 0x80 {
		return 0
	}
	return -int(int8(first))
}

// Uint reads an unsigned integer; 0 after an error. It is one byte below 128, or the negated
// number of the bytes that follow, at most 8, the highest first.
func (r *Reader) Uint() uint64 {
	if len(r.buf) == 0 {
		r.invalid("a value that ends too early")
		return 0
	}
	first := r.buf[0]
	size := countOf(first)
	if size == 0 {
		r.buf = r.buf[1:]
		return uint64(first)
	}
	if size > 8 || len(r.buf) <= size {
		r.invalid("an integer of %d bytes", size)
		return 0
	}
	n := uint64(0)
	for _, b := range r.buf[1 : 1+size] {
		n = n<<8 | uint64(b)
	}
	r.buf = r.buf[1+size:]
	return n
}

// Int reads a signed integer; 0 after an error. Its lowest bit tells whether the other bits are
// inverted.
func (r *Reader) Int() int64 {
	n := r.Uint()
	if n&1 != 0 {
		return ^int64(n >> 1)
	}
	return int64(n >> 1)
}

// Float reads a floating-point number.
func (r *Reader) Float() float64 { return math.Float64frombits(bits.ReverseBytes64(r.Uint())) }

// Bytes reads bytes or a string: their length and then they themselves; nil after an error. They
// are valid until the next message, whose buffer they share.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n > uint64(len(r.buf)) {
		r.invalid("%d bytes where %d are left", n, len(r.buf))
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

// Count reads the number of elements of a slice, array or map. Each takes at least a byte, so a
// number above the bytes that may still come is an error.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.buf)+r.left) { // each takes at least a byte
		r.invalid("%d elements where %d bytes are left", n, len(r.buf)+r.left)
		return 0
	}
	return int(n)
}

// Struct calls field with the number of each field that a struct has; field must read it. The
// encoding has the difference of each number to the one before, and 0 at the end.
func (r *Reader) Struct(field func(n int)) {
	for n := -1; r.err == nil; {
		delta := r.Uint()
		if delta == 0 {
			return
		}
		if delta > maxFields || n+int(delta) >= maxFields {
			r.invalid("field %d", delta)
			return
		}
		n += int(delta)
		field(n)
	}
}

// Value reads definitions up to the next value of the stream, and returns the number of its
// type; 0 after an error. A definition is a message of its own, and its number is negated. The
// caller reads the value, which follows, by its type.
func (r *Reader) Value() int64 {
	r.nextMessage()
	for r.err == nil {
		id := r.Int()
		if id >= 0 {
			return r.skipLeadingZero(id)
		}
		r.define(-id)
		if len(r.buf) > 0 {
			r.invalid("%d bytes after a definition", len(r.buf))
		}
		r.nextMessage()
	}
	return 0
}

// Interface reads the head of a value of an interface type: the name of the type of its value,
// empty for nil, and the number of that type, 0 after an error. Definitions may precede the
// number, in this message or in messages of their own. Its value follows, unless it is nil.
func (r *Reader) Interface() (name string, id int64) {
	name = string(r.Bytes())
	if name == "" {
		return "", 0
	}
	for r.err == nil {
		if len(r.buf) == 0 {
			r.nextMessage()
		}
		id = r.Int()
		if id >= 0 {
			r.Uint() // the length of the value
			return name, r.skipLeadingZero(id)
		}
		r.define(-id)
		if len(r.buf) > 0 {
			r.Uint() // the length of the next definition or of the value's head
		}
	}
	return name, 0
}

// skipLeadingZero reads the 0 before a value of type id, any but a struct, and returns id. Another number is an
// error.
func (r *Reader) skipLeadingZero(id int64) int64 {
	if r.Type(id).Kind != Struct && r.err == nil && r.Uint() != 0 {
		r.invalid("a value of type %d without its 0", id)
	}
	return id
}
