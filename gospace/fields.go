package gospace

import (
	"bytes"
	"encoding/base64"
	stdgob "encoding/gob"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"sync"

	"leasehold/coordinator/gate/gospace/gob"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/tuple"
)

// The types, and the functions as fields, that this process has used. They are as many as the
// program has.
var (
	typesByName sync.Map // of a type with its package's path, to reflect.Type
	typesByOpaq sync.Map // of an opaque type, to reflect.Type
	functions   sync.Map // type and name of a function, to the function
)

// The opaque types of the gates for foreign programs.
const (
	opaqueInt8  = "pspace:byte"
	opaqueInt16 = "java.lang.Short"
)

// The containers have an encoding of their own.
var (
	typeTuple    = reflect.TypeFor[Tuple]()
	typeTemplate = reflect.TypeFor[Template]()
	typeLabel    = reflect.TypeFor[Label]()
	typeLabels   = reflect.TypeFor[Labels]()
	typeLabelled = reflect.TypeFor[LabelledTuple]()
)

func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, fault.ErrInvalid)...)
}

// dereferenced returns a copy of fields in which pointers are replaced by their values.
func dereferenced(fields []interface{}) ([]interface{}, error) {
	values := make([]interface{}, len(fields))
	for i, f := range fields {
		if plain(f) {
			values[i] = f
			continue
		}
		v := reflect.ValueOf(f)
		for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
			if v.IsNil() {
				return nil, invalid("field %d: a nil pointer", i)
			}
			v = v.Elem()
		}
		if v.IsValid() {
			values[i] = v.Interface()
		}
	}
	return values, nil
}

// plain reports whether a tuple has a value as it is.
func plain(f any) bool {
	switch f.(type) {
	case nil, bool, int, int32, int64, float32, float64, string, []byte:
		return true
	}
	return false
}

// encodeTuple encodes the values of a tuple. The result may share them: if all are plain it is values itself.
func encodeTuple(values []interface{}) (tuple.Tuple, error) {
	var t []any
	for i, v := range values {
		if plain(v) {
			continue
		}
		if t == nil {
			t = append([]any{}, values...)
		}
		f, err := encodeField(v)
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", i, err)
		}
		t[i] = f
	}
	if t == nil {
		return tuple.Tuple(values), nil
	}
	return tuple.Tuple(t), nil
}

// encodeTemplate encodes a template: a pointer becomes a formal of the type to which it points.
func encodeTemplate(fields []interface{}) (tuple.Template, error) {
	p := make(tuple.Template, len(fields))
	for i, f := range fields {
		encoded, err := encodePattern(f)
		if err != nil {
			return nil, fmt.Errorf("template field %d: %w", i, err)
		}
		p[i] = encoded
	}
	return p, nil
}

// encodePattern encodes a field of a template: a pointer as a formal, any other as its value.
func encodePattern(f any) (any, error) {
	switch f.(type) {
	case *string:
		return tuple.AnyString, nil
	case *int:
		return formalInt, nil
	case *int64:
		return tuple.AnyInt64, nil
	case *bool:
		return tuple.AnyBool, nil
	}
	if v := reflect.ValueOf(f); v.IsValid() && v.Kind() == reflect.Pointer {
		t, err := pointedType(v)
		if err != nil {
			return nil, err
		}
		return tuple.Formal{Type: recordType(t)}, nil
	}
	if plain(f) {
		return f, nil
	}
	return encodeField(f)
}

var formalInt any = tuple.Formal{Type: tuple.Int}

// pointedType returns the type for which a pointer stands: within an interface, the type of its value.
func pointedType(v reflect.Value) (reflect.Type, error) {
	t := v.Type().Elem()
	if t.Kind() != reflect.Interface {
		return t, nil
	}
	if v.IsNil() || v.Elem().IsNil() {
		return nil, invalid("a pointer to an empty interface stands for no type")
	}
	return v.Elem().Elem().Type(), nil
}

