package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// coder writes or reads the fields of a message, so that each message lists its fields
// once, for both directions. A coder that writes appends every field of the list that
// does not have its zero value. A coder that reads sets a field of the list if the
// current field of the data has its tag, and moves to the next field of the data:
//
//	for c.more() {
//		c.request(&r)
//	}
//
// So one pass over the list reads all fields that are in the order of the list. Other
// orders need further passes; a field that a whole pass did not read is unknown, and
// skipped.
type coder struct {
	out []byte // writing: the body so far

	reading bool
	current bool   // there is a current field, with tag and content
	passed  bool   // a pass over the list has begun since the field became current
	tag     uint64 // of the current field
	content []byte
	rest    []byte // the data after it
	err     error  // the first error; no more is read then
}

// reader returns a coder that reads data; its first field is current.
func reader(data []byte) coder {
	c := coder{reading: true, rest: data}
	c.advance()
	return c
}

// more reports whether another pass over the list is needed. A field that was current during a
// whole pass is unknown, and is skipped. When it returns false, err is set if the data were
// malformed.
func (c *coder) more() bool {
	if c.current && c.passed {
		c.advance()
	}
	c.passed = true
	return c.current
}

// advance makes the next field of the data the current one. At the end of the data there is
// none, and neither for malformed data, which set err.
func (c *coder) advance() {
	c.current, c.passed = false, false
	if len(c.rest) == 0 {
		return
	}
	tag, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.err = malformed("a tag")
		return
	}
	c.rest = c.rest[n:]
	size, n := binary.Uvarint(c.rest)
	if n <= 0 || size > uint64(len(c.rest)-n) {
		c.err = malformed("the length of field %d", tag)
		return
	}
	c.current, c.tag, c.content, c.rest = true, tag, c.rest[n:n+int(size)], c.rest[n+int(size):]
}

// is reports whether the current field is to be read as the field of that tag; then done
// must be called.
func (c *coder) is(tag uint64) bool { return c.current && c.tag == tag }

// done ends the reading of the current field: after an error no more is read, otherwise the next field is current.
func (c *coder) done(err error) {
	if err != nil {
		c.err, c.current = fmt.Errorf("field %d: %w", c.tag, err), false
		return
	}
	c.advance()
}

// malformed returns a fault.ErrInvalid that names what could not be read.
func malformed(format string, args ...any) error {
	return fmt.Errorf("malformed: %s: %w", fmt.Sprintf(format, args...), fault.ErrInvalid)
}

// writeHead writes the tag and the length of a field, whose content must follow.
func (c *coder) writeHead(tag uint64, size int) {
	c.out = binary.AppendUvarint(binary.AppendUvarint(c.out, tag), uint64(size))
}

// write writes a field, even an empty one.
func (c *coder) write(tag uint64, content []byte) {
	c.writeHead(tag, len(content))
	c.out = append(c.out, content...)
}

// integer is a signed number.
func integer[T ~int | ~int64](c *coder, tag uint64, v *T) { signed(c, tag, v, math.MinInt64) }

// count is a number of at least 0.
func (c *coder) count(tag uint64, v *int) { signed(c, tag, v, 0) }

// signed is a signed number of at least lowest. A reader refuses a lower one, one that T cannot have, and one
// followed by other bytes.
func signed[T ~int | ~int64](c *coder, tag uint64, v *T, lowest int64) {
	if !c.reading && *v != 0 {
		var content [binary.MaxVarintLen64]byte
		c.write(tag, binary.AppendVarint(content[:0], int64(*v)))
	} else if c.is(tag) {
		n, size := binary.Varint(c.content)
		isWhole, fitsT := size > 0 && size == len(c.content), int64(T(n)) == n
		if !isWhole || !fitsT || n < lowest {
			c.done(malformed("an integer"))
			return
		}
		*v = T(n)
		c.done(nil)
	}
}

// natural is an unsigned number; 0 is not written. A reader refuses one that T cannot have with
// fault.ErrInvalid.
func natural[T ~uint8 | ~uint64](c *coder, tag uint64, v *T) {
	if !c.reading && *v != 0 {
		var content [binary.MaxVarintLen64]byte
		c.write(tag, binary.AppendUvarint(content[:0], uint64(*v)))
	} else if c.is(tag) {
		highest := ^T(0)
		*v = T(c.readNatural(uint64(highest)))
	}
}

// readNatural reads the current field as a number of at most highest, and ends it; 0 after an error.
func (c *coder) readNatural(highest uint64) uint64 {
	n, size := binary.Uvarint(c.content)
	if size <= 0 || size != len(c.content) || n > highest {
		c.done(malformed("a number"))
		return 0
	}
	c.done(nil)
	return n
}

