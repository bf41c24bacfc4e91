// Package trace is the event log of an engine: what happened to which tuple, in
// the one order in which everything happened, for people and for the checker
// that holds the running system against its models (tup4fun). docs/trace.md
// describes it for those who read logs.
//
// Invariants: an Event stands at the linearisation point of its operation, and is
// written only when that operation is durable. Sequence numbers begin at 1 and
// have no gaps, restarts included. What an engine writes when it starts, or has
// loaded its journal again, begins with Reload and the whole state; from there on
// the events alone say what is in every space. A log is JSON lines, one event
// each, and ends with a whole line.
//
// The package knows the fields in which the tuples of our protocols name a lease,
// and nothing else of them.
package trace

import (
	"strings"
	"time"
)

// Operations that are neither a verb of space.Verb nor a space.Change.
const (
	// Reload begins the log of a process, and says later that the engine has lost
	// touch with its journal and stands where that stands. Of the operations just
	// before, some may have happened that the log does not have. What follows, up
	// to the first event that is neither Begin nor Restore, is the state: whoever
	// follows the log begins anew.
	Reload = "reload"
	// Restore says that a tuple is in a space. Its result is OK, HeldResult or
	// TakenResult; the process is the holder.
	Restore = "restore"
	Begin   = "begin"  // a session begins, or is restored
	End     = "end"    // a session ends; the result is the cause: lost or closed
	Expire  = "expire" // a hold or a TTL is over; the result is the cause: due, lost or closed
	Ack     = "ack"    // a get is acknowledged: its tuple cannot come back
	Call    = "call"   // a procedure that was refused
)

// Results that are neither the wire code of an error nor the cause of an end.
const (
	OK          = "ok"
	None        = "none"  // a look found nothing
	HeldResult  = "held"  // of Restore
	TakenResult = "taken" // of Restore: by a get that is not acknowledged
)

// Event is one operation on one tuple, one that found none, or one that was
// refused. What a procedure only reads is no event, nor are the operations on
// whole spaces: create, list and count.
type Event struct {
	Seq       uint64        `json:"seq"`
	Clock     time.Duration `json:"clock"`   // elapsed engine time, in nanoseconds
	Process   string        `json:"process"` // session; empty if nobody's: what an expiry does
	Role      string        `json:"role,omitempty"`
	Procedure string        `json:"procedure,omitempty"` // empty for a plain operation
	Operation string        `json:"operation"`           // put, get, queryp, hold, …
	Space     string        `json:"space"`
	Template  string        `json:"template,omitempty"` // in the notation of package tuple
	Tuple     string        `json:"tuple,omitempty"`    // as it is afterwards, or was when it went
	Ref       int64         `json:"ref,omitempty"`      // names the tuple for ever, whatever becomes of it
	Result    string        `json:"result"`
	Lease     string        `json:"lease,omitempty"` // that the tuple names, see LeaseOf
}

// RoleOf returns the role in a session id such as worker-7f3a9c01, else "".
func RoleOf(session string) string {
	role, _, ok := strings.Cut(session, "-")
	if !ok {
		return ""
	}
	return role
}
