package gospace

import (
	"reflect"
	"strings"
	"sync"
)

// ActionSignature identifies the operation and the parameters of an Action. Two actions with equal
// signatures are equal.
type ActionSignature string

// Action is an operation with parameters: a function, and for an aggregation of a space also the
// fields of a template.
type Action struct {
	Oper   string // the name of the function without its package
	Func   interface{}
	Params []interface{}
	Sign   ActionSignature
}

// NewAction returns the action of a function and its parameters, such as
// NewAction(s.GetAgg, template.Fields()...). It panics if function is not a function.
func NewAction(function interface{}, params ...interface{}) *Action {
	name := functionName(reflect.ValueOf(function))
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
	return &Action{name, function, params, ActionSignature(name + printedPattern(params))}
}

// printedPattern prints the fields of a template with their types, so that only equal ones are
// printed alike.
func printedPattern(fields []interface{}) string {
	p, err := encodeTemplate(fields)
	if err != nil {
		return "(" + printed(fields, asTemplate) + ")"
	}
	return p.String()
}

// Equal reports whether both actions have the same operation and equal parameters.
func (a *Action) Equal(other *Action) bool {
	return a != nil && other != nil && a.Sign == other.Sign
}

// Operator returns the name of the operation.
func (a *Action) Operator() string { return a.Oper }

// Function returns the function.
func (a *Action) Function() interface{} { return a.Func }

// Parameters returns the parameters.
func (a *Action) Parameters() []interface{} { return a.Params }

// Signature returns the signature.
func (a *Action) Signature() ActionSignature { return a.Sign }

// String prints the action.
func (a Action) String() string { return a.Oper + "(" + printed(a.Params, asTemplate) + ")" }

// AggregationRule is an action and the transformations that apply to it.
type AggregationRule struct {
	Object  Action
	Subject Transformations
}

// NewAggregationRule returns a rule.
func NewAggregationRule(a Action, trs Transformations) AggregationRule {
	return AggregationRule{a, trs}
}

// Action returns the action.
func (r *AggregationRule) Action() Action { return r.Object }

// Transformations returns the transformations.
func (r *AggregationRule) Transformations() Transformations { return r.Subject }

// String prints the rule.
func (r AggregationRule) String() string { return r.Object.String() + " → " + r.Subject.String() }

// AggregationPolicy permits an action on tuples with a label.
type AggregationPolicy struct {
	Lbl     Label
	AggRule AggregationRule
}

// NewAggregationPolicy returns a policy.
func NewAggregationPolicy(l Label, r AggregationRule) AggregationPolicy {
	return AggregationPolicy{l, r}
}

// Label returns the label.
func (p *AggregationPolicy) Label() Label { return p.Lbl }

// Action returns the action that the policy permits.
func (p *AggregationPolicy) Action() Action { return p.AggRule.Object }

// Apply returns the action as it is; aggregations apply the transformations.
func (p *AggregationPolicy) Apply(a Action) Action { return a }

// String prints the policy.
func (p AggregationPolicy) String() string { return p.Lbl.String() + ": " + p.AggRule.String() }

// ComposablePolicy is a set of aggregation policies by label and by action. Any number of
// goroutines may use it.
type ComposablePolicy struct {
	ActionMap *sync.Map // ActionSignature to Label
	LabelMap  *sync.Map // identifier of a label to AggregationPolicy
}

// NewComposablePolicy returns a set of policies.
func NewComposablePolicy(ars ...AggregationPolicy) *ComposablePolicy {
	c := &ComposablePolicy{&sync.Map{}, &sync.Map{}}
	for _, p := range ars {
		c.Add(p)
	}
	return c
}

// Add adds a policy, and reports whether it was added: neither its label nor its action had one.
func (c *ComposablePolicy) Add(p AggregationPolicy) bool {
	sign, id := p.AggRule.Object.Sign, p.Lbl.ID()
	if _, ok := c.ActionMap.LoadOrStore(sign, p.Lbl.DeepCopy()); ok {
		return false
	}
	if _, ok := c.LabelMap.LoadOrStore(id, p); ok {
		c.ActionMap.Delete(sign)
		return false
	}
	return true
}

// Find returns the label whose policy permits an action; nil if there is none.
func (c *ComposablePolicy) Find(a *Action) *Label {
	if a == nil {
		return nil
	}
	found, ok := c.ActionMap.Load(a.Sign)
	if !ok {
		return nil
	}
	l := found.(Label)
	return &l
}

// Retrieve returns the policy of a label; nil if there is none.
func (c *ComposablePolicy) Retrieve(l Label) *AggregationPolicy {
	found, ok := c.LabelMap.Load(l.ID())
	if !ok {
		return nil
	}
	p := found.(AggregationPolicy)
	return &p
}

// Delete removes the policy of a label, and reports whether there was one.
func (c *ComposablePolicy) Delete(l Label) bool {
	found, ok := c.LabelMap.LoadAndDelete(l.ID())
	if ok {
		c.ActionMap.Delete(found.(AggregationPolicy).AggRule.Object.Sign)
	}
	return ok
}

// String prints the policies.
func (c ComposablePolicy) String() string {
	var words []string
	c.LabelMap.Range(func(_, p any) bool {
		words = append(words, p.(AggregationPolicy).String())
		return true
	})
	return "{" + strings.Join(words, ", ") + "}"
}
