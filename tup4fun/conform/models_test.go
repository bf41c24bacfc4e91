package conform_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
)

// violated lists the properties that do not hold in a model.
func violated(t testing.TB, path, source string) (names []string) {
	t.Helper()
	r := explore.Check(t.Context(), compiled(t, path, source, nil), explore.Options{Reduction: explore.FullReduction, Cores: 1})
	require.Empty(t, r.Reason, path)
	require.Greater(t, len(r.Verdicts), 2, path)
	for _, v := range r.Verdicts {
		if v.Outcome != explore.Holds {
			names = append(names, v.Name)
		}
	}
	return names
}

func TestTheModelsOfTheRunningSystemHold(t *testing.T) {
	t.Parallel()
	models, err := filepath.Glob("models/*.tup")
	require.NoError(t, err)
	require.Len(t, models, len(conform.Protocols()))
	for _, path := range models {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, violated(t, path, string(source)), path)
	}
}

// bugs are plausible bugs of the system, as changes to its models, and the property that
// refutes each. They are the bugs of the broken twins in tup4fun/protocols that one
// instance can show.
var bugs = []struct{ model, bug, old, now, refuted string }{
	{"lease", "a result moves whatever lease there is", "if live = k & k > 0 & f = 1 -> Lease.get(k);", "if live > 0 & f = 1 -> Lease.get(live);", "queued"},
	{"lease", "a lease ends, and leaves its task in the queue", "[] count(Place, (visible)) = 1 -> Place.get(visible)\n            [] count(Place, (hidden)) = 1", "[] count(Place, (visible)) = 1 -> skip\n            [] count(Place, (hidden)) = 1", "queued"},
	{"task", "who releases a task keeps its claim", "Claim.get(token);\n            n := token;", "skip;\n            n := token;", "claimShowsHold"},
	{"task", "a task may time out for ever", "[] counted = 0 || strict = 0 || attempts <= Attempts ->", "[] true ->", "neverFarOver"},
	{"task", "a requeued task keeps its dead letter", "Dead.get(_); attempts := 0; strict := 0;", "attempts := 0; strict := 0;", "eitherAliveOrDead"},
	{"task", "a cancelled task keeps its worker's claim", "Claim.get(token); Place.get(_); Task.get(token)\n     [] count(Claim) = 1 ->                                 // a parent", "Place.get(_); Task.get(token)\n     [] count(Claim) = 1 ->                                 // a parent", "claimShowsHold"},
	{"task", "a task that is dead already is shown again", "if why = delayed & (strict = 0 || attempts <= Attempts) ->", "if why = delayed ->", "neverFarOver"},
	{"capacity", "a manager adds although as many wait as slots serve", "slots > 0 & slots >= waiting", "slots > 0 & slots + 1 >= waiting", "neverTooMany"},
	{"status", "a beat takes the state, and does not put it", "[] count(State) = 1 -> State.get(1); State.put(1)", "[] count(State) = 1 -> State.get(1)", "oneStateAlways"},
	{"visit", "a visit that is lost waits again, and has an outcome", "Result.put(free); Visit.get(_) // it took", "Result.put(free); Visit.get(_); Visit.put(waits) // it took", "notBeforeItsEnd"},
}

func TestBugsInTheModelsOfTheRunningSystemAreRefuted(t *testing.T) {
	t.Parallel()
	for _, b := range bugs {
		source, err := os.ReadFile(filepath.Join("models", b.model+".tup"))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(source), b.old), b.bug)
		require.Contains(t, violated(t, b.model, strings.Replace(string(source), b.old, b.now, 1)), b.refuted, b.bug)
	}
}

// TestATaskFromBeforeTheLogIsFollowed begins a log while a task waits whose attempts the log does not tell.
func TestATaskFromBeforeTheLogIsFollowed(t *testing.T) {
	t.Parallel()
	const waiting = `"space":"task","tuple":"(\"task\", \"paint\", \"t1\", \"\", 1, 5, \"{}\")","ref":1`
	requireFollowed(t, "task", []string{
		`"clock":0,"process":"","operation":"reload","space":"","result":"ok"`,
		`"clock":0,"process":"","operation":"restore",` + waiting + `,"result":"held"`,
		`"clock":1,"process":"u-1","role":"u","operation":"begin","space":"","result":"ok"`,
		`"clock":3,"process":"u-1","role":"u","operation":"take",` + waiting + `,"procedure":"task.cancel","result":"ok"`,
	})
}

// TestALeaseFromBeforeTheLogIsExtended begins a log with a lease that may have been granted without a task.
func TestALeaseFromBeforeTheLogIsExtended(t *testing.T) {
	t.Parallel()
	const granted = `"space":"lease","tuple":"(\"lease\", \"l1\", \"m-1\", \"s\", \"\", 5, 1)","lease":"l1","ref":1`
	requireFollowed(t, "lease", []string{
		`"clock":0,"process":"","operation":"reload","space":"","result":"ok"`,
		`"clock":0,"process":"","operation":"restore",` + granted + `,"result":"ok"`,
		`"clock":1,"process":"m-1","role":"m","operation":"begin","space":"","result":"ok"`,
		`"clock":3,"process":"m-1","role":"m","operation":"replace",` + granted + `,"procedure":"lease.extend","result":"ok"`,
		`"clock":3,"process":"m-1","role":"m","operation":"replace",` + granted + `,"procedure":"lease.extend","result":"ok"`,
		`"clock":4,"process":"m-1","role":"m","operation":"take",` + granted + `,"procedure":"lease.revoke","result":"ok"`,
	})
}

// requireFollowed requires that a log, whose lines have no numbers, conforms to a model of the system.
func requireFollowed(t *testing.T, model string, lines []string) {
	t.Helper()
	var log strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&log, `{"seq":%d,%s}`+"\n", i+1, line)
	}
	c, err := conform.LoadProtocol(model, conform.Options{})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(log.String()))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "%s %+v", r.Reason, r.Violation)
	require.NotZero(t, r.Explained)
}
