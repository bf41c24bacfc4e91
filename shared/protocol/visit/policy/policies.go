package policy

import (
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// registered are the policies, the default first. A new policy needs a file with its type
// and one line here.
var registered = []struct {
	name     string
	byTarget bool // it orders origins by their targets
	make     func(Rules) Policy
}{
	{"value", false, func(r Rules) Policy { return Value{r} }},
	{"seed", true, func(r Rules) Policy { return seed{r} }},
	{"swh2026", true, func(r Rules) Policy { return swh{r, "swh2026", [3]float64{40, 40, 20}} }},
	{"swh2026-git", true, func(r Rules) Policy { return swh{r, "swh2026-git", [3]float64{49, 49, 2}} }},
	{"legacy", true, func(r Rules) Policy { return legacy{onePool{r}} }},
	{"roundrobin", false, func(r Rules) Policy { return RoundRobin{onePool{r}} }},
}

// Names are the policies, the default first. ByTarget are those that order origins by
// their targets.
var Names, ByTarget = func() (names, byTarget []string) {
	for _, p := range registered {
		names = append(names, p.name)
		if p.byTarget {
			byTarget = append(byTarget, p.name)
		}
	}
	return names, byTarget
}()

// New returns the policy with a name, under the rules r.ForPolicy(name). It fails with fault.ErrInvalid if no
// policy has the name or r.Check fails.
func New(name string, r Rules) (Policy, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	for _, p := range registered {
		if p.name == name {
			return p.make(r.ForPolicy(name)), nil
		}
	}
	return nil, fmt.Errorf("visit policy %q: %w: want one of %s", name, fault.ErrInvalid, strings.Join(Names, ", "))
}
