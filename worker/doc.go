// Package worker claims tasks, runs their handlers, and reports, resolves, releases or
// hands back the tasks.
//
// A worker is one session with a number of slots. Each slot holds at most one task. A
// heartbeat keeps the session, and with it the holds, alive. A message from the
// coordinator stops a task that the worker no longer holds, or asks the worker to drain.
// A worker that drains claims nothing new, gives its handlers Config.Drain to finish, and
// hands back the other tasks, which counts no attempt.
//
// A handler that panics fails only its own task. A handler that does not return after its
// context has ended cannot be stopped in Go. Then Run returns ErrStuck, and the process
// should restart itself.
package worker
