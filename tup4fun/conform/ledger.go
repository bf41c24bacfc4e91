package conform

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/shared/trace"
)

// The places of a tuple, as a map names them, and what it is when a get has it that
// is not acknowledged.
const (
	visible = "visible"
	held    = "held"
	taken   = "taken"
)

// ledger keeps account of what docs/trace.md promises of every log, whatever the
// model: who lives, which tuples there are, where, and what they say.
type ledger struct {
	clock    time.Duration
	sessions map[string]bool
	tuples   map[int64]*standing
	loading  bool // what follows a reload is the state
	missing  bool // an event was of a tuple that is not there
}

// standing is one tuple.
type standing struct {
	space, text, place string
}

func newLedger() *ledger {
	return &ledger{sessions: map[string]bool{}, tuples: map[int64]*standing{}}
}

// refused reports whether an event is an operation that changed nothing because it
// was refused, or found nothing.
func refused(e trace.Event) bool {
	switch e.Operation {
	case trace.Call, "create", "putp":
		return e.Ref == 0
	case "put", "get", "getp", "getall", "query", "queryp", "queryall":
		return e.Ref == 0 && e.Result != trace.OK
	}
	return false
}

// reads lists the operations that change nothing.
var reads = []string{"query", "queryp", "queryall"}

// take notes an event. It returns what the tuple was before, if it was there, and
// what in the log contradicts itself.
func (l *ledger) take(e trace.Event) (before *standing, wrong string) {
	if e.Clock < l.clock && e.Operation != trace.Reload { // the journal may stand before what was volatile
		return nil, fmt.Sprintf("the clock goes back, from %s to %s", l.clock, e.Clock)
	}
	l.clock = e.Clock
	if e.Role != trace.RoleOf(e.Process) {
		return nil, fmt.Sprintf("the role of %q is not %q", e.Process, e.Role)
	}
	if wrong := oddResult(e); wrong != "" {
		return nil, wrong
	}
	if e.Operation == trace.Reload {
		clear(l.sessions)
		clear(l.tuples)
		l.loading = true
		return nil, ""
	}
	if e.Operation != trace.Begin && e.Operation != trace.Restore {
		l.loading = false
	}
	if wrong := l.session(e); wrong != "" || e.Space == "" || refused(e) {
		return nil, wrong
	}
	if e.Ref == 0 {
		return nil, "the event names no tuple"
	}
	return l.tuple(e)
}

// results are those that an operation on a tuple, or a session, may have; where there
// is none here it is ok.
var results = map[string][]string{
	trace.Expire:  {"due", "lost", "closed"},
	trace.End:     {"lost", "closed"},
	trace.Restore: {trace.OK, trace.HeldResult, trace.TakenResult},
}

// oddResult says that an event has a result, or a tuple, which none of its kind has.
func oddResult(e trace.Event) string {
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
	if e.Space == "" && (e.Ref != 0 || e.Tuple != "" || e.Procedure != "") {
		return fmt.Sprintf("%s is about no space, but names a tuple or a procedure", e.Operation)
	}
	return ""
}

// session notes who lives.
func (l *ledger) session(e trace.Event) string {
	lives := e.Process == "" || l.sessions[e.Process]
	switch e.Operation {
	case trace.Begin:
		if e.Process == "" || l.sessions[e.Process] {
			return fmt.Sprintf("session %q begins, but it lives already", e.Process)
		}
		l.sessions[e.Process] = true
	case trace.End:
		if e.Process == "" || !lives {
			return fmt.Sprintf("session %q ends, but it does not live", e.Process)
		}
		delete(l.sessions, e.Process)
	case trace.Expire:
		if (e.Result == "due") != lives {
			return fmt.Sprintf("a hold of %q ends with %q, which is not so", e.Process, e.Result)
		}
	case trace.Restore, trace.Ack, "back":
	default:
		if !lives {
			return fmt.Sprintf("session %q does something, but it does not live", e.Process)
		}
	}
	return ""
}

// arrivals are the operations that bring a tuple in.
var arrivals = []string{"put", "putp", trace.Restore}

func (l *ledger) tuple(e trace.Event) (before *standing, wrong string) {
	was := l.tuples[e.Ref]
	if slices.Contains(arrivals, e.Operation) {
		if was != nil {
			return nil, fmt.Sprintf("tuple %d comes, but it is in %s already", e.Ref, was.space)
		}
		if (e.Operation == trace.Restore) != l.loading {
			return nil, "a tuple is restored only after a reload, and put only else"
		}
		l.tuples[e.Ref] = &standing{e.Space, e.Tuple, arrives(e)}
		return nil, ""
	}
	if was == nil {
		l.missing = true
		return nil, fmt.Sprintf("ref %d is not in %s here", e.Ref, e.Space)
	}
	copied := *was
	return &copied, l.change(was, e)
}

// puts reports whether an event brings in the tuple of another.
func puts(e, other trace.Event) bool {
	return e.Ref == other.Ref && e.Space == other.Space && slices.Contains(arrivals, e.Operation)
}

func arrives(e trace.Event) string {
	switch e.Result {
	case trace.HeldResult:
		return held
	case trace.TakenResult:
		return taken
	}
	return visible
}

// places says where a tuple must be for an operation: "" is anywhere.
var places = map[string]string{
	"get": visible, "getp": visible, "getall": visible, "query": visible, "queryp": visible, "queryall": visible,
	"done": held, "ack": taken,
}

// change notes what an event does to a tuple that is there.
func (l *ledger) change(t *standing, e trace.Event) string {
	if t.space != e.Space {
		return fmt.Sprintf("tuple %d is in %s, not in %s", e.Ref, t.space, e.Space)
	}
	if e.Operation != "replace" && t.text != e.Tuple {
		return fmt.Sprintf("tuple %d is %s, not %s", e.Ref, brief(t.text), brief(e.Tuple))
	}
	if want := places[e.Operation]; want != "" && want != t.place {
		return fmt.Sprintf("tuple %d is %s: it must be %s for %s", e.Ref, t.place, want, e.Operation)
	}
	switch e.Operation {
	case "replace":
		t.text = e.Tuple
	case "hold":
		t.place = held
	case "back":
		if t.place == visible {
			return fmt.Sprintf("tuple %d comes back, but nobody has it", e.Ref)
		}
		t.place = visible
	case "get", "getp", "getall":
		t.place = taken
	case "take", "done", trace.Ack:
		delete(l.tuples, e.Ref)
	}
	return ""
}

// brief cuts a tuple for a message.
func brief(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
