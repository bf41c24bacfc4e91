// Command philosophers is the dining philosophers on a tuple space, for a course: the
// forks are tuples, and a get takes one.
//
//	go run ./examples/philosophers
//	go run ./examples/philosophers -tickets -trace tickets.jsonl
//
// Without tickets the dinner ends in a deadlock, which the program detects and reports.
// The models philosophers.tup and tickets.tup explain the deadlock and prove that tickets
// prevent it. README.md is the tutorial.
package main
