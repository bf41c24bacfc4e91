package gob

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"leasehold/shared/fault"
)

// firstWritten is the number of the first type that a Writer defines.
const firstWritten = 65

// A Writer writes a stream of one value.
type Writer struct {
	definitions []byte // messages
	next        int64  // number of the next type
}

// NewWriter returns a writer.
func NewWriter() *Writer { return &Writer{next: firstWritten} }

// Define defines a type and returns its number. Numbers are in the order of definition.
func (w *Writer) Define(t Type) int64 {
	id := w.next
	w.next++
	w.defineAs(id, t)
	return id
}

// defineAs adds the message that defines type id. In a struct, the difference between a part's number and the
// previous one precedes the part, and 0 ends it. Empty and zero parts are left out.
func (w *Writer) defineAs(id int64, t Type) {
	field := map[Kind]int{Array: arrayField, Slice: sliceField, Struct: structField, Map: mapField, Encoded: t.method}[t.Kind]
	d := AppendUint(AppendInt(nil, -id), uint64(field+1)) // the only field of a definition tells the kind
	d = AppendUint(d, 1)                                  // its first part, which all kinds have: name and number
	if t.Name != "" {
		d = AppendText(AppendUint(d, 1), t.Name)
		d = AppendInt(AppendUint(d, 1), id)
	} else {
		d = AppendInt(AppendUint(d, 2), id) // 2, because the name is left out
	}
	d = AppendUint(d, 0)
	switch t.Kind {
	case Array:
		d = AppendInt(AppendUint(d, 1), t.Elem)
		if t.Len != 0 {
			d = AppendInt(AppendUint(d, 1), t.Len)
		}
	case Slice:
		d = AppendInt(AppendUint(d, 1), t.Elem)
	case Map:
		d = AppendInt(AppendUint(d, 1), t.Key)
		d = AppendInt(AppendUint(d, 1), t.Elem)
	case Struct:
		if len(t.Fields) > 0 {
			d = AppendUint(AppendUint(d, 1), uint64(len(t.Fields)))
		}
		for _, f := range t.Fields {
			d = AppendInt(AppendUint(AppendText(AppendUint(d, 1), f.Name), 1), f.Type)
			d = AppendUint(d, 0)
		}
	}
	d = AppendUint(AppendUint(d, 0), 0)
	w.definitions = append(AppendUint(w.definitions, uint64(len(d))), d...)
}

// Stream returns the stream of a value of a type: the definitions, and then the value. The encoding of any value
// but a struct must begin with a 0.
func (w *Writer) Stream(id int64, value []byte) []byte {
	head := AppendInt(nil, id)
	stream := slices.Grow(w.definitions, len(head)+len(value)+9)
	stream = AppendUint(stream, uint64(len(head)+len(value)))
	return append(append(stream, head...), value...)
}

// AppendUint appends an unsigned integer: one byte below 128, else the negated number of its
// bytes and then these, the highest first.
func AppendUint(b []byte, n uint64) []byte {
	if n < 0x80 {
		return append(b, byte(n))
	}
	size := (bits.Len64(n) + 7) / 8
	b = append(b, byte(-size))
	for i := size - 1; i >= 0; i-- {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

// AppendInt appends a signed integer: shifted left by one, inverted if it is negative, and then
// 1 in the lowest bit.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return AppendUint(b, uint64(^n)<<1|1)
	}
	return AppendUint(b, uint64(n)<<1)
}

// AppendFloat appends a floating-point number.
func AppendFloat(b []byte, f float64) []byte {
	return AppendUint(b, bits.ReverseBytes64(math.Float64bits(f)))
}

// AppendText appends a string or bytes.
func AppendText[S ~string | ~[]byte](b []byte, s S) []byte {
	return append(AppendUint(b, uint64(len(s))), s...)
}

// AppendInterface appends a value of an interface type. The encoding of any value but a struct must begin with a
// 0.
func AppendInterface(b []byte, name string, id int64, value []byte) []byte {
	b = AppendInt(AppendText(b, name), id)
	return append(AppendUint(b, uint64(len(value))), value...)
}

// copier copies values from a Reader to a Writer, with the types that they need.
type copier struct {
	r   *Reader
	w   *Writer
	ids map[int64]int64 // numbers of the Writer by those of the Reader
}

// Copy reads the value of a type that follows in r, and appends it to buf with the numbers of w, to which it adds
// the types that the value needs. The value is as an interface holds it: any value but a struct begins with a 0.
// It returns the number of the type. After an error of r both results must not be used.
func Copy(buf []byte, w *Writer, r *Reader, id int64) ([]byte, int64) {
	c := copier{r, w, map[int64]int64{}}
	written := c.numberOf(id)
	return c.copySingle(buf, id, 0), written
}

