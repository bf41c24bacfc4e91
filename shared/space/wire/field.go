package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// body is a sequence of fields that is being written.
type body []byte

// integer writes a signed number, unless it is 0.
func (b *body) integer(tag uint64, n int64) {
	if n != 0 {
		var content [binary.MaxVarintLen64]byte
		b.bytes(tag, binary.AppendVarint(content[:0], n))
	}
}

// natural writes an unsigned number, unless it is 0.
func (b *body) natural(tag uint64, n uint64) {
	if n != 0 {
		var content [binary.MaxVarintLen64]byte
		b.bytes(tag, binary.AppendUvarint(content[:0], n))
	}
}

// boolean writes true, and nothing for false.
func (b *body) boolean(tag uint64, v bool) {
	if v {
		b.natural(tag, 1)
	}
}

// text writes a string, unless it is empty.
func (b *body) text(tag uint64, s string) {
	if s != "" {
		b.head(tag, len(s))
		*b = append(*b, s...)
	}
}

// bytes writes a field, even an empty one.
func (b *body) bytes(tag uint64, content []byte) {
	b.head(tag, len(content))
	*b = append(*b, content...)
}

// tuple writes a valid tuple, even an empty one.
func (b *body) tuple(tag uint64, t tuple.Tuple) {
	b.head(tag, t.Size())
	*b = t.Append(*b)
}

func (b *body) head(tag uint64, size int) {
	*b = binary.AppendUvarint(*b, tag)
	*b = binary.AppendUvarint(*b, uint64(size))
}

// fields calls each with the tag and the content of every field of data, and returns
// the first error.
func fields(data []byte, each func(tag uint64, content []byte) error) error {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return malformed("a tag")
		}
		data = data[n:]
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return malformed("the length of field %d", tag)
		}
		data = data[n:]
		if err := each(tag, data[:size]); err != nil {
			return fmt.Errorf("field %d: %w", tag, err)
		}
		data = data[size:]
	}
	return nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("malformed: %s: %w", fmt.Sprintf(format, args...), fault.ErrInvalid)
}

// integer reads a signed number that fits T.
func integer[T ~int | ~int64](content []byte, into *T) error {
	n, size := binary.Varint(content)
	if size <= 0 || size != len(content) || int64(T(n)) != n {
		return malformed("an integer")
	}
	*into = T(n)
	return nil
}

// count reads a number that is not negative.
func count(content []byte, into *int) error {
	if err := integer(content, into); err != nil {
		return err
	}
	if *into < 0 {
		return malformed("a count of %d", *into)
	}
	return nil
}

// natural reads an unsigned number up to highest.
func natural(content []byte, highest uint64) (uint64, error) {
	n, size := binary.Uvarint(content)
	if size <= 0 || size != len(content) || n > highest {
		return 0, malformed("a number")
	}
	return n, nil
}

func boolean(content []byte, into *bool) error {
	n, err := natural(content, 1)
	*into = n == 1
	return err
}

// name reads a short string.
func name[T ~string](content []byte, into *T) error {
	if len(content) > space.MaxName {
		return fmt.Errorf("a name of %d bytes, at most %d: %w", len(content), space.MaxName, fault.ErrTooLarge)
	}
	*into = T(content)
	return nil
}

func decodeTuple(content []byte) (tuple.Tuple, error) {
	t, rest, err := tuple.Decode(content)
	return t, complete(rest, err)
}

func decodeTemplate(content []byte, into *tuple.Template) error {
	p, rest, err := tuple.DecodeTemplate(content)
	*into = p
	return complete(rest, err)
}

// complete returns a decoder's error, or one if it left bytes over.
func complete(rest []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	if len(rest) > 0 {
		return malformed("%d bytes after its end", len(rest))
	}
	return nil
}

func decodeSeq(content []byte) (uint64, error) { return natural(content, math.MaxUint64) }
