package interop

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// OpaqueGo is the prefix of the names of opaque values that are values of Go types.
const OpaqueGo = "go:"

// maxTemplates bounds the templates that a pattern is expanded to; a pattern of more is a
// scan of the space.
const maxTemplates = 64

// Range limits which values of the Go type int a formal accepts.
type Range byte

// The ranges.
const (
	AllInts    Range = iota
	NarrowInts       // integers of 32 bits, Java's int
	WideInts         // all others, which are Java's long
)

// Field is what one field of a Pattern accepts.
type Field struct {
	Any    tuple.Template // equal to one of these actuals, or of the type of one of these formals
	Ints   Range          // for the formal of type int
	Object bool           // every value that Java can have: all but nil and opaque values of Go
}

// Pattern matches the tuples of its length whose fields are all accepted.
type Pattern []Field

// Exactly returns the pattern that matches the same tuples as a template.
func Exactly(p tuple.Template) Pattern {
	fields := make(Pattern, len(p))
	for i, f := range p {
		fields[i].Any = tuple.Template{f}
	}
	return fields
}

// Plain returns the template that matches the same tuples as p; ok is false if there is none,
// because a field accepts several types, a range of integers or any object.
func (p Pattern) Plain() (t tuple.Template, ok bool) {
	t = make(tuple.Template, len(p))
	for i, f := range p {
		if len(f.Any) != 1 || f.Ints != AllInts || f.Object {
			return nil, false
		}
		t[i] = f.Any[0]
	}
	return t, true
}

// Matches reports whether t has as many fields as p and all of them are accepted (accepts).
func (p Pattern) Matches(t tuple.Tuple) bool {
	if len(p) != len(t) {
		return false
	}
	for i, f := range p {
		if !f.accepts(t[i]) {
			return false
		}
	}
	return true
}

// accepts reports whether f accepts the value v of a field: as any object, or by one alternative
// of Any whose range allows it.
func (f Field) accepts(v any) bool {
	if f.Object {
		o, isOpaque := v.(tuple.Opaque)
		return v != nil && (!isOpaque || !strings.HasPrefix(o.Name, OpaqueGo))
	}
	for i := range f.Any {
		if f.Any[i:i+1].Matches(tuple.Tuple{v}) && f.inRange(f.Any[i], v) {
			return true
		}
	}
	return false
}

// inRange reports whether Ints allows v for an alternative of Any that matches v. It limits
// values of type int for formals only.
func (f Field) inRange(alternative, v any) bool {
	n, isInt := v.(int)
	_, isFormal := alternative.(tuple.Formal)
	if !isInt || !isFormal || f.Ints == AllInts {
		return true
	}
	narrow := n >= math.MinInt32 && n <= math.MaxInt32
	return narrow == (f.Ints == NarrowInts)
}

// templates returns templates that together match all tuples that p matches, and perhaps more,
// because a template has no range of integers. It combines each alternative of a field with each
// of the others. enumerable is false if there are too many, or a field accepts any object.
func (p Pattern) templates() (all []tuple.Template, enumerable bool) {
	all = []tuple.Template{make(tuple.Template, 0, len(p))}
	for _, f := range p {
		if f.Object || len(all)*len(f.Any) > maxTemplates {
			return nil, false
		}
		longer := make([]tuple.Template, 0, len(all)*len(f.Any))
		for _, t := range all {
			for _, alternative := range f.Any {
				longer = append(longer, append(t[:len(t):len(t)], alternative))
			}
		}
		all = longer
	}
	return all, true
}

// objectFlag is the bit of an encoded field for Field.Object; the lower bits are its Ints.
const objectFlag = 0x80

// encode returns p as an argument of a procedure: the number of fields, and for each its flags
// and its alternatives.
func (p Pattern) encode() []byte {
	data := binary.AppendUvarint(nil, uint64(len(p)))
	for _, f := range p {
		flags := byte(f.Ints)
		if f.Object {
			flags |= objectFlag
		}
		data = f.Any.Append(append(data, flags))
	}
	return data
}

// decodePattern reads a pattern that encode has written, and ignores bytes behind it.
func decodePattern(data []byte) (Pattern, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > tuple.MaxArity {
		return nil, fmt.Errorf("a pattern of %d fields: %w: want at most %d", n, fault.ErrInvalid, tuple.MaxArity)
	}
	data = data[size:]
	p := make(Pattern, 0, n)
	for i := range int(n) {
		if len(data) == 0 {
			return nil, fmt.Errorf("a pattern that ends before field %d: %w", i, fault.ErrInvalid)
		}
		flags := data[0]
		accepted, rest, err := tuple.DecodeTemplate(data[1:])
		if err != nil {
			return nil, fmt.Errorf("field %d of a pattern: %w: %w", i, fault.ErrInvalid, err)
		}
		p, data = append(p, Field{Any: accepted, Ints: Range(flags &^ objectFlag), Object: flags&objectFlag != 0}), rest
	}
	return p, nil
}
