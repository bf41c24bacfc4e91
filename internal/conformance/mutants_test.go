package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// mutants is the number of mutants of each kind for each log.
var mutants = flag.Int("mutants", 4, "mutants of each kind, of each log")

// mutation changes a log at event i and describes the change. It keeps sequence numbers
// and clocks in place, because wrong ones would give the change away. An empty
// description means that no change was possible.
type mutation func(r *rand.Rand, events []trace.Event, i int) ([]trace.Event, string)

var mutations = []struct {
	name   string
	mutate mutation
}{{"drop", drop}, {"swap", swap}, {"duplicate", duplicate}, {"alter", alter}}

func drop(_ *rand.Rand, events []trace.Event, i int) ([]trace.Event, string) {
	if e := events[i]; e.Space == status.Space && e.Operation == "replace" {
		return nil, "" // a log without this heartbeat is valid
	}
	gone := fmt.Sprint("line ", i+1, " is gone: ", short(events[i]))
	return slices.Delete(events, i, i+1), gone
}

func swap(r *rand.Rand, events []trace.Event, i int) ([]trace.Event, string) {
	j := min(i+1+r.IntN(5), len(events)-1)
	if !covered(events[j]) || independent(events[i:j+1]) || listsState(events[i]) && listsState(events[j]) {
		return nil, ""
	}
	if withoutTime(events[i]) == withoutTime(events[j]) {
		return nil, "" // the logs are equal
	}
	clocks := [2]time.Duration{events[i].Clock, events[j].Clock}
	events[i], events[j] = events[j], events[i]
	events[i].Clock, events[j].Clock = clocks[0], clocks[1]
	return events, fmt.Sprint("lines ", i+1, " and ", j+1, " have changed places: ", short(events[i]), " and ", short(events[j]))
}

// withoutTime returns an event without its time.
func withoutTime(e trace.Event) trace.Event {
	e.Seq, e.Clock = 0, 0
	return e
}

// independent reports whether the first and the last event could have happened in the
// other order: neither of them shares a transaction, session, tuple or lease with an
// event after or before it. The system could have written such a mutant.
func independent(events []trace.Event) bool {
	a, b := events[0], events[len(events)-1]
	for _, e := range events[1:] {
		if related(a, e) {
			return false
		}
	}
	return !slices.ContainsFunc(events[:len(events)-1], func(e trace.Event) bool { return related(e, b) })
}

// listsState reports whether an event lists the state after a reload, where the order is
// free.
func listsState(e trace.Event) bool {
	return e.Operation == trace.Begin || e.Operation == trace.Restore
}

func related(a, b trace.Event) bool {
	together := a.Clock == b.Clock && (a.Process == b.Process || a.Process == "" || b.Process == "")
	return together || a.Process != "" && a.Process == b.Process || a.Ref != 0 && a.Ref == b.Ref || a.Lease != "" && a.Lease == b.Lease
}

func duplicate(r *rand.Rand, events []trace.Event, i int) ([]trace.Event, string) {
	j := min(i+1+r.IntN(5), len(events))
	again := events[i]
	again.Clock = events[j-1].Clock
	return slices.Insert(events, j, again), fmt.Sprint("line ", i+1, " is there again as ", j+1, ": ", short(again))
}

// alter sets one field to its value in another event.
func alter(r *rand.Rand, events []trace.Event, i int) ([]trace.Event, string) {
	e, was, other := &events[i], events[i], events[r.IntN(len(events))]
	switch r.IntN(8) {
	case 0:
		e.Operation = other.Operation
	case 1:
		e.Procedure = other.Procedure
	case 2:
		e.Process, e.Role = other.Process, other.Role
	case 3:
		e.Space = other.Space
	case 4:
		e.Ref = other.Ref
	case 5:
		e.Result = other.Result
	case 6:
		e.Lease = other.Lease
	case 7:
		e.Tuple = altered(r, e.Tuple)
	}
	if *e == was {
		return nil, ""
	}
	return events, fmt.Sprintf("line %d was %s, and is %s", i+1, short(was), short(*e))
}

// altered adds 1 to a number of a tuple, or a letter to one of its short words: ids and
// tokens, but not times, states or bodies, which no model has.
func altered(r *rand.Rand, text string) string {
	fields := strings.Split(strings.Trim(text, "()"), ", ")
	k := r.IntN(len(fields))
	if n, err := strconv.ParseInt(fields[k], 10, 64); err == nil {
		if n < 1<<31 {
			fields[k] = strconv.FormatInt(n+1, 10)
		}
	} else if w := strings.Trim(fields[k], `"`); w != "" && !strings.ContainsAny(w, `\: ,/`) && !strings.Contains(text, w+" ") {
		fields[k] = strconv.Quote(w + "x")
	}
	return "(" + strings.Join(fields, ", ") + ")"
}

// short describes an event in a message.
func short(e trace.Event) string {
	return fmt.Sprintf("%s %s %s %s %.60s %s %d (%s)", e.Process, e.Operation, e.Space, e.Result, e.Tuple, e.Lease, e.Ref, e.Procedure)
}

