package pspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/tuple"
)

// The names of types. Values of the types that package tuple does not have are opaque
// under these names.
const (
	typeBoolean  = "pspace:boolean"
	typeByte     = "pspace:byte"
	typeChar     = "pspace:char"
	typeInt      = "pspace:int"
	typeLong     = "pspace:long"
	typeFloat    = "pspace:float"
	typeDouble   = "pspace:double"
	typeString   = "pspace:string"
	typeTuple    = "pspace:tuple"
	typeTemplate = "pspace:template"

	typeBytes  = "[B" // Java's byte[]
	typeShort  = "java.lang.Short"
	typeObject = "java.lang.Object"
	typeNumber = "java.lang.Number"
)

// maxTypeName bounds the name of an opaque type in bytes.
const maxTypeName = 1 << 10

// dotSpaceTypes are the types of dotSpace that others have under another name.
var dotSpaceTypes = map[string]string{
	"boolean": typeBoolean, "int": typeInt, "long": typeLong, "float": typeFloat, "double": typeDouble, "string": typeString,
}

// dotSpaceOpaque is the prefix of the names of dotSpace's other types, such as decimal.
const dotSpaceOpaque = "dotspace:"

// typeName returns the name under which a type that a client named is known here. A type that
// dotSpace alone has gets a prefix, so that it differs from all others. SpaceJS writes pSpace
// for pspace.
func (d dialect) typeName(name string) string {
	if d == dotSpace {
		if known, ok := dotSpaceTypes[name]; ok {
			return known
		}
		return dotSpaceOpaque + name
	}
	if strings.HasPrefix(name, "pSpace:") {
		return strings.ToLower(name)
	}
	return name
}

// clientName returns the name under which a client of the dialect knows a type: the inverse of
// typeName. A type that no dotSpace client could have named loses its prefix.
func (d dialect) clientName(name string) string {
	if d != dotSpace {
		return name
	}
	for client, known := range dotSpaceTypes {
		if known == name {
			return client
		}
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, dotSpaceOpaque), "pspace:")
}

// typed is a value with the name of its type, as it stands in a message.
type typed struct {
	name  string
	named bool   // it has a name
	value []byte // JSON; nil if it has none
}

// readTyped reads {"type":T,"value":V}, or {"TypeName":T,"Value":V} in dotSpace. Either may be missing; other
// members are skipped.
func (d dialect) readTyped(s *scanner) (t typed, err error) {
	typeKey, valueKey := "type", "value"
	if d == dotSpace {
		typeKey, valueKey = "TypeName", "Value"
	}
	err = s.readObject(func(key string) (err error) {
		switch {
		case key == typeKey && s.peek() == '"':
			t.name, err = s.readText()
			t.named = true
		case key == valueKey:
			t.value, err = s.readRaw()
		default:
			_, err = s.readRaw()
		}
		return err
	})
	return t, err
}

func (d dialect) readValue(s *scanner) (any, error) {
	t, err := d.readTyped(s)
	if err != nil {
		return nil, err
	}
	return d.decode(t)
}

// decode returns the field that a typed value means; a type unknown here is kept as tuple.Opaque. It refuses a
// value without a type, or one that does not fit its type.
func (d dialect) decode(t typed) (any, error) {
	if !t.named || t.value == nil || len(t.name) > maxTypeName {
		return nil, fmt.Errorf("a value of type %.100q: %w: want a type of at most %d bytes, and a value", t.name, fault.ErrInvalid, maxTypeName)
	}
	name, s := d.typeName(t.name), scanner{data: t.value}
	var v any
	ok := false
	switch name {
	case typeBoolean:
		v, ok = string(t.value) == "true", t.value[0] == 't' || t.value[0] == 'f'
	case typeByte:
		var n int64
		n, ok = integer(t.value, math.MinInt8, math.MaxInt8)
		v = tuple.Opaque{Name: typeByte, JSON: strconv.FormatInt(n, 10)}
	case typeShort:
		var n int64
		n, ok = integer(t.value, math.MinInt16, math.MaxInt16)
		v = tuple.Opaque{Name: typeShort, JSON: strconv.FormatInt(n, 10)}
	case typeInt:
		var n int64
		n, ok = integer(t.value, math.MinInt32, math.MaxInt32)
		v = int32(n)
	case typeLong:
		v, ok = integer(t.value, math.MinInt64, math.MaxInt64)
	case typeFloat:
		f, err := strconv.ParseFloat(string(t.value), 32)
		v, ok = float32(f), err == nil
	case typeDouble:
		f, err := strconv.ParseFloat(string(t.value), 64)
		v, ok = f, err == nil
	case typeString, typeChar:
		if s.peek() != '"' {
			break
		}
		text, err := s.readText()
		v, ok = text, err == nil
		if name == typeChar {
			v = tuple.Opaque{Name: typeChar, JSON: string(appendText(nil, text))}
			ok = ok && utf8.RuneCountInString(text) == 1
		}
	case typeTuple:
		return d.readTuple(&s)
	case typeBytes:
		v, ok = decodeBytes(&s)
	default:
		data, err := canonical(nil, &s)
		v, ok = tuple.Opaque{Name: name, JSON: string(data)}, err == nil
	}
	if !ok {
		return nil, fmt.Errorf("%.100s is not a value of %s: %w", t.value, name, fault.ErrInvalid)
	}
	return v, nil
}

