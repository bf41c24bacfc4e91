// Package worker claims tasks, runs their handlers, and reports, resolves,
// releases or hands back what they were about.
//
// A worker is one session with a number of slots. Each slot holds at most one
// task. A heartbeat keeps the session, and with it the holds, alive; a message
// from the coordinator stops a task that is no longer the worker's, or tells the
// worker to drain. When it drains, it claims nothing new, lets its handlers finish for a while, and
// hands back the rest, which counts as no attempt.
//
// A handler that panics fails its own task only. One that does not return after
// its context has ended cannot be stopped in Go; Run then returns ErrStuck, and
// the process should restart itself.
package worker
