// Package strictjson decodes JSON that people and programs in any language write. Unknown
// fields are errors, because a misspelt one would be ignored in silence. The errors use the
// terms of JSON, not those of Go: they name the field, what was found and what is accepted.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"leasehold/shared/process/wording"
)

// Decode reads exactly one JSON value from r into v, a pointer. An error of reading r, or of a
// type that decodes itself, is returned as it is.
func Decode(r io.Reader, v any) error {
	_, err := decode(r, v)
	return err
}

// DecodeDescribed reads a value as Decode does. It refuses as well what the description of the type forbids: an object
// without a field that is required, which is one without omitempty or omitzero, and null in place of a value.
func DecodeDescribed(r io.Reader, v any) error {
	problem, err := decode(r, v)
	if err != nil {
		return err
	}
	return problem
}

// decode is Decode. It also returns what the description of the type forbids.
func decode(r io.Reader, v any) (problem, err error) {
	t := reflect.TypeOf(v).Elem()
	all := json.NewDecoder(r)
	all.UseNumber() // more behind the value may be a number that no float64 can hold
	var value json.RawMessage
	if err := all.Decode(&value); err != nil {
		return nil, explain(err, t)
	}
	if _, err = all.Token(); !errors.Is(err, io.EOF) {
		var syntax *json.SyntaxError
		if err == nil || errors.As(err, &syntax) {
			return nil, fmt.Errorf("want %s, got more behind it", wanted(t))
		}
		return nil, err
	}
	value, problem = described(value, t)
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return nil, explain(err, t)
	}
	return problem, nil
}

// explain returns an error of encoding/json in the terms of JSON; t is the type that was
// decoded.
func explain(err error, t reflect.Type) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var date *time.ParseError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON breaks off")
	case errors.Is(err, io.EOF):
		return fmt.Errorf("want %s, got nothing", wanted(t))
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, syntax)
	case errors.As(err, &kind):
		return fmt.Errorf("%swant %s, got %s", place(kind.Field), wanted(kind.Type), kind.Value)
	case errors.As(err, &date):
		return fmt.Errorf("want a time such as 2026-11-23T08:00:00Z, got %.100q", date.Value)
	}
	// encoding/json has no types for these errors.
	if strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return errors.New("want a time in quotes, such as \"2026-11-23T08:00:00Z\"")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return unknownField(strings.Trim(name, `"`), t)
	}
	return err
}

// unknownField names the field that was probably meant, or else the fields of the outer
// object: the error does not tell in which object the field is.
func unknownField(name string, t reflect.Type) error {
	outer := fieldsOf(t, false)
	if meant := wording.DidYouMean(name, fieldsOf(t, true)); meant != "" || len(outer) == 0 {
		return fmt.Errorf("unknown field %.100q%s", name, meant)
	}
	return fmt.Errorf("unknown field %.100q; the fields are %s", name, strings.Join(outer, ", "))
}

// place returns "path: " for the path of a field, or "" for the outer value. It leaves out the
// names of embedded Go structs, which begin with capitals as no field of JSON here does.
func place(path string) string {
	parts := slices.DeleteFunc(strings.Split(path, "."), func(part string) bool {
		return part == "" || unicode.IsUpper(rune(part[0]))
	})
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ".") + ": "
}

// wanted describes the JSON that a Go type accepts.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "a time"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number of %d bits, not negative", t.Bits())
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}

// fieldsOf returns the names of the fields of a struct, sorted, and if deep is true also those
// of the objects in it; nil for other types.
func fieldsOf(t reflect.Type, deep bool) []string {
	names := map[string]bool{}
	addFields(names, t, deep, map[reflect.Type]bool{})
	var all []string
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// addFields adds the fields of t to names; if deep is true also those of the structs in it. seen
// has the types that were entered, because a type may contain itself.
func addFields(names map[string]bool, t reflect.Type, deep bool, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || deep && t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			addFields(names, f.Type, deep, seen)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		names[name] = true
		if deep {
			addFields(names, f.Type, deep, seen)
		}
	}
}
