package tuple

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The first byte of an encoded field.
const (
	tagNil byte = iota
	tagFalse
	tagTrue
	tagInt
	tagInt32
	tagInt64
	tagFloat32
	tagFloat64
	tagString
	tagBytes
	tagTuple
	tagOpaque
	tagFormal
)

// Append appends the binary form of t, which must be valid: the number of
// fields as a varint, then each field as a tag and its value.
func (t Tuple) Append(buf []byte) []byte { return appendFields(buf, t) }

// Append appends the binary form of p, which must be valid.
func (p Template) Append(buf []byte) []byte { return appendFields(buf, p) }

// appendFields appends the number of fields and then each field.
func appendFields(buf []byte, fields []any) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(fields)))
	for _, f := range fields {
		buf = appendField(buf, f)
	}
	return buf
}

// appendField appends the tag of a field's type and its value. A value of a Go type that tuples do
// not have is encoded as nil, because callers validate first.
func appendField(buf []byte, f any) []byte {
	switch v := f.(type) {
	case bool:
		if v {
			return append(buf, tagTrue)
		}
		return append(buf, tagFalse)
	case int:
		return binary.AppendVarint(append(buf, tagInt), int64(v))
	case int32:
		return binary.AppendVarint(append(buf, tagInt32), int64(v))
	case int64:
		return binary.AppendVarint(append(buf, tagInt64), v)
	case float32:
		return binary.BigEndian.AppendUint32(append(buf, tagFloat32), math.Float32bits(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(buf, tagFloat64), math.Float64bits(v))
	case string:
		return appendString(append(buf, tagString), v)
	case []byte:
		return appendString(append(buf, tagBytes), v)
	case Tuple:
		return appendFields(append(buf, tagTuple), v)
	case Opaque:
		return appendString(appendString(append(buf, tagOpaque), v.Name), v.JSON)
	case Formal:
		return appendString(append(buf, tagFormal), v.Type)
	}
	return append(buf, tagNil)
}

func appendString[S ~string | ~[]byte](buf []byte, s S) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

// Decode reads one tuple from the start of data and returns what follows it. t shares no memory with data. It fails
// with ErrFormat, ErrType or ErrBounds, and then both are nil. For any data, Decode allocates at most in proportion
// to its length.
func Decode(data []byte) (t Tuple, rest []byte, err error) {
	fields, rest, err := decodeWhole(data, withoutFormals)
	return fields, rest, err
}

// DecodeTemplate reads one template from the start of data, as Decode does.
func DecodeTemplate(data []byte) (p Template, rest []byte, err error) {
	fields, rest, err := decodeWhole(data, withFormals)
	return fields, rest, err
}

// decodeWhole decodes one tuple or template (formals), and returns the data behind it. It checks MaxBytes at the end
// only, because the fields cannot take more memory than in proportion to data.
func decodeWhole(data []byte, formals bool) (fields []any, rest []byte, err error) {
	d := decoder{data: data, formals: formals}
	fields = d.fields(outermost)
	if d.err != nil {
		return nil, nil, d.err
	}
	if used := len(data) - len(d.data); used > MaxBytes {
		return nil, nil, fmt.Errorf("%w: %d bytes encoded, at most %d", ErrBounds, used, MaxBytes)
	}
	return fields, d.data, nil
}

// decoder reads from the front of data until the first error.
type decoder struct {
	data    []byte
	formals bool // fields may be formals
	err     error
}

// fail records the first error and drops the data, so that all further reads fail too.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
	d.data = nil
}

// fields reads a tuple at a depth of nesting; its result counts only if err is nil. The count
// of fields is checked against the bytes that are left before memory is taken for it.
func (d *decoder) fields(depth int) []any {
	if depth > MaxDepth {
		d.fail("%w: nested deeper than %d", ErrBounds, MaxDepth)
		return nil
	}
	n := d.uvarint()
	if n > MaxArity {
		d.fail("%w: %d fields, at most %d", ErrBounds, n, MaxArity)
		return nil
	}
	if n > uint64(len(d.data)) { // a field takes at least one byte
		d.fail("%w: %d fields, %d bytes left", ErrFormat, n, len(d.data))
		return nil
	}
	fields := make([]any, 0, n)
	for range n {
		if d.err != nil {
			return nil
		}
		fields = append(fields, d.field(depth))
	}
	return fields
}

// field reads a tag and the value of its type. depth is the depth of the tuple around it. An unknown tag, and a value
// out of range or cut off, ends the decoder; then the result does not count.
func (d *decoder) field(depth int) any {
	switch tag := d.byte(); tag {
	case tagNil:
		return nil
	case tagFalse, tagTrue:
		return tag == tagTrue
	case tagInt:
		return int(d.varint(math.MinInt, math.MaxInt))
	case tagInt32:
		return int32(d.varint(math.MinInt32, math.MaxInt32))
	case tagInt64:
		return d.varint(math.MinInt64, math.MaxInt64)
	case tagFloat32:
		return math.Float32frombits(uint32(d.word(4)))
	case tagFloat64:
		return math.Float64frombits(d.word(8))
	case tagString:
		return string(d.bytes())
	case tagBytes:
		return append([]byte{}, d.bytes()...)
	case tagTuple:
		return Tuple(d.nested(depth))
	case tagOpaque:
		return Opaque{Name: string(d.bytes()), JSON: string(d.bytes())}
	case tagFormal:
		return d.formal()
	default:
		d.fail("%w: unknown tag %d", ErrFormat, tag)
		return nil
	}
}

// nested reads a tuple within a tuple, in which formals are not allowed.
func (d *decoder) nested(depth int) []any {
	outer := d.formals
	d.formals = withoutFormals
	fields := d.fields(depth + 1)
	d.formals = outer
	return fields
}

// formal reads the type of a formal, and refuses it where no formal may be.
func (d *decoder) formal() any {
	f := Formal{Type(d.bytes())}
	if d.err == nil && (!d.formals || !f.Type.valid()) {
		d.fail("%w: formal ?%s", ErrType, f.Type)
	}
	return f
}

// byte reads one byte; 0 after an error. Data that end are ErrFormat.
func (d *decoder) byte() byte {
	if len(d.data) == 0 {
		d.fail("%w: truncated", ErrFormat)
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

// uvarint reads an unsigned number; 0 after an error.
func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 {
		d.fail("%w: bad length", ErrFormat)
		return 0
	}
	d.data = d.data[size:]
	return n
}

// varint reads a signed integer from lowest to highest, both included. It refuses others, so that no value is cut to
// its type.
func (d *decoder) varint(lowest, highest int64) int64 {
	n, size := binary.Varint(d.data)
	if size <= 0 || n < lowest || n > highest {
		d.fail("%w: bad integer", ErrFormat)
		return 0
	}
	d.data = d.data[size:]
	return n
}

// word reads a big-endian word of size bytes, at most 8. Fewer bytes are ErrFormat, and the
// result is 0.
func (d *decoder) word(size int) uint64 {
	if len(d.data) < size {
		d.fail("%w: truncated", ErrFormat)
		return 0
	}
	var w uint64
	for _, b := range d.data[:size] {
		w = w<<8 | uint64(b)
	}
	d.data = d.data[size:]
	return w
}

// bytes returns a length-prefixed run of bytes, which share memory with the data, so that the caller must copy them.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.data)) {
		d.fail("%w: length %d, %d bytes left", ErrFormat, n, len(d.data))
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}
