package gospace

import (
	"fmt"
	"reflect"
	"strings"

	"leasehold/shared/tuple"
)

// Intertuple is what tuples and labelled tuples have in common.
type Intertuple interface {
	Length() int
	Fields() []interface{}
	GetFieldAt(i int) interface{}
	SetFieldAt(i int, val interface{}) bool
	Apply(fun func(field interface{}) interface{}) bool
	Tuple() Tuple
}

// TupleFrame is Intertuple.
type TupleFrame = Intertuple

// Tuple is an ordered list of fields.
type Tuple struct{ Flds []interface{} }

// CreateTuple returns a tuple of a copy of fields.
func CreateTuple(fields ...interface{}) Tuple {
	return Tuple{append([]interface{}{}, fields...)}
}

// Length returns the number of fields.
func (t *Tuple) Length() int { return len(t.Flds) }

// Fields returns the fields themselves, not a copy.
func (t *Tuple) Fields() []interface{} { return t.Flds }

// GetFieldAt returns field i, from 0. It panics if there is none.
func (t *Tuple) GetFieldAt(i int) interface{} { return t.Flds[i] }

// SetFieldAt sets field i, and reports whether there is one.
func (t *Tuple) SetFieldAt(i int, val interface{}) bool { return setField(t.Flds, i, val) }

// Apply replaces each field by what fun returns for it, and reports whether there is a field.
func (t *Tuple) Apply(fun func(field interface{}) interface{}) bool { return apply(t.Flds, fun) }

// Tuple returns a copy.
func (t *Tuple) Tuple() Tuple { return CreateTuple(t.Flds...) }

// Match reports whether tp matches the tuple.
func (t *Tuple) Match(tp Template) bool { return matches(tp.Flds, t.Flds) }

// WriteToVariables stores each field through the pointer at its position. It reports false, and
// stores nothing, if there are fewer or more pointers than fields; it panics if a pointer has
// another type than its field.
func (t *Tuple) WriteToVariables(params ...interface{}) bool {
	if len(params) != len(t.Flds) {
		return false
	}
	for i, p := range params {
		v := reflect.ValueOf(p).Elem()
		if t.Flds[i] == nil {
			v.SetZero()
		} else {
			v.Set(reflect.ValueOf(t.Flds[i]))
		}
	}
	return true
}

// GetParenthesisType returns the brackets of the printed form.
func (t Tuple) GetParenthesisType() (string, string) { return "(", ")" }

// GetDelimiter returns the separator of the printed form.
func (t Tuple) GetDelimiter() string { return ", " }

// String prints the tuple, as in ("a", 1, nil).
func (t Tuple) String() string { return "(" + printed(t.Flds, asTuple) + ")" }

// setField sets field i, and reports whether there is one.
func setField(fields []interface{}, i int, val interface{}) bool {
	if i < 0 || i >= len(fields) {
		return false
	}
	fields[i] = val
	return true
}

// apply replaces each field by what fun returns for it, and reports whether there are any.
func apply(fields []interface{}, fun func(interface{}) interface{}) bool {
	for i, f := range fields {
		fields[i] = fun(f)
	}
	return len(fields) > 0
}

// matches reports whether a template matches fields; false if one of them cannot be encoded.
func matches(template, fields []interface{}) bool {
	p, err := encodeTemplate(template)
	if err != nil {
		return false
	}
	values, err := dereferenced(fields)
	if err != nil {
		return false
	}
	t, err := encodeTuple(values)
	return err == nil && p.Matches(t)
}

// How fields are printed: in a template a pointer is printed as the type for which it stands.
const (
	asTuple    = false
	asTemplate = true
)

// printed prints the fields of a tuple or, if template is true, of a template: pointers as the types to which they
// point. Functions are printed as their names.
func printed(fields []interface{}, template bool) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		v := reflect.ValueOf(f)
		switch f := f.(type) {
		case nil:
			words[i] = "nil"
		case string:
			words[i] = fmt.Sprintf("%q", f)
		default:
			words[i] = fmt.Sprint(f)
			if t, err := pointedAt(v); template && err == nil {
				words[i] = t.String()
			} else if v.Kind() == reflect.Func {
				words[i] = functionName(v)
			}
		}
	}
	return strings.Join(words, ", ")
}

