package gospace

import (
	"bytes"
	"encoding/base64"
	stdgob "encoding/gob"
	"encoding/json"
	"reflect"

	"leasehold/shared/tuple"
)

// decodeTuple makes a tuple of one that a space returned. It changes the fields in place.
func decodeTuple(t tuple.Tuple) Tuple {
	fields := []interface{}(t)
	for i, f := range fields {
		fields[i] = decodeField(f)
	}
	return Tuple{fields}
}

// decodeField returns the value of a field. A value of a type that this process does not know,
// or whose text does not fit its type, stays opaque, so that it can be put again.
func decodeField(f any) any {
	switch f := f.(type) {
	case tuple.Tuple:
		return decodeTuple(f)
	case tuple.Opaque:
		if v, ok := decodeOpaque(f); ok {
			return v
		}
	}
	return f
}

// decodeOpaque returns the value of an opaque field, and whether this process knows its type and
// the text fits it.
func decodeOpaque(o tuple.Opaque) (any, bool) {
	known, ok := typesByOpaq.Load(o.Name)
	if !ok {
		return nil, false
	}
	t := known.(reflect.Type)
	switch {
	case t == typeLabel || t == typeLabels:
		return decodeLabels(t, o.JSON)
	case t == typeLabelled || t == typeTemplate:
		return decodeContainer(t, o.JSON)
	case t.Kind() == reflect.Func:
		return functions.Load(o.Name + o.JSON)
	case o.Name == opaqueInt8 || o.Name == opaqueInt16:
		v := reflect.New(t)
		return decoded(v, json.Unmarshal([]byte(o.JSON), v.Interface()))
	}
	var stored opaqueJSON
	if json.Unmarshal([]byte(o.JSON), &stored) != nil {
		return nil, false
	}
	// The name of the gob has the path of the package; types of several packages may share o.Name.
	if exact, ok := typesByName.Load(stored.Name); ok {
		t = exact.(reflect.Type)
	}
	stream, err := base64.StdEncoding.DecodeString(stored.Gob)
	if err != nil {
		return nil, false
	}
	v := reflect.New(t)
	return decoded(v, stdgob.NewDecoder(bytes.NewReader(stream)).DecodeValue(v))
}

// decoded returns the value to which v points, and true; nil and false if there is an error.
func decoded(v reflect.Value, err error) (any, bool) {
	if err != nil {
		return nil, false
	}
	return v.Elem().Interface(), true
}

// decodeLabels returns the Label or Labels of type t in a text, and reports whether the text is
// one.
func decodeLabels(t reflect.Type, text string) (any, bool) {
	if t == typeLabel {
		var id string
		err := json.Unmarshal([]byte(text), &id)
		return NewLabel(id), err == nil
	}
	var ids []string
	err := json.Unmarshal([]byte(text), &ids)
	labels := NewLabels()
	for _, id := range ids {
		labels.Add(NewLabel(id))
	}
	return labels, err == nil
}

// decodeContainer returns the LabelledTuple or Template of type t in a text, and reports whether
// the text is one and this process knows the types of its formals.
func decodeContainer(t reflect.Type, text string) (any, bool) {
	var data []byte // encoding/json decodes base64
	if json.Unmarshal([]byte(text), &data) != nil {
		return nil, false
	}
	if t == typeLabelled {
		fields, _, err := tuple.Decode(data)
		return LabelledTuple(decodeTuple(fields)), err == nil
	}
	p, _, err := tuple.DecodeTemplate(data)
	fields := make([]interface{}, len(p))
	for i, f := range p {
		formal, ok := f.(tuple.Formal)
		if !ok {
			fields[i] = decodeField(f)
			continue
		}
		pointed, ok := goType(formal.Type)
		if !ok {
			return nil, false
		}
		fields[i] = reflect.New(pointed).Interface()
	}
	return Template{fields}, err == nil
}

var plainTypes = map[tuple.Type]reflect.Type{
	tuple.Bool: reflect.TypeFor[bool](), tuple.Int: reflect.TypeFor[int](), tuple.Int32: reflect.TypeFor[int32](),
	tuple.Int64: reflect.TypeFor[int64](), tuple.Float32: reflect.TypeFor[float32](), tuple.Float64: reflect.TypeFor[float64](),
	tuple.String: reflect.TypeFor[string](), tuple.Bytes: reflect.TypeFor[[]byte](), tuple.Nested: typeTuple,
}

// goType returns the Go type of a type of fields, if this process knows it.
func goType(of tuple.Type) (found reflect.Type, ok bool) {
	if t, ok := plainTypes[of]; ok {
		return t, true
	}
	typesByOpaq.Range(func(name, t any) bool {
		if tuple.OpaqueType(name.(string)) == of {
			found, ok = t.(reflect.Type), true
		}
		return !ok
	})
	return found, ok
}

// bind stores the values of a match through the pointers of its template. A nil pointer, and one
// of another type, is left out.
func bind(template, values []interface{}) {
	for i, f := range template {
		if i >= len(values) {
			return
		}
		switch p := f.(type) { // the most frequent types without reflection, which is slower
		case *string:
			if v, ok := values[i].(string); ok && p != nil {
				*p = v
			}
			continue
		case *int:
			if v, ok := values[i].(int); ok && p != nil {
				*p = v
			}
			continue
		}
		p, v := reflect.ValueOf(f), reflect.ValueOf(values[i])
		if p.IsValid() && p.Kind() == reflect.Pointer && !p.IsNil() && v.IsValid() && v.Type().AssignableTo(p.Type().Elem()) {
			p.Elem().Set(v)
		}
	}
}
