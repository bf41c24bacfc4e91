// Command examples runs a program of the course in README.md:
//
//	go run ./examples hello
//	go run ./examples lock -trace lock.jsonl
//
// Each program is a package of its own, with its model beside it.
package main
