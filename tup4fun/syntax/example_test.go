package syntax_test

import (
	"fmt"

	"leasehold/tup4fun/syntax"
)

func Example() {
	p, err := syntax.Parse("counter.tup", "x = 0\n---\npar x := x + 1 [] x := x + 1 rap")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(p.Procs), "processes")
	for _, w := range syntax.Warn(p) {
		fmt.Println(w)
	}
	// Output:
	// 2 processes
	// counter.tup:1:1: warning: x is one shared variable, written by P1, P2: one may overwrite a value that another has read; var x inside a process is local
}
