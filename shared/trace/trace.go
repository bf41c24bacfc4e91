// Package trace is the event log of an engine: what happened to which tuple, in
// the one order in which everything happened, for people and for the checker
// that holds the running system against its models (tup4fun).
//
// An Event is written at the linearisation point of its operation, and only when
// that operation is durable; sequence numbers begin at 1 and have no gaps.
// A log is JSON lines, one event each.
package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Reload is the operation of an event that is about no tuple: the engine has
// lost touch with its journal and stands where that stands. Of the operations
// just before, some may have happened that the log does not have, and volatile
// spaces are empty; whoever follows the log begins anew.
const Reload = "reload"

// Event is one operation on one tuple, or one that found none. What a procedure
// only reads is no event, nor are the operations on whole spaces: create, list
// and count.
type Event struct {
	Seq       uint64        `json:"seq"`
	Clock     time.Duration `json:"clock_ns"` // elapsed engine time
	Process   string        `json:"process"`  // session; empty for an expiry
	Role      string        `json:"role,omitempty"`
	Procedure string        `json:"procedure,omitempty"` // empty for a plain operation
	Operation string        `json:"operation"`           // put, get, queryp, hold, …
	Space     string        `json:"space"`
	Template  string        `json:"template,omitempty"` // in the notation of package tuple
	Tuple     string        `json:"tuple,omitempty"`    // put, taken or found; empty: none was
}

// RoleOf returns the role in a session id such as worker-7f3a9c01, else "".
func RoleOf(session string) string {
	role, _, ok := strings.Cut(session, "-")
	if !ok {
		return ""
	}
	return role
}

// Writer writes events as JSON lines, each at once, so that what a killed process
// leaves ends with a whole line. It is not safe for concurrent use; an engine
// writes its events one after the other.
type Writer struct {
	enc *json.Encoder
	err error
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &Writer{enc: enc}
}

// Write appends one event. After an error nothing more is written; Err has it.
func (w *Writer) Write(e Event) {
	if w.err != nil {
		return
	}
	w.err = w.enc.Encode(e)
}

// Err returns the error that ended the log, if any.
func (w *Writer) Err() error { return w.err }

// Read calls each with every event of a log until its end or the first error,
// which names the line. Lines longer than 4 MiB are refused.
func Read(r io.Reader, each func(Event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("trace: line %d: %w", n, err)
		}
		if e.Seq != uint64(n) {
			return fmt.Errorf("trace: line %d has seq %d: the log has a gap", n, e.Seq)
		}
		if err := each(e); err != nil {
			return fmt.Errorf("trace: line %d: %w", n, err)
		}
	}
	return lines.Err()
}
