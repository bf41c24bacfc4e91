package conform

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/shared/space/trace"
)

// The places of a tuple, as a map names them. A tuple is taken while the get that has it is not
// acknowledged.
const (
	visible = "visible"
	held    = "held"   // by a session
	hidden  = "hidden" // held by no session
	taken   = "taken"
)

// logState checks the promises that docs/trace.md makes for every log, independent of the
// model. It tracks live sessions, and the place and text of each tuple.
type logState struct {
	clock    time.Duration
	sessions map[string]bool
	tuples   map[int64]*tupleState
	highest  int64           // the greatest number of a tuple since the reload
	loading  bool            // events after a reload restore the state
	missing  bool            // an event had a tuple that does not exist
	timed    bool            // events tell when holds and TTLs end; those of version 0.1 did not
	expiry   string          // the procedure of the expiry that is under way; "": none
	expiries map[string]bool // the procedures that expiries called so far
	known    map[string]bool // the procedures that a rule names; those of a newer version may run without a session
}

type tupleState struct {
	space, text, place string
	due                time.Duration // when its hold or TTL ends; 0: never
}

func newLogState(known map[string]bool) *logState {
	return &logState{known: known, sessions: map[string]bool{}, tuples: map[int64]*tupleState{}, expiries: map[string]bool{}}
}

// refused reports whether an event is an operation without effect, because it was refused
// or found nothing.
func refused(e trace.Event) bool {
	switch e.Operation {
	case trace.Call, "create", "putp":
		return e.Ref == 0
	case "put", "get", "getp", "getall", "getupto", "query", "queryp", "queryall", "queryupto",
		"count", "receive", "notify", "next", "unnotify":
		return e.Ref == 0 && e.Result != trace.OK
	}
	return false
}

// readOperations lists the operations that change nothing.
var readOperations = []string{"query", "queryp", "queryall", "queryupto"}

// applyEvent applies an event. It returns the state of the tuple before the event (nil if it
// did not exist) and, if the event contradicts the log before it, a description.
func (l *logState) applyEvent(e trace.Event) (before *tupleState, wrong string) {
	if e.Clock < l.clock && e.Operation != trace.Reload { // volatile changes may run ahead of the journal
		return nil, fmt.Sprintf("the clock goes back, from %s to %s", l.clock, e.Clock)
	}
	if wrong := l.followExpiry(e); wrong != "" {
		return nil, wrong
	}
	l.clock = e.Clock
	if e.Role != trace.RoleOf(e.Process) {
		return nil, fmt.Sprintf("the role of %q is not %q", e.Process, e.Role)
	}
	if wrong := checkResult(e); wrong != "" {
		return nil, wrong
	}
	if e.Operation == trace.Reload {
		clear(l.sessions)
		clear(l.tuples)
		l.loading, l.timed, l.highest = true, false, 0
		return nil, ""
	}
	if e.Operation != trace.Begin && e.Operation != trace.Restore && e.Operation != trace.Settings {
		l.loading = false
	}
	if wrong := l.applyToSession(e); wrong != "" || e.Space == "" || refused(e) {
		return nil, wrong
	}
	if e.Ref == 0 {
		return nil, "the event names no tuple"
	}
	return l.applyToTuple(e)
}

// followExpiry describes an effect of a procedure that runs without a session although no expiry called it, or returns
// "". A procedure that another one calls may never be that of an expiry.
func (l *logState) followExpiry(e trace.Event) string {
	if e.Clock != l.clock {
		l.expiry = ""
	}
	switch {
	case e.Operation == trace.Expire:
		l.expiry = e.Procedure
		l.expiries[e.Procedure] = true
	case e.Process != "" || e.Procedure == "":
		l.expiry = ""
	case !l.known[e.Procedure]:
		l.expiry = ""
	case l.expiry == "" || l.expiry != e.Procedure && l.expiries[e.Procedure]:
		return fmt.Sprintf("%s runs without a session, but no expiry calls it here", e.Procedure)
	}
	return ""
}

// results lists the allowed results by operation. Others allow only ok.
var results = map[string][]string{
	trace.Expire:  {"due", "lost", "closed"},
	trace.End:     {"lost", "closed"},
	trace.Restore: {trace.OK, trace.HeldResult, trace.TakenResult},
}

// checkResult describes a result or tuple that events of this kind cannot have, or
// returns "".
func checkResult(e trace.Event) string {
	if refused(e) {
		return ""
	}
	may := results[e.Operation]
	if may == nil {
		may = []string{trace.OK}
	}
	if !slices.Contains(may, e.Result) {
		return fmt.Sprintf("the result of %s cannot be %q", e.Operation, e.Result)
	}
	if e.Operation == trace.Restore && e.Procedure != "" {
		return "a procedure restores a tuple"
	}
	if e.Operation == trace.Restore && e.Result == trace.OK && e.Process != "" {
		return "a session holds a tuple that is visible"
	}
	if e.Space == "" && (e.Ref != 0 || e.Tuple != "" && e.Operation != trace.Settings || e.Procedure != "") {
		return fmt.Sprintf("%s is not about a space, but names a tuple or a procedure", e.Operation)
	}
	return ""
}

