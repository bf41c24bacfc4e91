package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxExact bounds the whole numbers with an exponent that are read: a float64 holds those up to it exactly.
const maxExact = 1 << 53

// A scanner walks over valid JSON along a Go type, to find where encoding/json and the description of the type differ.
type scanner struct {
	*json.Decoder
	data []byte
	out  []byte // data up to kept, with whole numbers rewritten
	kept int
	// problem is the first field that is absent though it is required, or null though it must not be.
	problem error
}

// described returns valid JSON with numbers such as 68.0 and 1e3 rewritten as 68 and 1000 where the type t has an
// integer, because they are whole numbers of JSON too, and the problem of a scanner.
func described(data []byte, t reflect.Type) (rewritten []byte, problem error) {
	s := &scanner{Decoder: json.NewDecoder(bytes.NewReader(data)), data: data}
	s.UseNumber()
	s.checkNull(t, true, "")
	s.value(t, "")
	return append(s.out, data[s.kept:]...), s.problem
}

// field is a field of a struct in JSON.
type field struct {
	kind       reflect.Type
	isRequired bool // a Go program never leaves it out
}

// A table has the fields of a struct by name, and its rules.
type table struct {
	fields map[string]field
	rules  Rules
}

// tables has a table for each struct, by its type.
var tables sync.Map

// tableOf returns the table of a struct, with the fields of the structs that it embeds.
func tableOf(t reflect.Type) table {
	if known, ok := tables.Load(t); ok {
		return known.(table)
	}
	made := table{fields: map[string]field{}, rules: RulesOf(t)}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			maps.Copy(made.fields, tableOf(f.Type).fields)
		} else if f.IsExported() && name != "" && name != "-" {
			made.fields[name] = field{f.Type, !strings.HasPrefix(options, "omit")}
		}
	}
	tables.Store(t, made)
	return made
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// value walks over a value of the type t. path is that of the value, with a dot at its end.
func (s *scanner) value(t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case reflect.PointerTo(t).Implements(decodesItself):
	case k == reflect.Struct && s.enter('{'):
		s.object(tableOf(t), path)
		return
	case k == reflect.Map && s.enter('{'):
		for s.More() {
			_, _ = s.Token() // valid JSON has a name
			s.checkNull(t.Elem(), false, path)
			s.value(t.Elem(), path)
		}
		_, _ = s.Token() // valid JSON has the bracket
		return
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && s.enter('['):
		for s.More() {
			s.checkNull(t.Elem(), false, path)
			s.value(t.Elem(), path)
		}
		_, _ = s.Token() // valid JSON has the bracket
		return
	case k == reflect.Slice && len(s.rest()) > 0 && s.rest()[0] == '[': // encoding/json reads bytes from numbers too
		s.note(fmt.Errorf("%s: want bytes in base64, got array", strings.TrimSuffix(path, ".")))
	case k >= reflect.Int && k <= reflect.Uint64:
		s.integer()
		return
	}
	var skipped json.RawMessage
	_ = s.Decode(&skipped) // valid JSON
}

// rest returns the JSON from the next value on.
func (s *scanner) rest() []byte { return bytes.TrimLeft(s.data[s.InputOffset():], " \t\r\n:,") }

// enter passes an opening bracket, and reports whether there is one.
func (s *scanner) enter(bracket byte) bool {
	if rest := s.rest(); len(rest) == 0 || rest[0] != bracket {
		return false
	}
	_, err := s.Token()
	return err == nil
}

// object walks over the fields of an object. Decode refuses those that the table lacks.
func (s *scanner) object(known table, path string) {
	var seen []string
	for s.More() {
		token, _ := s.Token() // valid JSON
		name, _ := token.(string)
		f, ok := known.fields[name]
		if !ok {
			var skipped json.RawMessage
			_ = s.Decode(&skipped) // valid JSON
			continue
		}
		seen = append(seen, name)
		s.checkNull(f.kind, f.isRequired, path+name+".")
		s.value(f.kind, path+name+".")
	}
	_, _ = s.Token() // valid JSON has the bracket
	if err := known.rules.check(seen); err != nil {
		s.note(fmt.Errorf("%s%w", pathOf(path), err))
	}
	var missing []string
	for name, f := range known.fields {
		if f.isRequired && !slices.Contains(seen, name) {
			missing = append(missing, path+name)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		s.note(fmt.Errorf("%s: want %s, got nothing", missing[0], wanted(known.fields[strings.TrimPrefix(missing[0], path)].kind)))
	}
}

// checkNull notes a null in place of a value of the type t. A required list or map may be null, because Go writes an
// empty one so, and any JSON may be null.
func (s *scanner) checkNull(t reflect.Type, isRequired bool, path string) {
	k := t.Kind()
	if t == reflect.TypeFor[json.RawMessage]() || k == reflect.Interface || !bytes.HasPrefix(s.rest(), []byte("null")) {
		return
	}
	if isRequired && (k == reflect.Slice || k == reflect.Map) {
		return
	}
	hint := ""
	if !isRequired {
		hint = "; leave it out"
	}
	s.note(fmt.Errorf("%swant %s, got null%s", pathOf(path), wanted(t), hint))
}

// pathOf returns "path: " for a path with a dot at its end, and "" for the outer value.
func pathOf(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, ".") + ": "
}

func (s *scanner) note(problem error) {
	if s.problem == nil {
		s.problem = problem
	}
}

// integer passes the value of an integer, and rewrites a whole number that has a fraction or an exponent.
func (s *scanner) integer() {
	var value json.RawMessage
	_ = s.Decode(&value) // valid JSON
	text := wholeNumber(string(value))
	if text == string(value) {
		return
	}
	end := int(s.InputOffset())
	s.out = append(append(s.out, s.data[s.kept:end-len(value)]...), text...)
	s.kept = end
}

// wholeNumber returns the digits of a JSON number that is whole, and any other text as it is.
func wholeNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") || strings.HasPrefix(text, `"`) || len(text) > 400 {
		return text
	}
	if digits, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") == "" {
		return digits
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExact {
		return strconv.FormatInt(int64(f), 10)
	}
	return text
}