// boolean is true, or absent; a reader accepts 0 too.
func (c *coder) boolean(tag uint64, v *bool) {
	if !c.reading && *v {
		c.write(tag, []byte{1})
	} else if c.is(tag) {
		*v = c.readNatural(1) == 1
	}
}

// naturals are unsigned numbers, a field each, also a 0. A reader appends successive ones.
func (c *coder) naturals(tag uint64, v *[]uint64) {
	if !c.reading {
		for _, n := range *v {
			c.write(tag, binary.AppendUvarint(nil, n))
		}
	}
	for c.is(tag) {
		*v = append(*v, c.readNatural(math.MaxUint64))
	}
}

// text is a string of at most limit bytes. Only readers check the limit. An empty one is not written.
func text[T ~string](c *coder, tag uint64, v *T, limit int) {
	if !c.reading && *v != "" {
		c.writeHead(tag, len(*v))
		c.out = append(c.out, *v...)
	} else if c.is(tag) {
		err := c.checkSize(limit)
		if err == nil {
			*v = T(c.content)
		}
		c.done(err)
	}
}

func name[T ~string](c *coder, tag uint64, v *T) { text(c, tag, v, space.MaxName) }

// blob is a run of at most limit bytes, which only readers check; it is written even if it is
// empty.
func (c *coder) blob(tag uint64, v *[]byte, limit int) {
	if !c.reading {
		c.write(tag, *v)
	} else if c.is(tag) {
		err := c.checkSize(limit)
		if err == nil {
			*v = bytes.Clone(c.content)
		}
		c.done(err)
	}
}

func (c *coder) checkSize(limit int) error {
	if len(c.content) > limit {
		return fmt.Errorf("%d bytes, at most %d: %w", len(c.content), limit, fault.ErrTooLarge)
	}
	return nil
}

// tuple is a valid tuple; nil is none, unlike an empty one.
func (c *coder) tuple(tag uint64, v *tuple.Tuple) {
	if !c.reading && *v != nil {
		c.writeTuple(tag, *v)
	} else if c.is(tag) {
		*v = c.readTuple()
	}
}

// tuples are valid tuples, a field each, also an empty one. A reader appends successive ones.
func (c *coder) tuples(tag uint64, v *[]tuple.Tuple) {
	if !c.reading {
		for _, t := range *v {
			c.writeTuple(tag, t)
		}
	}
	for c.is(tag) {
		*v = append(*v, c.readTuple())
	}
}

// writeTuple writes a field with a tuple, whose encoding it appends without a copy.
func (c *coder) writeTuple(tag uint64, t tuple.Tuple) {
	c.writeHead(tag, t.Size())
	c.out = t.Append(c.out)
}

// readTuple reads the current field as a tuple, and ends it. After an error the tuple must not
// be used.
func (c *coder) readTuple() tuple.Tuple {
	t, rest, err := tuple.Decode(c.content)
	c.done(complete(rest, err))
	return t
}

// template is a valid template; nil is none. A reader refuses a malformed one with
// fault.ErrInvalid.
func (c *coder) template(tag uint64, v *tuple.Template) {
	if !c.reading && *v != nil {
		c.write(tag, v.Append(nil))
	} else if c.is(tag) {
		p, rest, err := tuple.DecodeTemplate(c.content)
		*v = p
		c.done(complete(rest, err))
	}
}

// complete returns a decoder's error, or one if it left bytes over.
func complete(rest []byte, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	case len(rest) > 0:
		return malformed("%d bytes after its end", len(rest))
	}
	return nil
}

// message is a field whose content is fields again, which list lists; it is written even if it
// is empty.
func message[T any](c *coder, tag uint64, v *T, list func(*coder, *T)) {
	if !c.reading {
		writeMessage(c, tag, *v, list)
	} else if c.is(tag) {
		*v = readMessage(c, list)
	}
}

// messages are fields with the same tag whose content is fields again, one for each element.
// List lists the fields of an element.
func messages[T any](c *coder, tag uint64, v *[]T, list func(*coder, *T)) {
	if !c.reading {
		for _, element := range *v {
			writeMessage(c, tag, element, list)
		}
	}
	for c.is(tag) {
		*v = append(*v, readMessage(c, list))
	}
}

// writeMessage takes a copy of v, because a pointer passed to list is allocated on the heap: v is part of a request
// that should not be.
func writeMessage[T any](c *coder, tag uint64, v T, list func(*coder, *T)) {
	inner := coder{}
	list(&inner, &v)
	c.write(tag, inner.out)
}

// readMessage reads the current field as a message, and ends it with the error of that.
func readMessage[T any](c *coder, list func(*coder, *T)) (v T) {
	inner := reader(c.content)
	for inner.more() {
		list(&inner, &v)
	}
	c.done(inner.err)
	return v
}