// Skip reads and drops the value of a type that follows; a 0 before it has been read.
func Skip(r *Reader, id int64) {
	c := copier{r, NewWriter(), map[int64]int64{}}
	c.copyValue(nil, id, 0)
}

// numberOf returns the Writer's number of a type, which it defines on its first use, with the
// types that it refers to; 0 after an error. The reader bounds the number of types, and so how
// deep it calls itself.
func (c *copier) numberOf(id int64) int64 {
	if id > 0 && id < int64(Array) {
		return id
	}
	if written, ok := c.ids[id]; ok {
		return written
	}
	t := *c.r.Type(id)
	if t.Kind == invalidKind {
		return 0
	}
	written := c.w.next
	c.w.next++
	c.ids[id] = written // before those that it refers to, which may refer to it
	switch t.Kind {
	case Array, Slice:
		t.Elem = c.numberOf(t.Elem)
	case Map:
		t.Key, t.Elem = c.numberOf(t.Key), c.numberOf(t.Elem)
	case Struct:
		t.Fields = slices.Clone(t.Fields)
		for i := range t.Fields {
			t.Fields[i].Type = c.numberOf(t.Fields[i].Type)
		}
	}
	if c.r.err == nil {
		c.w.defineAs(written, t)
	}
	return written
}

// copySingle copies a value, with the 0 before it unless it is a struct. The reader has read that 0.
func (c *copier) copySingle(buf []byte, id int64, depth int) []byte {
	if c.r.Type(id).Kind != Struct {
		buf = AppendUint(buf, 0)
	}
	return c.copyValue(buf, id, depth)
}

// copyValue copies one value of a type, depth levels within the outermost one. More than maxDepth levels end the
// reader with fault.ErrTooLarge. After an error of the reader it returns what it has.
func (c *copier) copyValue(buf []byte, id int64, depth int) []byte {
	r := c.r
	if depth > maxDepth {
		r.Fail(errTooDeep)
	}
	t := r.Type(id)
	if r.err != nil {
		return buf
	}
	switch t.Kind {
	case Bool, Int, Uint, Float:
		return AppendUint(buf, r.Uint())
	case Complex:
		return AppendUint(AppendUint(buf, r.Uint()), r.Uint())
	case Bytes, String, Encoded:
		return AppendText(buf, r.Bytes())
	case Interface:
		return c.copyInterface(buf, depth)
	case Array, Slice:
		n := r.Count()
		if t.Kind == Array && int64(n) != t.Len {
			r.invalid("an array of %d elements where %d are defined", n, t.Len)
		}
		buf = AppendUint(buf, uint64(n))
		for i := 0; i < n && r.err == nil; i++ {
			buf = c.copyValue(buf, t.Elem, depth+1)
		}
		return buf
	case Map:
		return c.copyMap(buf, t, depth)
	}
	last := -1 // the number of the field before, in a struct
	r.Struct(func(n int) {
		if n >= len(t.Fields) {
			r.invalid("field %d of a type of %d", n, len(t.Fields))
			return
		}
		buf = c.copyValue(AppendUint(buf, uint64(n-last)), t.Fields[n].Type, depth+1)
		last = n
	})
	return AppendUint(buf, 0)
}

// copyInterface copies a value of an interface type, with its name and the Writer's number of its
// type; a nil is a 0.
func (c *copier) copyInterface(buf []byte, depth int) []byte {
	name, id := c.r.Interface()
	if name == "" || c.r.err != nil {
		return AppendUint(buf, 0)
	}
	written := c.numberOf(id)
	return AppendInterface(buf, name, written, c.copySingle(nil, id, depth+1))
}

// copyMap copies a map, sorted by the encoding of its entries, because Go writes them in random
// order and equal maps must have equal copies.
func (c *copier) copyMap(buf []byte, t *Type, depth int) []byte {
	n := c.r.Count()
	var entries []byte
	var ends []int
	for i := 0; i < n && c.r.err == nil; i++ {
		entries = c.copyValue(c.copyValue(entries, t.Key, depth+1), t.Elem, depth+1)
		ends = append(ends, len(entries))
	}
	sorted := make([][]byte, len(ends))
	start := 0
	for i, end := range ends {
		sorted[i], start = entries[start:end], end
	}
	slices.SortFunc(sorted, bytes.Compare)
	buf = AppendUint(buf, uint64(n))
	for _, e := range sorted {
		buf = append(buf, e...)
	}
	return buf
}

var errTooDeep = fmt.Errorf("gob: a value of more than %d levels: %w", maxDepth, fault.ErrTooLarge)
