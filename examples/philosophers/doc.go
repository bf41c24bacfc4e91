// Command philosophers is the dining philosophers on a tuple space, for a course:
// the forks are tuples, and to take one is get.
//
//	go run ./examples/philosophers
//	go run ./examples/philosophers -tickets -trace tickets.jsonl
//
// Without tickets the dinner ends in a deadlock, which the program sees and says.
// The models beside it, philosophers.tup and tickets.tup, say why, and that tickets
// mend it. README.md tells the story.
package main