// recordType returns the type that fields of a Go type have in a tuple. It records the Go type of an
// opaque one, so that this process can decode its values.
func recordType(t reflect.Type) tuple.Type {
	if t == typeTuple {
		return tuple.Nested
	}
	if of := tuple.TypeOf(reflect.Zero(t).Interface()); of != "" && plain(reflect.Zero(t).Interface()) {
		return of
	}
	name := opaqueName(t)
	if _, ok := typesByOpaq.Load(name); !ok {
		typesByOpaq.Store(name, t)
		typesByName.Store(registeredName(t), t)
	}
	return tuple.OpaqueType(name)
}

// opaqueName returns the name of the opaque values of a Go type, which gates for goSpace know.
func opaqueName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[int8]():
		return opaqueInt8
	case reflect.TypeFor[int16]():
		return opaqueInt16
	}
	return interop.OpaqueGo + t.String()
}

// registeredName is the name under which package encoding/gob registers a type.
func registeredName(t reflect.Type) string {
	if t.Name() != "" && t.PkgPath() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}

// opaqueJSON is the JSON of an opaque value, as gate gospace writes it.
type opaqueJSON struct {
	Gob  string `json:"gob"`
	Name string `json:"name"`
}

// encodeField encodes any value but a plain one: a tuple as a nested one, any other as an opaque value, whose type is
// recorded so that this process can decode it.
func encodeField(f any) (any, error) {
	if f == nil || plain(f) {
		return f, nil
	}
	v := reflect.ValueOf(f)
	switch f := f.(type) {
	case Tuple:
		return encodeTuple(f.Flds)
	case tuple.Opaque: // of a type that this process does not know
		return f, nil
	}
	t := v.Type()
	recordType(t)
	text, err := encodeValue(v)
	if err != nil {
		return nil, err
	}
	return tuple.Opaque{Name: opaqueName(t), JSON: text}, nil
}

// encodeValue returns the JSON of a value to keep as an opaque one. Equal values have equal JSON, because spaces
// compare it.
func encodeValue(v reflect.Value) (string, error) {
	switch f := v.Interface().(type) {
	case int8:
		return strconv.Itoa(int(f)), nil
	case int16:
		return strconv.Itoa(int(f)), nil
	case Label:
		return quote(f.ID()), nil
	case Labels:
		b, err := json.Marshal(f.Labelling())
		return string(b), err
	case LabelledTuple:
		t, err := encodeTuple(f.Flds)
		if err == nil {
			err = t.Validate()
		}
		if err != nil {
			return "", err
		}
		return quote(base64.StdEncoding.EncodeToString(t.Append(nil))), nil
	case Template:
		p, err := encodeTemplate(f.Flds)
		if err == nil {
			err = p.Validate()
		}
		if err != nil {
			return "", err
		}
		return quote(base64.StdEncoding.EncodeToString(p.Append(nil))), nil
	}
	if v.Kind() == reflect.Func {
		return encodeFunction(v)
	}
	return encodeGob(v)
}

func quote(s string) string {
	b, _ := json.Marshal(s) // strings have JSON
	return string(b)
}

// encodeFunction returns the quoted name of a function, and records the function: only this process can decode it.
func encodeFunction(v reflect.Value) (string, error) {
	if v.IsNil() {
		return "", invalid("a nil function")
	}
	name := quote(functionName(v))
	functions.Store(opaqueName(v.Type())+name, v.Interface())
	return name, nil
}

func functionName(v reflect.Value) string { return runtime.FuncForPC(v.Pointer()).Name() }

// encodeGob encodes a value in one form, so that equal values are equal text.
func encodeGob(v reflect.Value) (string, error) {
	var b bytes.Buffer
	if err := stdgob.NewEncoder(&b).EncodeValue(v); err != nil {
		return "", invalid("%s: %v", v.Type(), err)
	}
	w, r := gob.NewWriter(), gob.NewReader(&b, b.Len(), nil)
	value, id := gob.Copy(nil, w, r, r.Value())
	if r.Err() != nil {
		return "", r.Err()
	}
	text, err := json.Marshal(opaqueJSON{base64.StdEncoding.EncodeToString(w.Stream(id, value)), registeredName(v.Type())})
	return string(text), err
}