// applyToSession tracks the live sessions. It describes an event of a session that cannot do it, or
// returns "". A restored tuple, an acknowledged get and a tuple that comes back may be of any
// session, because the engine writes them, also after its end.
func (l *logState) applyToSession(e trace.Event) string {
	lives := e.Process == "" || l.sessions[e.Process]
	switch e.Operation {
	case trace.Begin:
		if e.Process == "" || l.sessions[e.Process] {
			return fmt.Sprintf("session %q begins, but it is live already", e.Process)
		}
		l.sessions[e.Process] = true
	case trace.End:
		if e.Process == "" || !lives {
			return fmt.Sprintf("session %q ends, but it is not live", e.Process)
		}
		delete(l.sessions, e.Process)
	case trace.Expire:
		if (e.Result == "due") != lives {
			return fmt.Sprintf("a hold of %q cannot end with %q", e.Process, e.Result)
		}
	case trace.Restore, trace.Ack, "back":
	default:
		if !lives {
			return fmt.Sprintf("session %q does something, but it is not live", e.Process)
		}
	}
	return ""
}

// arrivals are the operations that add a tuple.
var arrivals = []string{"put", "putp", trace.Restore}

// applyToTuple applies an event on a tuple. It returns a copy of the state before, which does
// not change with later events, or nil for an event that adds the tuple. wrong describes a
// contradiction; "" is none.
func (l *logState) applyToTuple(e trace.Event) (before *tupleState, wrong string) {
	was := l.tuples[e.Ref]
	l.timed = l.timed || e.Due > 0
	if slices.Contains(arrivals, e.Operation) {
		if was != nil {
			return nil, fmt.Sprintf("tuple %d is put, but it is in %s already", e.Ref, was.space)
		}
		if (e.Operation == trace.Restore) != l.loading {
			return nil, "a tuple is restored only after a reload, and put only at other times"
		}
		if e.Operation != trace.Restore && e.Ref <= l.highest {
			return nil, fmt.Sprintf("ref %d is not new: there was %d", e.Ref, l.highest)
		}
		l.highest = max(l.highest, e.Ref)
		l.tuples[e.Ref] = &tupleState{e.Space, e.Tuple, placeAfter(e), e.Due}
		return nil, ""
	}
	if was == nil {
		l.missing = true
		return nil, fmt.Sprintf("ref %d is not in %s here", e.Ref, e.Space)
	}
	copied := *was
	if wrong := l.checkExpiry(was, e); wrong != "" {
		return &copied, wrong
	}
	return &copied, l.applyChange(was, e)
}

// puts reports whether e adds the tuple that other names.
func puts(e, other trace.Event) bool {
	return e.Ref == other.Ref && e.Space == other.Space && slices.Contains(arrivals, e.Operation)
}

// placeAfter returns where a tuple is after an event that adds it.
func placeAfter(e trace.Event) string {
	switch {
	case e.Result == trace.HeldResult && e.Process == "":
		return hidden
	case e.Result == trace.HeldResult:
		return held
	case e.Result == trace.TakenResult:
		return taken
	}
	return visible
}

// places lists where a tuple may be for an operation. Operations that are missing here
// accept any place.
var places = map[string][]string{
	"get": {visible}, "getp": {visible}, "getall": {visible}, "getupto": {visible},
	"query": {visible}, "queryp": {visible}, "queryall": {visible}, "queryupto": {visible},
	"done": {held, hidden}, "ack": {taken},
}

// checkExpiry describes an expiry before the time that an earlier event told, or returns "".
func (l *logState) checkExpiry(t *tupleState, e trace.Event) string {
	switch {
	case !l.timed || e.Operation != trace.Expire || e.Result != trace.Due:
		return ""
	case t.due == 0:
		return fmt.Sprintf("the time of tuple %d ends, but it has none", e.Ref)
	case e.Clock < t.due:
		return fmt.Sprintf("the time of tuple %d ends at %s, %s early", e.Ref, e.Clock, t.due-e.Clock)
	}
	return ""
}

// applyChange applies an event to an existing tuple. It describes a contradiction, or
// returns "".
func (l *logState) applyChange(t *tupleState, e trace.Event) string {
	if t.space != e.Space {
		return fmt.Sprintf("tuple %d is in %s, not in %s", e.Ref, t.space, e.Space)
	}
	if e.Operation != "replace" && t.text != e.Tuple {
		return fmt.Sprintf("tuple %d is %s, not %s", e.Ref, truncate(t.text), truncate(e.Tuple))
	}
	if want := places[e.Operation]; want != nil && !slices.Contains(want, t.place) {
		return fmt.Sprintf("tuple %d is %s: it must be %s for %s", e.Ref, t.place, strings.Join(want, " or "), e.Operation)
	}
	if e.Operation != trace.Expire && !slices.Contains(readOperations, e.Operation) {
		t.due = e.Due
	}
	switch e.Operation {
	case "replace":
		t.text = e.Tuple
	case "hold":
		t.place = held
	case trace.Hide:
		t.place = hidden
	case "back":
		if t.place == visible {
			return fmt.Sprintf("tuple %d comes back, but no session holds it", e.Ref)
		}
		t.place = visible
	case "get", "getp", "getall", "getupto":
		t.place = taken
	case "take", "done", trace.Ack:
		delete(l.tuples, e.Ref)
	}
	return ""
}

// truncate cuts a tuple for a message.
func truncate(s string) string { return truncateAt(s, 120) }

// truncateAt cuts a text after so many bytes.
func truncateAt(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
