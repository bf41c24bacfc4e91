package explore_test

import (
	"context"
	"fmt"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

func Example() {
	p, err := syntax.Parse("forks.tup", `Fork = (R, 2, {(1), (2)})
---
par 2 * proc Phil(i) = loop true -> Fork.get(i); Fork.get(3 - i); Fork.put(i); Fork.put(3 - i) pool rap
---
deadlockfree;
bound Fork <= 2;`)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := explore.Compile(p, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := explore.Check(context.Background(), m, explore.Options{Reduction: explore.FullReduction})
	for _, v := range r.Verdicts {
		fmt.Println(v.Name, v.Outcome)
	}
	fmt.Println(r.Verdicts[0].Trace.Steps[3].Actions[0].Tuple)
	// Output:
	// deadlockfree violated
	// bound Fork holds
	// noerrors holds
	// (1)
}
