// Package tuple is the data of a tuple space: tuples, the templates that match
// them, and the binary form in which both travel.
//
// A tuple is an ordered list of fields; a field is one of the Go types bool,
// int, int32, int64, float32, float64, string and []byte, a nested Tuple, nil,
// or an Opaque (a value of a foreign type, carried but not understood). A
// template is a tuple in which some fields are formals, which match every value of one
// type. The other fields are actuals, which match equal values.
//
// Invariants:
//   - int 1, int32 1 and int64 1 are three different values, as in every
//     pSpaces implementation.
//   - NaN equals NaN and 0 equals -0, so that a get can match every tuple that was put.
//   - A valid tuple has at most MaxArity fields, nests at most MaxDepth deep and
//     takes at most MaxBytes encoded.
//   - Tuples are immutable by convention: code that passes one on does not change it
//     afterwards. Clone where that cannot be known.
//
// The package never resolves a type's name to a Go type, and imports only the
// standard library.
package tuple

import (
	"bytes"
	"errors"
	"math"
	"slices"
)

// Bounds of a tuple, so that one malicious message cannot take much memory.
const (
	MaxBytes = 1 << 20 // encoded size
	MaxArity = 64      // fields, per level
	MaxDepth = 8       // levels, including the outermost
)

// The errors of malformed tuples and templates.
var (
	ErrType   = errors.New("field of an unsupported type")
	ErrBounds = errors.New("tuple out of bounds")
	ErrFormat = errors.New("malformed encoding")
)

// Whether a list of fields may have formals: a template may, but its nested tuples may not.
const (
	withoutFormals = false
	withFormals    = true
)

// outermost is the depth of a tuple outside all others; the limit is MaxDepth.
const outermost = 1

// Tuple is an ordered list of fields; see the package comment for their types.
type Tuple []any

// Template is a tuple whose fields may also be formals (Formal).
type Template []any

// Formal is a template field that matches every value of one type.
type Formal struct{ Type Type }

// Opaque is a value of a foreign type: its name, and its value as JSON. Two are
// equal when both strings are.
type Opaque struct{ Name, JSON string }

// New makes a tuple of the given fields; without any the empty one, not nil.
func New(fields ...any) Tuple {
	if fields == nil {
		return Tuple{}
	}
	return fields
}

// Match makes a template of the given actuals and formals; without any the one
// that matches the empty tuple, not nil.
func Match(fields ...any) Template {
	if fields == nil {
		return Template{}
	}
	return fields
}

// Clone returns a copy that shares nothing mutable with t; nil of nil.
func (t Tuple) Clone() Tuple { return cloneFields(t) }

// Clone returns a copy that shares nothing mutable with p.
func (p Template) Clone() Template { return cloneFields(p) }

// cloneFields copies the fields that can be changed in place; all others are immutable.
func cloneFields(fields []any) []any {
	if fields == nil {
		return nil
	}
	c := make([]any, len(fields))
	for i, f := range fields {
		switch v := f.(type) {
		case []byte:
			c[i] = bytes.Clone(v)
		case Tuple:
			c[i] = v.Clone()
		default:
			c[i] = f
		}
	}
	return c
}

// Equal reports whether two tuples have equal fields of equal types.
func (t Tuple) Equal(u Tuple) bool {
	return slices.EqualFunc(t, u, equal)
}

// equal reports whether two fields have the same type and value. Values of types that == cannot
// compare are handled before it, because it would panic; NaN equals NaN.
func equal(a, b any) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case Tuple:
		y, ok := b.(Tuple)
		return ok && x.Equal(y)
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	case float32:
		y, ok := b.(float32)
		return ok && (x == y || x != x && y != y) // only NaN differs from itself
	}
	switch b.(type) {
	case []byte, Tuple:
		return false
	}
	return a == b
}

// Str returns field i if it is a string, else "".
func (t Tuple) Str(i int) string { s, _ := field[string](t, i); return s }

// Int64 returns field i if it is an int64, else 0.
func (t Tuple) Int64(i int) int64 { n, _ := field[int64](t, i); return n }

// Bool returns field i if it is a bool, else false.
func (t Tuple) Bool(i int) bool { b, _ := field[bool](t, i); return b }

// field returns field i and true if it is of type T; otherwise, and for an i out of range, zero and false.
func field[T any](t Tuple, i int) (T, bool) {
	var zero T
	if i < 0 || i >= len(t) {
		return zero, false
	}
	v, ok := t[i].(T)
	return v, ok
}
