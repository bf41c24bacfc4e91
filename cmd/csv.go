package cmd

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"leasehold/shared/process/wording"
)

// printCSV prints rows with the names and values of their JSON fields: a time as in JSON, a list or an object
// as JSON text, an absent field as an empty cell. On a terminal, cells are printable, as in a table; elsewhere
// programs read them, so they are complete.
func printCSV[T row](a *app, rows []T) error {
	toTerminal := isTerminal(a.out)
	w := csv.NewWriter(a.out)
	fields := fieldsOf(reflect.TypeFor[T](), nil)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if err := w.Write(names); err != nil {
		return err
	}
	for _, r := range rows {
		record := make([]string, len(fields))
		for i, f := range fields {
			v := reflect.ValueOf(r).FieldByIndex(f.index)
			if f.absent && v.IsZero() {
				continue
			}
			cell, err := csvCell(v)
			if err != nil {
				return err
			}
			record[i] = cell
			if toTerminal {
				record[i] = wording.Printable(cell)
			}
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// A field is one field of a struct as JSON shows it.
type field struct {
	name   string
	index  []int
	absent bool // if its value is zero
}

// fieldsOf lists the fields of a struct that have a JSON name, with those of embedded
// structs in their place. at is the index of t in the struct that contains it; nil: t is
// not embedded.
func fieldsOf(t reflect.Type, at []int) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int{}, at...), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			fields = append(fields, fieldsOf(f.Type, index)...)
		case name != "" && name != "-":
			fields = append(fields, field{name, index, strings.Contains(options, "omitempty")})
		}
	}
	return fields
}

// csvCell returns the text of a value. It puts ' before text that a spreadsheet would take for a formula;
// numbers are left as they are.
func csvCell(v reflect.Value) (string, error) {
	if t, ok := v.Interface().(time.Time); ok && t.IsZero() {
		return "", nil
	}
	switch v.Kind() {
	case reflect.String:
		return noFormula(v.String()), nil
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0 {
			return "", nil
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if s := ""; json.Unmarshal([]byte(text), &s) == nil { // a string, such as a time
		text = noFormula(s)
	}
	return text, nil
}

// noFormula returns s, with ' before it if a spreadsheet would take s for a formula because of
// its first character.
func noFormula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
