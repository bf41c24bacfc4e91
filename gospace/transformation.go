package gospace

import (
	"fmt"
	"reflect"
)

// Transformation is a function of one argument, which gets the fields of a tuple or template as a
// []interface{}. The parameters are kept for the program.
type Transformation struct {
	Func   interface{}
	Params []interface{}
}

// NewTransformation returns a transformation.
func NewTransformation(function interface{}, params ...interface{}) Transformation {
	return Transformation{function, params}
}

// Function returns the function.
func (t *Transformation) Function() interface{} { return t.Func }

// Parameters returns the parameters.
func (t *Transformation) Parameters() []interface{} { return t.Params }

// Apply calls the function with fields. It returns an error if the function does not have the
// type func(interface{}) T, or if it panics.
func (t *Transformation) Apply(fields ...interface{}) (result interface{}, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, invalid("the transformation panicked: %v", p)
		}
	}()
	v := reflect.ValueOf(t.Func)
	if v.Kind() != reflect.Func || v.Type().NumIn() != 1 || v.Type().NumOut() != 1 {
		return nil, invalid("a transformation of type %T: want func(interface{}) and one result", t.Func)
	}
	return v.Call([]reflect.Value{reflect.ValueOf(fields)})[0].Interface(), nil
}

// String prints the name of the function.
func (t Transformation) String() string { return printed([]interface{}{t.Func}, asTuple) }

// Transformations are applied to the template, each match and the result of an aggregation. One without a function
// changes nothing.
type Transformations struct {
	Tmpl, Mtch, Rslt Transformation
}

// NewTransformations returns the transformations of template, match and result; nil unless there
// are exactly three.
func NewTransformations(trs ...*Transformation) *Transformations {
	if len(trs) != 3 || trs[0] == nil || trs[1] == nil || trs[2] == nil {
		return nil
	}
	return &Transformations{*trs[0], *trs[1], *trs[2]}
}

// Template returns the transformation of the template: func(interface{}) Template.
func (t *Transformations) Template() *Transformation { return &t.Tmpl }

// Match returns the transformation of each match: func(interface{}) Intertuple.
func (t *Transformations) Match() *Transformation { return &t.Mtch }

// Result returns the transformation of the result: func(interface{}) Intertuple.
func (t *Transformations) Result() *Transformation { return &t.Rslt }

// String prints the names of the functions.
func (t Transformations) String() string {
	return fmt.Sprintf("(%s, %s, %s)", t.Tmpl, t.Mtch, t.Rslt)
}

// transformTemplate returns the transformed fields of a template.
func (t *Transformations) transformTemplate(fields []interface{}) ([]interface{}, error) {
	if t.Tmpl.Func == nil {
		return fields, nil
	}
	result, err := t.Tmpl.Apply(fields...)
	if err != nil {
		return nil, err
	}
	switch tp := result.(type) {
	case Template:
		return tp.Flds, nil
	case *Template:
		if tp != nil {
			return tp.Flds, nil
		}
	}
	return nil, invalid("the transformation of a template returned %T: want Template", result)
}

// transform returns the transformed tuple; it itself without a function.
func (t *Transformation) transform(it Intertuple) (Intertuple, error) {
	if t.Func == nil {
		return it, nil
	}
	fields := it.Fields()
	if lt, ok := it.(*LabelledTuple); ok {
		fields = lt.Flds
	}
	result, err := t.Apply(fields...)
	if err != nil {
		return nil, err
	}
	if changed, ok := result.(Intertuple); ok {
		return changed, nil
	}
	return nil, invalid("a transformation returned %T: want a pointer to a tuple", result)
}
