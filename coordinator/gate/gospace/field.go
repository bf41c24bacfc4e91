package gospace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"leasehold/coordinator/gate/gospace/gob"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/tuple"
)

// decoder reads the fields of tuples. The first error ends its reader.
type decoder struct{ r *gob.Reader }

// invalid ends the reader with fault.ErrInvalid and a reason.
func (d decoder) invalid(format string, args ...any) {
	d.r.Fail(fmt.Errorf(format+": %w", append(args, fault.ErrInvalid)...))
}

// ok reports whether all reads so far succeeded.
func (d decoder) ok() bool { return d.r.Err() == nil }

// Whether the fields of a struct may be formals: those of a template may.
const (
	withoutFormals = false
	withFormals    = true
)

// outermost is the depth of a tuple without a tuple around it.
const outermost = 1

// readFields reads the fields of a tuple or, if formals is set, of a template. Its value is a struct
// of type id, whose only field Flds is a list. depth is 1, or more within other tuples. Anything
// else ends the reader with fault.ErrInvalid, and so do more than tuple.MaxDepth levels or
// tuple.MaxArity fields.
func (d decoder) readFields(id int64, depth int, formals bool) []any {
	t := d.r.Type(id)
	fields := []any{}
	if depth > tuple.MaxDepth {
		d.invalid("tuples more than %d levels deep", tuple.MaxDepth)
		return fields
	}
	if d.ok() && t.Kind != gob.Struct {
		d.invalid("a tuple that is not a struct")
		return fields
	}
	d.r.Struct(func(n int) {
		if !d.ok() || n >= len(t.Fields) || t.Fields[n].Name != "Flds" || !d.isList(t.Fields[n].Type) {
			d.invalid("field %d of a tuple", n)
			return
		}
		count := d.r.Count()
		if count > tuple.MaxArity {
			d.invalid("%d fields, at most %d", count, tuple.MaxArity)
			return
		}
		for range count {
			if d.ok() {
				fields = append(fields, d.readField(depth, formals))
			}
		}
	})
	return fields
}

// isList reports whether a type is []interface{}.
func (d decoder) isList(id int64) bool {
	t := d.r.Type(id)
	return t.Kind == gob.Slice && d.r.Type(t.Elem).Kind == gob.Interface
}

// readField reads one field of a tuple at a depth: a value of an interface type; nil for its nil, and after an
// error, which ends the reader. A formal is read only where formals is set; nested tuples have none.
func (d decoder) readField(depth int, formals bool) any {
	name, id := d.r.Interface()
	if name == "" {
		return nil
	}
	kind := d.r.Type(id).Kind
	switch {
	case name == nameTuple:
		return tuple.Tuple(d.readFields(id, depth+1, withoutFormals))
	case name == nameTypeField && formals:
		return d.readFormal(id)
	}
	is := func(want gob.Kind) bool {
		if kind != want {
			d.invalid("a value named %.100q of another type", name)
		}
		return kind == want
	}
	switch name {
	case "bool":
		return is(gob.Bool) && d.r.Uint() != 0
	case "int", "int8", "int16", "int32", "int64":
		if is(gob.Int) {
			return d.integer(name, d.r.Int())
		}
	case "float32":
		if is(gob.Float) {
			return float32(d.r.Float())
		}
	case "float64":
		if is(gob.Float) {
			return d.r.Float()
		}
	case "string":
		if is(gob.String) {
			return string(d.r.Bytes())
		}
	case "[]uint8":
		if is(gob.Bytes) {
			return append([]byte{}, d.r.Bytes()...)
		}
	default:
		return d.readOpaque(name, id)
	}
	return nil
}

// integer returns n as a value of the Go type with that name; opaque if package tuple lacks it.
// A number that the type cannot have ends the reader with fault.ErrInvalid.
func (d decoder) integer(name string, n int64) any {
	within := func(lowest, highest int64) {
		if n < lowest || n > highest {
			d.invalid("%d is not a value of %s", n, name)
		}
	}
	switch name {
	case "int8":
		within(math.MinInt8, math.MaxInt8)
		return tuple.Opaque{Name: opaqueInt8, JSON: strconv.FormatInt(n, 10)}
	case "int16":
		within(math.MinInt16, math.MaxInt16)
		return tuple.Opaque{Name: opaqueInt16, JSON: strconv.FormatInt(n, 10)}
	case "int32":
		within(math.MinInt32, math.MaxInt32)
		return int32(n)
	case "int64":
		return n
	}
	within(math.MinInt, math.MaxInt)
	return int(n)
}

// readFormal reads a struct with the name of a Go type, and returns the formal of that type. The
// name is only compared with others. Anything else ends the reader with fault.ErrInvalid.
func (d decoder) readFormal(id int64) any {
	t := d.r.Type(id)
	if d.ok() && t.Kind != gob.Struct {
		d.invalid("a formal that is not a struct")
	}
	name := ""
	d.r.Struct(func(n int) {
		if n >= len(t.Fields) || t.Fields[n].Name != "TypeStr" || d.r.Type(t.Fields[n].Type).Kind != gob.String {
			d.invalid("field %d of a formal", n)
			return
		}
		name = string(d.r.Bytes())
	})
	return tuple.Formal{Type: typeOf(name)}
}

// opaqueJSON is the JSON of an opaque value of a Go type. Its members are in the order of
// the alphabet, as gate pspace writes them.
type opaqueJSON struct {
	Gob  string `json:"gob"`  // a gob stream of the value, in base64
	Name string `json:"name"` // registered
}

// readOpaque reads a value of any other type, and keeps it as a gob stream of its own, with the
// definitions of its types, under its registered name. After an error it returns nil.
func (d decoder) readOpaque(name string, id int64) any {
	if !utf8.ValidString(name) {
		d.invalid("the name of a type that is not UTF-8")
	}
	w := gob.NewWriter()
	value, written := gob.Copy(nil, w, d.r, id)
	if !d.ok() {
		return nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(opaqueJSON{base64.StdEncoding.EncodeToString(w.Stream(written, value)), name}) // strings have JSON
	return tuple.Opaque{Name: interop.OpaqueGo + printedName(name), JSON: string(bytes.TrimSpace(text.Bytes()))}
}
