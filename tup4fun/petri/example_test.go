package petri_test

import (
	"context"
	"fmt"

	"leasehold/tup4fun/petri"
)

// Two processes share a lock.
func Example() {
	n, err := petri.Parse("lock.apt", `
.places lock a b aHas bHas
.transitions aTakes aGives bTakes bGives
.flows
aTakes: {a, lock} -> {aHas}
aGives: {aHas} -> {a, lock}
bTakes: {b, lock} -> {bHas}
bGives: {bHas} -> {b, lock}
.initial_marking {lock, a, b}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := petri.Check(context.Background(), "lock.apt", n, petri.Question{})
	fmt.Println(r.Outcome, r.Markings, r.Edges)
	for _, s := range r.PlaceSemiflows {
		fmt.Println(s.Text, "=", *s.Tokens)
	}
	// Output:
	// holds 3 4
	// lock + aHas + bHas = 1
	// a + aHas = 1
	// b + bHas = 1
}
