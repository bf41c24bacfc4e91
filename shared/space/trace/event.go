// Package trace is the event log of an engine: what happened to which tuple, in
// execution order, for people and for the checker that checks the running system
// against its models (tup4fun). docs/trace.md describes it for readers of logs.
//
// Invariants: an Event is at the linearisation point of its operation, and is written only when that operation is
// durable. Sequence numbers begin at 1 and have no gaps, also over restarts. When an engine starts, or has loaded its
// journal again, it writes Reload and then its whole state; from there on the events alone tell the content of every
// space. A log is JSON lines, one event each, and ends with a whole line.
//
// Of the tuples of our protocols the package knows only the field that names a lease.
package trace

import (
	"strings"
	"time"
)

// Operations that are neither a verb of space.Verb nor a space.Change.
const (
	// Reload begins the log of a process. Later in a log it means that a commit failed and the engine has loaded its
	// journal again; operations just before it may have happened without being in the log. The events that follow, up
	// to the first other than Settings, Begin and Restore, are the whole state, so that a reader of the log drops the state
	// that it has collected.
	Reload = "reload"
	// Restore means that a tuple is in a space. Its result is OK, HeldResult or
	// TakenResult; the process is the holder.
	Restore = "restore"
	// Settings tells with which settings the process runs, because a model may depend on them. It follows a Reload,
	// and its tuple has pairs of a name and a value, as ("max-attempts", 3).
	Settings = "settings"
	// Hide means that a tuple is held by no session, as during a back-off: it cannot be got.
	Hide   = "hide"
	Begin  = "begin"  // a session begins, or is restored
	End    = "end"    // a session ends; the result is the cause: lost or closed
	Expire = "expire" // a hold or a TTL ends; the result is the cause: Due, Lost or closed
	Ack    = "ack"    // a get is acknowledged: its tuple cannot come back
	Call   = "call"   // a procedure that was refused
)

// Causes of an Expire, as package space names them.
const (
	Due  = "due"
	Lost = "lost"
)

// Results that are neither the wire code of an error nor the cause of an end.
const (
	OK          = "ok"
	None        = "none"  // a get or query found nothing
	HeldResult  = "held"  // of Restore
	TakenResult = "taken" // of Restore: by an unacknowledged get
)

// Event is one operation on one tuple, one that found none, or one that was refused.
// There are no events for what a procedure only reads, nor for the operations on whole
// spaces: create, list and count.
type Event struct {
	Seq       uint64        `json:"seq"`
	Clock     time.Duration `json:"clock"`   // elapsed engine time, in nanoseconds
	Process   string        `json:"process"` // session; empty for what an expiry does
	Role      string        `json:"role,omitempty"`
	Procedure string        `json:"procedure,omitempty"` // empty for a plain operation
	Operation string        `json:"operation"`           // put, get, queryp, hold, …
	Space     string        `json:"space"`
	Template  string        `json:"template,omitempty"` // in the notation of package tuple
	Tuple     string        `json:"tuple,omitempty"`    // as it is afterwards, or was when it went
	Ref       int64         `json:"ref,omitempty"`      // identifies the tuple for ever, through all its changes
	Result    string        `json:"result"`
	Lease     string        `json:"lease,omitempty"` // that the tuple names, see LeaseOf
	// Due is the engine time at which the hold of the tuple, or the TTL of one that is not held, ends if nothing changes
	// it; 0: never, or the tuple is gone.
	Due time.Duration `json:"due,omitempty"`
	// Beside is, for an Expire with the session, how many other holds with the same procedure the session had.
	Beside int `json:"beside,omitempty"`
}

// RoleOf returns the role in a session id such as worker-7f3a9c01, else "".
func RoleOf(session string) string {
	role, _, ok := strings.Cut(session, "-")
	if !ok {
		return ""
	}
	return role
}
