// Package gob reads and writes the gob encoding of Go values without knowing their types.
// Package encoding/gob decodes into Go types, and must find a Go type for each name in a
// message; this package never does. It reads the values that its caller asks for, and
// copies all others with the definitions of their types.
//
// A stream is messages, each with its length before it. A message defines a type or is a
// value; a value of an interface type has the name of its type, and may define types
// within. See the documentation of encoding/gob for the encoding.
//
// Invariants: a Reader never panics, never follows more than its limits allow, and takes
// memory in proportion to the bytes that have arrived. Copies have one form: types are
// numbered in the order of their first use, and the entries of maps are sorted.
package gob
