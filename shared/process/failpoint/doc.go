// Package failpoint marks the places in the code at which a kill matters most: before and
// after each step that makes something durable, and before an answer leaves. Code calls
// Reached at such a place.
//
// In a normal build Reached is an empty function, which the compiler removes. Built with
// the tag failpoints, a process kills itself with SIGKILL at the place that the
// environment selects:
//
//	FAILPOINT=POINT[/OF]:VISIT[:stop]
//
// For example commit.after:3 is the third time that a commit is done, and call.after/task.claim:1 the moment when
// the first claim is durable and not answered yet. Several points, separated by spaces, must be met one after the
// other: the visits of the second count once the first was met. The process runs nothing after that: no deferred
// function, no flush. With :stop the process does not die but stops as with SIGSTOP, and continues at SIGCONT.
//
// internal/chaos sets the variable, and checks that a test meets every point of the
// source. This package knows no point by name.
package failpoint
