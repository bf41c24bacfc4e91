package strictjson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"leasehold/shared/process/wording"
)

// Rules say which fields of a JSON object must be present together. A struct has them as the tags of a blank field:
//
//	_ struct{} `least:"1" needs:"on_limit=limits,hold_s=ack"`
type Rules struct {
	Least bool                // at least one field must be present
	Needs map[string][]string // a field may be present only with these
	names []string            // of all fields, for errors
}

// RulesOf returns the rules of a struct, without those of the structs that it embeds. It panics on another text of a tag,
// which is a mistake in the source.
func RulesOf(t reflect.Type) Rules {
	blank, ok := t.FieldByNameFunc(func(name string) bool { return name == "_" })
	if !ok || len(blank.Index) > 1 {
		return Rules{}
	}
	r := Rules{Least: blank.Tag.Get("least") == "1", Needs: map[string][]string{}, names: fieldsOf(t, false)}
	if needs := blank.Tag.Get("needs"); needs != "" {
		for rule := range strings.SplitSeq(needs, ",") {
			name, other, ok := strings.Cut(rule, "=")
			if !ok || !slices.Contains(r.names, name) || !slices.Contains(r.names, other) {
				panic(fmt.Sprintf("rule %q of %v: want field=field", rule, t))
			}
			r.Needs[name] = append(r.Needs[name], other)
		}
	}
	return r
}

// check returns which rule an object with these fields breaks; nil: none.
func (r Rules) check(seen []string) error {
	if r.Least && len(seen) == 0 {
		return fmt.Errorf("want %s", wording.Or(r.names...))
	}
	for _, name := range slices.Sorted(slices.Values(seen)) {
		for _, other := range r.Needs[name] {
			if !slices.Contains(seen, other) {
				return fmt.Errorf("%s has no effect without %s", name, other)
			}
		}
	}
	return nil
}
