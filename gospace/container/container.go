// Package container has the tuples, templates and labels of gospace under the names of goSpace's
// package container.
//
// All types are those of package gospace, so that values of both are exchanged freely.
// A template keeps its pointers: the type TypeField of goSpace is not needed.
// CreateTuple and CreateTemplate are the names of earlier versions.
package container

import (
	"reflect"

	"leasehold/gospace"
)

// The types of package gospace.
type (
	Tuple         = gospace.Tuple
	Template      = gospace.Template
	Label         = gospace.Label
	Labels        = gospace.Labels
	LabelledTuple = gospace.LabelledTuple
	Intertuple    = gospace.Intertuple
	Intertemplate = gospace.Intertemplate
)

// NewTuple is gospace.CreateTuple.
func NewTuple(fields ...interface{}) Tuple { return gospace.CreateTuple(fields...) }

// CreateTuple is NewTuple.
func CreateTuple(fields ...interface{}) Tuple { return gospace.CreateTuple(fields...) }

// CreateIntrinsicTuple returns a tuple with the values to which pointers among fields point.
func CreateIntrinsicTuple(fields ...interface{}) Tuple {
	values := make([]interface{}, len(fields))
	for i, f := range fields {
		values[i] = f
		if v := reflect.ValueOf(f); v.Kind() == reflect.Pointer && !v.IsNil() {
			values[i] = v.Elem().Interface()
		}
	}
	return gospace.CreateTuple(values...)
}

// NewTemplate is gospace.CreateTemplate.
func NewTemplate(fields ...interface{}) Template { return gospace.CreateTemplate(fields...) }

// CreateTemplate is NewTemplate.
func CreateTemplate(fields ...interface{}) Template { return gospace.CreateTemplate(fields...) }

// NewLabel is gospace.NewLabel.
func NewLabel(id string) Label { return gospace.NewLabel(id) }

// NewLabels is gospace.NewLabels.
func NewLabels(ll ...Label) Labels { return gospace.NewLabels(ll...) }

// NewLabelledTuple is gospace.NewLabelledTuple.
func NewLabelledTuple(fields ...interface{}) LabelledTuple {
	return gospace.NewLabelledTuple(fields...)
}