// integer reads a number and drops its fraction, as jSpace does. It reports false if text is not
// a number from lowest to highest. A number with a fraction or exponent is read as a float,
// which is exact below 2^53 only, so a larger one is refused.
func integer(text []byte, lowest, highest int64) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil || !(math.Abs(f) < 1<<53) {
			return 0, false
		}
		n = int64(f)
	}
	return n, n >= lowest && n <= highest
}

// decodeBytes reads an array of Java's bytes, which are numbers from -128 to 127, and reports
// whether it is one.
func decodeBytes(s *scanner) ([]byte, bool) {
	data := []byte{}
	err := s.readArray(func() error {
		raw, err := s.readRaw()
		n, ok := integer(raw, math.MinInt8, math.MaxInt8)
		if err == nil && !ok {
			err = errNotJSON(s.pos)
		}
		data = append(data, byte(n))
		return err
	})
	return data, err == nil
}

// readTuple reads an array of at most tuple.MaxArity typed values.
func (d dialect) readTuple(s *scanner) (tuple.Tuple, error) {
	t := tuple.Tuple{}
	err := s.readArray(func() error {
		v, err := d.readValue(s)
		if err == nil && len(t) == tuple.MaxArity {
			err = errTooManyFields
		}
		t = append(t, v)
		return err
	})
	return t, err
}

var errTooManyFields = fmt.Errorf("more than %d fields: %w", tuple.MaxArity, fault.ErrTooLarge)

// readTemplate reads an array of at most tuple.MaxArity fields of a template.
func (d dialect) readTemplate(s *scanner) (interop.Pattern, error) {
	p := interop.Pattern{}
	err := s.readArray(func() error {
		f, err := d.readField(s)
		if err == nil && len(p) == tuple.MaxArity {
			err = errTooManyFields
		}
		p = append(p, f)
		return err
	})
	return p, err
}

// readField reads one field of a template: {"formal":true,"value":T}, {"formal":false,
// "value":{"type":T,"value":V}}, in SpaceJS {"formal":false,"value":V}; for dotSpace see readDotSpaceField.
func (d dialect) readField(s *scanner) (interop.Field, error) {
	if d == dotSpace {
		return d.readDotSpaceField(s)
	}
	isFormal := false
	var value []byte
	err := s.readObject(func(key string) error {
		raw, err := s.readRaw()
		switch key {
		case "formal":
			isFormal = string(raw) == "true"
		case "value":
			value = raw
		}
		return err
	})
	if err != nil {
		return interop.Field{}, err
	}
	if !isFormal {
		return d.actualOf(value)
	}
	v := scanner{data: value}
	name, err := v.readText()
	if err != nil || len(name) > maxTypeName {
		return interop.Field{}, fmt.Errorf("a formal of %.100s: %w: want the name of a type", value, fault.ErrInvalid)
	}
	return formal(d.typeName(name)), nil
}

// readDotSpaceField is readField for dotSpace, where a formal is a type without a value, and an actual both.
func (d dialect) readDotSpaceField(s *scanner) (interop.Field, error) {
	t, err := d.readTyped(s)
	switch {
	case err != nil:
		return interop.Field{}, err
	case t.value == nil && t.named:
		return formal(d.typeName(t.name)), nil
	}
	return d.actual(t)
}

// actualOf returns the field that accepts one value only. The value is typed, or in SpaceJS bare; a bare number
// is a double, as in JavaScript. It refuses an absent value, null and an array, because they have no type.
func (d dialect) actualOf(value []byte) (interop.Field, error) {
	v := scanner{data: value}
	switch v.peek() {
	case '{':
		t, err := d.readTyped(&v)
		if err != nil {
			return interop.Field{}, err
		}
		return d.actual(t)
	case '"':
		return d.actual(typed{typeString, true, value})
	case 't', 'f':
		return d.actual(typed{typeBoolean, true, value})
	case 0, 'n', '[':
		return interop.Field{}, fmt.Errorf("an actual of %.100s: %w: want a type and a value", value, fault.ErrInvalid)
	}
	return d.actual(typed{typeDouble, true, value})
}