// pointedAt is pointedType for any value; it refuses any value but a pointer.
func pointedAt(v reflect.Value) (reflect.Type, error) {
	if v.Kind() != reflect.Pointer {
		return nil, invalid("not a pointer")
	}
	return pointedType(v)
}

// Intertemplate is what templates have.
type Intertemplate interface {
	Length() int
	Fields() []interface{}
	GetFieldAt(i int) interface{}
	Apply(fun func(field interface{}) interface{}) bool
	NewTuple() Tuple
}

// TemplateFrame is Intertemplate.
type TemplateFrame = Intertemplate

// Template is the pattern of tuples. A pointer stands for every value of the type to which it points; all others
// match equal values.
type Template struct{ Flds []interface{} }

// CreateTemplate returns a template of a copy of fields. Its pointers are kept, so that values
// are stored through them when its fields are used in an operation.
func CreateTemplate(fields ...interface{}) Template {
	return Template{append([]interface{}{}, fields...)}
}

// Length returns the number of fields.
func (tp *Template) Length() int { return len(tp.Flds) }

// Fields returns the fields themselves, not a copy.
func (tp *Template) Fields() []interface{} { return tp.Flds }

// GetFieldAt returns field i, from 0. It panics if there is none.
func (tp *Template) GetFieldAt(i int) interface{} { return tp.Flds[i] }

// Apply replaces each field by what fun returns for it, and reports whether there is a field.
func (tp *Template) Apply(fun func(field interface{}) interface{}) bool { return apply(tp.Flds, fun) }

// NewTuple returns a tuple that the template matches: a pointer becomes the zero value of its
// type.
func (tp *Template) NewTuple() Tuple {
	t := CreateTuple(tp.Flds...)
	for i, f := range t.Flds {
		if of, err := pointedAt(reflect.ValueOf(f)); err == nil {
			t.Flds[i] = reflect.Zero(of).Interface()
		}
	}
	return t
}

// Equal reports whether both templates match the same tuples.
func (tp *Template) Equal(other *Template) bool {
	p, q, err := encodedPair(tp, other)
	if err != nil || len(p) != len(q) {
		return false
	}
	for i := range p {
		if !equalPatterns(p[i], q[i]) {
			return false
		}
	}
	return true
}

// Match reports whether some tuple is matched by both templates.
func (tp *Template) Match(other *Template) bool {
	p, q, err := encodedPair(tp, other)
	if err != nil || len(p) != len(q) {
		return false
	}
	for i := range p {
		if !equalPatterns(p[i], q[i]) && !stands(p[i], q[i]) && !stands(q[i], p[i]) {
			return false
		}
	}
	return true
}

// ExactMatch reports whether both templates are equal, and counts the fields with equal values and the pointers to
// the same type.
func (tp *Template) ExactMatch(other *Template) (exact bool, values, formals uint) {
	p, q, err := encodedPair(tp, other)
	if err != nil || len(p) != len(q) {
		return false, 0, 0
	}
	for i := range p {
		if !equalPatterns(p[i], q[i]) {
			continue
		}
		if _, ok := p[i].(tuple.Formal); ok {
			formals++
		} else {
			values++
		}
	}
	return int(values+formals) == len(p), values, formals
}

func encodedPair(a, b *Template) (p, q []any, err error) {
	if a == nil || b == nil {
		return nil, nil, invalid("a nil template")
	}
	p, err = encodeTemplate(a.Flds)
	if err == nil {
		q, err = encodeTemplate(b.Flds)
	}
	return p, q, err
}

// equalPatterns reports whether two encoded fields of templates match the same values.
func equalPatterns(a, b any) bool {
	f, formal := a.(tuple.Formal)
	g, other := b.(tuple.Formal)
	if formal || other {
		return formal && other && f == g
	}
	return tuple.Match(a).Matches(tuple.New(b))
}

// stands reports whether a is a formal of the type of the value b.
func stands(a, b any) bool {
	f, ok := a.(tuple.Formal)
	_, other := b.(tuple.Formal)
	return ok && !other && tuple.Match(f).Matches(tuple.New(b))
}

// GetParenthesisType returns the brackets of the printed form.
func (tp Template) GetParenthesisType() (string, string) { return "(", ")" }

// GetDelimiter returns the separator of the printed form.
func (tp Template) GetDelimiter() string { return ", " }

// String prints the template, as in ("x", int).
func (tp Template) String() string { return "(" + printed(tp.Flds, asTemplate) + ")" }
