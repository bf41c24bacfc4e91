// Package failpoint names the moments at which it matters most that a process
// may die: before and after each step that makes something durable, and before
// an answer leaves. Code says Reached at such a moment, in one line.
//
// In a normal build that is nothing: an empty function, which the compiler takes
// away. Built with the tag failpoints, a process kills itself with SIGKILL at one
// moment, which the environment names:
//
//	FAILPOINT=POINT[/OF]:VISIT[:stop]
//
// such as commit.after:3, the third time that a commit is done, or
// call.after/task.claim:1, the first claim that is durable and not answered yet.
// Several moments, separated by spaces, come one after the other: the visits of the
// second count once the first has passed. Nothing of the process happens after that: no
// deferred function, no flush. With stop the process does not die, but stops as at
// SIGSTOP, and goes on at SIGCONT.
//
// internal/chaos is what sets it, and sees to it that every point of the source is
// met. The package knows no point by name.
package failpoint
