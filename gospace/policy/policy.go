// Package policy has the policies of gospace under the names of goSpace's package policy.
//
// All types are those of package gospace: Aggregation is its AggregationPolicy, Composable its
// ComposablePolicy.
//
// A policy works in the program that calls an aggregation: see docs/interop.md.
package policy

import "leasehold/gospace"

// The types of package gospace.
type (
	Action          = gospace.Action
	ActionSignature = gospace.ActionSignature
	AggregationRule = gospace.AggregationRule
	Aggregation     = gospace.AggregationPolicy
	Composable      = gospace.ComposablePolicy
	Transformation  = gospace.Transformation
	Transformations = gospace.Transformations
)

// NewAction is gospace.NewAction.
func NewAction(function interface{}, params ...interface{}) *Action {
	return gospace.NewAction(function, params...)
}

// NewAggregationRule is gospace.NewAggregationRule.
func NewAggregationRule(a Action, trs Transformations) AggregationRule {
	return gospace.NewAggregationRule(a, trs)
}

// NewAggregation is gospace.NewAggregationPolicy.
func NewAggregation(l Label, r AggregationRule) Aggregation {
	return gospace.NewAggregationPolicy(l, r)
}

// Label is the label of a policy.
type Label = gospace.Label

// NewComposable is gospace.NewComposablePolicy.
func NewComposable(all ...Aggregation) *Composable { return gospace.NewComposablePolicy(all...) }

// NewTransformation is gospace.NewTransformation.
func NewTransformation(function interface{}, params ...interface{}) Transformation {
	return gospace.NewTransformation(function, params...)
}

// NewTransformations is gospace.NewTransformations.
func NewTransformations(trs ...*Transformation) *Transformations {
	return gospace.NewTransformations(trs...)
}
