package gospace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"leasehold/coordinator/gate/gospace/gob"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/tuple"
)

// encoder writes one answer.
type encoder struct {
	w         *gob.Writer
	tuple     int64 // numbers of types; 0 until they are defined
	listOfAny int64
}

// listType returns the number of []interface{}, which it defines on its first use.
func (e *encoder) listType() int64 {
	if e.listOfAny == 0 {
		e.listOfAny = e.w.Define(gob.Type{Kind: gob.Slice, Name: nameList, Elem: int64(gob.Interface)})
	}
	return e.listOfAny
}

// tupleType returns the number of the struct of a tuple, which it defines on its first use.
func (e *encoder) tupleType() int64 {
	if e.tuple == 0 {
		list := e.listType()
		e.tuple = e.w.Define(gob.Type{Kind: gob.Struct, Name: "Tuple", Fields: []gob.Field{{Name: "Flds", Type: list}}})
	}
	return e.tuple
}

// encodeAnswer returns the answer of a kind; nil for noAnswer. found must have a tuple for tupleAnswer,
// maybeAnswer uses the first one if there is one, and count is of countAnswer. Any value but a struct begins with
// a 0; then 0 and 1 are false and true.
func encodeAnswer(kind answerKind, found []tuple.Tuple, count int) []byte {
	e := encoder{w: gob.NewWriter()}
	switch kind {
	case trueAnswer:
		return e.w.Stream(int64(gob.Bool), []byte{0, 1})
	case countAnswer:
		return e.w.Stream(int64(gob.Int), gob.AppendInt([]byte{0}, int64(count)))
	case tupleAnswer:
		id := e.tupleType()
		return e.w.Stream(id, e.appendTuple(nil, found[0]))
	case maybeAnswer:
		var t tuple.Tuple
		value := []byte{0, 2} // a list of two
		if len(found) > 0 {
			t = found[0]
			value = gob.AppendInterface(value, "bool", int64(gob.Bool), []byte{0, 1})
		} else {
			value = gob.AppendInterface(value, "bool", int64(gob.Bool), []byte{0, 0})
		}
		id := e.tupleType()
		value = gob.AppendInterface(value, nameTuple, id, e.appendTuple(nil, t))
		return e.w.Stream(e.listType(), value)
	case listAnswer:
		id := e.w.Define(gob.Type{Kind: gob.Slice, Elem: e.tupleType()})
		value := gob.AppendUint([]byte{0}, uint64(len(found)))
		for _, t := range found {
			value = e.appendTuple(value, t)
		}
		return e.w.Stream(id, value)
	}
	return nil
}

// appendTuple appends the struct of a tuple: 1, the number of its first field, the elements of
// that field behind their number, and 0 at the end. A list without elements is left out.
func (e *encoder) appendTuple(b []byte, t tuple.Tuple) []byte {
	if len(t) > 0 {
		b = gob.AppendUint(append(b, 1), uint64(len(t)))
		for _, v := range t {
			b = e.appendField(b, v)
		}
	}
	return append(b, 0)
}

// appendField appends a value of an interface type: the registered name of its type, the number
// of the type, and the value, with a 0 before it because it is not a struct. A nil has an empty
// name, which is a 0. Other types than those of package tuple do not occur, because spaces hold
// no others.
func (e *encoder) appendField(b []byte, v any) []byte {
	integer := func(name string, n int64) []byte {
		return gob.AppendInterface(b, name, int64(gob.Int), gob.AppendInt([]byte{0}, n))
	}
	switch v := v.(type) {
	case bool:
		if v {
			return gob.AppendInterface(b, "bool", int64(gob.Bool), []byte{0, 1})
		}
		return gob.AppendInterface(b, "bool", int64(gob.Bool), []byte{0, 0})
	case int:
		return integer("int", int64(v))
	case int32:
		return integer("int32", int64(v))
	case int64:
		return integer("int64", v)
	case float32:
		return gob.AppendInterface(b, "float32", int64(gob.Float), gob.AppendFloat([]byte{0}, float64(v)))
	case float64:
		return gob.AppendInterface(b, "float64", int64(gob.Float), gob.AppendFloat([]byte{0}, v))
	case string:
		return gob.AppendInterface(b, "string", int64(gob.String), gob.AppendText([]byte{0}, v))
	case []byte:
		return gob.AppendInterface(b, "[]uint8", int64(gob.Bytes), gob.AppendText([]byte{0}, v))
	case tuple.Tuple:
		id := e.tupleType()
		return gob.AppendInterface(b, nameTuple, id, e.appendTuple(nil, v))
	case tuple.Opaque:
		return e.appendOpaque(b, v)
	}
	return append(b, 0) // nil
}

// appendOpaque appends an opaque value: one that came from a Go program as it came, any other as
// a string of its JSON. Any client may have put one under the same name, so one that cannot be
// read is such a string too.
func (e *encoder) appendOpaque(b []byte, o tuple.Opaque) []byte {
	for name, bits := range map[string]int{opaqueInt8: 8, opaqueInt16: 16} {
		if n, err := strconv.ParseInt(o.JSON, 10, bits); o.Name == name && err == nil {
			return gob.AppendInterface(b, "int"+strconv.Itoa(bits), int64(gob.Int), gob.AppendInt([]byte{0}, n))
		}
	}
	var stored opaqueJSON
	if strings.HasPrefix(o.Name, interop.OpaqueGo) && json.Unmarshal([]byte(o.JSON), &stored) == nil && stored.Name != "" {
		stream, err := base64.StdEncoding.DecodeString(stored.Gob)
		r := gob.NewReader(bytes.NewReader(stream), len(stream), nil)
		id := r.Value()
		value, typeID := gob.Copy(nil, e.w, r, id)
		if err == nil && r.Err() == nil {
			return gob.AppendInterface(b, stored.Name, typeID, value)
		}
	}
	return gob.AppendInterface(b, "string", int64(gob.String), gob.AppendText([]byte{0}, o.JSON))
}
