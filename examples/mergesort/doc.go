// Command mergesort sorts numbers on a tuple space, for a course: sorted runs are tuples,
// and a worker that takes two of them merges them into one.
//
//	go run ./examples/mergesort
//	go run ./examples/mergesort -dead 2 -slow 1 -trace mergesort.jsonl
//
// A worker takes two runs under a lease. If it dies, the runs return to the space when the
// lease ends. If it is late, its merge is refused, because another worker may have merged
// the runs meanwhile. mergesort.tup is the model; README.md is the tutorial.
package main
