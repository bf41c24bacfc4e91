// Command mergesort sorts numbers on a tuple space, for a course: sorted runs are
// tuples, and whoever finds two of them merges them into one.
//
//	go run ./examples/mergesort
//	go run ./examples/mergesort -dead 2 -slow 1 -trace mergesort.jsonl
//
// A worker takes two runs under a lease. One that dies loses nothing, as the runs
// come back when the lease ends; one that is late is told so, and what it merged is
// thrown away, as somebody else may have merged it meanwhile. mergesort.tup is the
// model. README.md tells the story.
package main