// uncovered begin the tuples that no model covers, in spaces that some model does: of totals, ingested results, and what
// sessions logged, cost and have as clock.
var uncovered = []string{`("total"`, `("ingested"`, `("logged"`, `("cost"`, `("clock"`}

// covered reports whether one of the models covers an event. None covers visits, the log space and refused operations.
func covered(e trace.Event) bool {
	switch e.Space {
	case lease.Space, task.Space, task.Dead, status.Space:
		return !slices.ContainsFunc(uncovered, func(begin string) bool { return strings.HasPrefix(e.Tuple, begin) })
	case task.Result:
		return !strings.HasPrefix(e.Tuple, `("result", "visit"`)
	}
	return e.Operation == trace.Begin || e.Operation == trace.End
}

// search bounds the search for a state after a reload, which is expensive for mutants. A
// log of the system needs a few states.
const search = 2000

// score counts the mutants and those that were rejected.
type score struct{ made, byLog, byModel int }

// TestMutatedLogsAreRejected counts the mutants that no model rejects. Those that survive are of these kinds; the system
// could have written the first five:
//   - A session that does nothing later does not begin, or does not serve one of its actions: it need not.
//   - An event that a restart follows is missing, such as a take, or the restore of a tuple: the coordinator may be killed
//     when a change is durable and not in the trace, so a model takes changes that it did not see for granted at a reload.
//   - A task is replaced by itself once more or less: its record changed, which is not in the trace. So an extension
//     without progress, and a limit, a pause or a sweep with the same outcome, look alike.
//   - A session's tuples, or the tasks that one procedure pauses, are in another order. A client lists its actions in any
//     order, and two heartbeats may have one clock.
//   - Another session creates a task, or a procedure has the name of another one that may do the same.
//   - Events of two transactions with one clock are mixed, but each step of a model is whole. The trace does not tell
//     where a transaction ends, except by its clock, session and procedure. In fake time many have one clock; in a
//     running system few.
//   - A result has another subject in all its events. The coordinator takes that of a late report from the worker, so the
//     trace cannot tell which of them is wrong.
func TestMutatedLogsAreRejected(t *testing.T) {
	var checkers []*conform.Checker
	for _, p := range conform.Protocols() {
		c, err := conform.LoadProtocol(p, conform.Options{Search: search})
		require.NoError(t, err)
		checkers = append(checkers, c)
	}
	scores := map[string]*score{}
	total := &score{}
	logs := [][]byte{
		recorded(t, 100, 40*time.Minute, false), recorded(t, 101, 40*time.Minute, true), recordedWith(t, 102, 20*time.Minute, true, withUsers),
	}
	for seed, log := range logs {
		var events []trace.Event
		require.NoError(t, trace.Read(bytes.NewReader(log), func(e trace.Event) error {
			events = append(events, e)
			return nil
		}))
		require.Empty(t, verdict(t, checkers, events), "as it was logged")
		r := rand.New(rand.NewPCG(uint64(seed), 99))
		for _, m := range mutations {
			name := fmt.Sprintf("log %d, %s", seed+1, m.name)
			if scores[name] == nil {
				scores[name] = &score{}
			}
			s := scores[name]
			for made := 0; made < *mutants; {
				i := 1 + r.IntN(len(events)-2)
				if !covered(events[i]) {
					continue
				}
				mutant, change := m.mutate(r, slices.Clone(events), i)
				if change == "" {
					continue
				}
				made++
				s.made++
				switch caught := verdict(t, checkers, mutant); {
				case caught == "":
					t.Logf("survived: %s: %s", m.name, change)
				case strings.HasPrefix(caught, "the log contradicts itself"):
					s.byLog++
				default:
					s.byModel++
				}
			}
		}
	}
	for name, s := range scores {
		t.Logf("%-16s %3d mutants: %d contradict themselves, %d a model rejects, %d survive", name, s.made, s.byLog, s.byModel, s.made-s.byLog-s.byModel)
		total.made += s.made
		total.byLog += s.byLog
		total.byModel += s.byModel
	}
	rate := 100 * float64(total.byLog+total.byModel) / float64(total.made)
	t.Logf("killed %.1f %% of %d", rate, total.made)
	require.GreaterOrEqual(t, rate, 70.0, "of many it is 95 %% (docs/benchmarks.md); these are few, of logs that are never twice the same")
}

// verdict returns the reason of the first checker that rejects a log, or "" if none does.
func verdict(t *testing.T, checkers []*conform.Checker, events []trace.Event) string {
	var log bytes.Buffer
	w := trace.NewWriter(&log)
	for i, e := range events {
		e.Seq = uint64(i + 1)
		w.Write(e)
	}
	for _, c := range checkers {
		r, err := c.Check(t.Context(), "mutant.jsonl", bytes.NewReader(log.Bytes()))
		if err != nil {
			return err.Error()
		}
		if r.Outcome == conform.Violates || r.Outcome == conform.Incomplete && r.Explained > 0 {
			why := r.Reason
			if r.Violation != nil {
				why = r.Violation.Why
			}
			return why
		}
	}
	return ""
}
