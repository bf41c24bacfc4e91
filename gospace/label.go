package gospace

import (
	"maps"
	"slices"
	"strings"
)

// Label marks tuples for policies.
type Label Tuple

// NewLabel returns the label with an identifier.
func NewLabel(id string) Label { return Label(CreateTuple(id)) }

// ID returns the identifier; empty for a zero Label.
func (l *Label) ID() string {
	if len(l.Flds) == 0 {
		return ""
	}
	id, _ := l.Flds[0].(string)
	return id
}

// Equal reports whether both labels have the same identifier.
func (l *Label) Equal(other *Label) bool { return other != nil && l.ID() == other.ID() }

// DeepCopy returns a label that shares nothing with l.
func (l *Label) DeepCopy() Label { return NewLabel(l.ID()) }

// ParenthesisType returns the brackets of the printed form.
func (l Label) ParenthesisType() (string, string) { return "|", "|" }

// Delimiter returns the separator of the printed form.
func (l Label) Delimiter() string { return ", " }

// String prints the label, as in |red|.
func (l Label) String() string { return "|" + l.ID() + "|" }

// Labels is a set of labels by identifier. It may be the first field of a tuple. It must not be
// changed by several goroutines at a time.
type Labels map[string]Label

// NewLabels returns a set of labels.
func NewLabels(ll ...Label) Labels {
	ls := Labels{}
	for _, l := range ll {
		ls.Add(l)
	}
	return ls
}

// Add adds a label, and reports whether it was not in the set.
func (ls *Labels) Add(l Label) bool {
	if _, ok := (*ls)[l.ID()]; ok {
		return false
	}
	if *ls == nil {
		*ls = Labels{}
	}
	(*ls)[l.ID()] = l.DeepCopy()
	return true
}

// Retrieve returns the label with an identifier; nil if there is none.
func (ls *Labels) Retrieve(id string) *Label {
	l, ok := (*ls)[id]
	if !ok {
		return nil
	}
	return &l
}

// Delete removes the label with an identifier, and reports whether there was one.
func (ls *Labels) Delete(id string) bool {
	_, ok := (*ls)[id]
	delete(*ls, id)
	return ok
}

// Intersect returns the labels that both sets have, and reports whether there are any.
func (ls *Labels) Intersect(other *Labels) (*Labels, bool) {
	both := NewLabels()
	for id, l := range *ls {
		if other != nil && other.Retrieve(id) != nil {
			both.Add(l)
		}
	}
	return &both, len(both) > 0
}

// Labelling returns the identifiers, sorted.
func (ls *Labels) Labelling() []string {
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(*ls))))
}

// Set returns the labels, sorted by identifier.
func (ls *Labels) Set() []Label {
	set := make([]Label, 0, len(*ls))
	for _, id := range ls.Labelling() {
		set = append(set, (*ls)[id])
	}
	return set
}

// String prints the set, as in {|blue|, |red|}.
func (ls Labels) String() string {
	words := make([]string, 0, len(ls))
	for _, l := range ls.Set() {
		words = append(words, l.String())
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// LabelledTuple is a tuple whose first field is its labels.
type LabelledTuple Tuple

// NewLabelledTuple returns a tuple of a copy of fields. It panics unless the first is Labels.
func NewLabelledTuple(fields ...interface{}) LabelledTuple {
	if len(fields) > 0 {
		if _, ok := fields[0].(Labels); ok {
			return LabelledTuple(CreateTuple(fields...))
		}
	}
	panic("gospace.NewLabelledTuple: want Labels as the first field")
}

// Length returns the number of fields without the labels.
func (lt *LabelledTuple) Length() int { return len(lt.Fields()) }

// Fields returns the fields without the labels, not a copy.
func (lt *LabelledTuple) Fields() []interface{} {
	if len(lt.Flds) == 0 {
		return []interface{}{}
	}
	return lt.Flds[1:]
}

// GetFieldAt returns field i behind the labels, from 0. It panics if there is none.
func (lt *LabelledTuple) GetFieldAt(i int) interface{} { return lt.Fields()[i] }

// SetFieldAt sets field i behind the labels, and reports whether there is one.
func (lt *LabelledTuple) SetFieldAt(i int, val interface{}) bool {
	return setField(lt.Fields(), i, val)
}

// Apply replaces each field behind the labels by what fun returns for it, and reports whether
// there is one.
func (lt *LabelledTuple) Apply(fun func(field interface{}) interface{}) bool {
	return apply(lt.Fields(), fun)
}

// Tuple returns the fields without the labels, as a copy.
func (lt *LabelledTuple) Tuple() Tuple { return CreateTuple(lt.Fields()...) }

// Labels returns the labels.
func (lt *LabelledTuple) Labels() Labels { return labelsOf(lt.Flds) }

// labelsOf returns the labels in the first field; none if it has others.
func labelsOf(fields []interface{}) Labels {
	if len(fields) > 0 {
		if ls, ok := fields[0].(Labels); ok {
			return ls
		}
	}
	return NewLabels()
}

// MatchLabels returns the labels that the tuple shares with ls, and reports whether there are any.
func (lt *LabelledTuple) MatchLabels(ls Labels) (*Labels, bool) {
	own := lt.Labels()
	return own.Intersect(&ls)
}

// MatchTemplate reports whether tp matches the fields behind the labels.
func (lt *LabelledTuple) MatchTemplate(tp Template) bool { return matches(tp.Flds, lt.Fields()) }

// ParenthesisType returns the brackets of the printed form.
func (lt LabelledTuple) ParenthesisType() (string, string) { return "(", ")" }

// Delimiter returns the separator between the labels and the other fields of the printed form.
func (lt LabelledTuple) Delimiter() string { return " : " }

// String prints the tuple, as in ({|red|} : "x", 1).
func (lt LabelledTuple) String() string {
	return "(" + lt.Labels().String() + " : " + printed(lt.Fields(), asTuple) + ")"
}