// actual returns the field that accepts a value, and the Go int of the same value if a Go program may have put it
// in place of a Java int, or of a long too large for a Java int. So gob and JSON clients find each other's
// numbers.
func (d dialect) actual(t typed) (interop.Field, error) {
	v, err := d.decode(t)
	if err != nil {
		return interop.Field{}, err
	}
	accepted := tuple.Template{v}
	switch n := v.(type) {
	case int32:
		accepted = append(accepted, int(n))
	case int64:
		if n != int64(int32(n)) {
			accepted = append(accepted, int(n))
		}
	}
	return interop.Field{Any: accepted}, nil
}

// formal returns the field that accepts all values of a type. Java's int and long accept the Go
// ints that such a client would read as one of them; Number and Object accept several types; an
// unknown type is opaque.
func formal(name string) interop.Field {
	of := func(types ...tuple.Type) interop.Field {
		var f interop.Field
		for _, t := range types {
			f.Any = append(f.Any, tuple.Formal{Type: t})
		}
		return f
	}
	switch name {
	case typeBoolean:
		return of(tuple.Bool)
	case typeInt:
		f := of(tuple.Int32, tuple.Int)
		f.Ints = interop.NarrowInts
		return f
	case typeLong:
		f := of(tuple.Int64, tuple.Int)
		f.Ints = interop.WideInts
		return f
	case typeFloat:
		return of(tuple.Float32)
	case typeDouble:
		return of(tuple.Float64)
	case typeString:
		return of(tuple.String)
	case typeTuple:
		return of(tuple.Nested)
	case typeBytes:
		return of(tuple.Bytes)
	case typeNumber:
		return of(tuple.Int, tuple.Int32, tuple.Int64, tuple.Float32, tuple.Float64, tuple.OpaqueType(typeByte), tuple.OpaqueType(typeShort))
	case typeObject:
		return interop.Field{Object: true}
	}
	return of(tuple.OpaqueType(name))
}

// appendTuple appends a tuple as an array of typed values.
func (d dialect) appendTuple(buf []byte, t tuple.Tuple) []byte {
	buf = append(buf, '[')
	for i, v := range t {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = d.appendValue(buf, v)
	}
	return append(buf, ']')
}

// appendValue appends a typed value. An infinite float and NaN have no JSON, and become strings.
// A Go int is a Java int if it fits, else a long; a nil is a null Object.
func (d dialect) appendValue(buf []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return append(strconv.AppendBool(d.appendType(buf, typeBoolean), v), '}')
	case int:
		if v == int(int32(v)) {
			return append(strconv.AppendInt(d.appendType(buf, typeInt), int64(v), 10), '}')
		}
		return append(strconv.AppendInt(d.appendType(buf, typeLong), int64(v), 10), '}')
	case int32:
		return append(strconv.AppendInt(d.appendType(buf, typeInt), int64(v), 10), '}')
	case int64:
		return append(strconv.AppendInt(d.appendType(buf, typeLong), v, 10), '}')
	case float32:
		return append(appendFloat(d.appendType(buf, typeFloat), float64(v), 32), '}')
	case float64:
		return append(appendFloat(d.appendType(buf, typeDouble), v, 64), '}')
	case string:
		return append(appendText(d.appendType(buf, typeString), v), '}')
	case []byte:
		buf = append(d.appendType(buf, typeBytes), '[')
		for i, b := range v {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = strconv.AppendInt(buf, int64(int8(b)), 10)
		}
		return append(buf, ']', '}')
	case tuple.Tuple:
		return append(d.appendTuple(d.appendType(buf, typeTuple), v), '}')
	case tuple.Opaque:
		return append(appendJSON(d.appendType(buf, v.Name), v.JSON), '}')
	}
	return append(d.appendType(buf, typeObject), "null}"...)
}

// appendType appends the begin of a typed value, up to its value, in the names of the dialect.
func (d dialect) appendType(buf []byte, name string) []byte {
	if d == dotSpace {
		return append(appendText(append(buf, `{"TypeName":`...), d.clientName(name)), `,"Value":`...)
	}
	return append(appendText(append(buf, `{"type":`...), name), `,"value":`...)
}

// appendJSON appends the JSON of an opaque value on one line; as a string if it is not
// JSON, because any client may have put it.
func appendJSON(buf []byte, text string) []byte {
	var line bytes.Buffer
	if json.Compact(&line, []byte(text)) != nil {
		return appendText(buf, text)
	}
	return append(buf, line.Bytes()...)
}

// appendFloat appends a float of that many bits, with an exponent only if it is very small or
// large, as encoding/json does; NaN and infinity, which JSON lacks, become strings.
func appendFloat(buf []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(buf, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(buf, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(buf, `"-Infinity"`...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(buf, f, form, -1, bits)
}
