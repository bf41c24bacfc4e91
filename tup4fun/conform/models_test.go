package conform_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	require.Len(t, models, 4)
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
	{"lease", "a lease ends, and leaves its task in the queue", "[] count(Place, (visible)) = 1 -> Place.get(visible)\n            [] count(Place, (0)) = 1", "[] count(Place, (visible)) = 1 -> skip\n            [] count(Place, (0)) = 1", "queued"},
	{"task", "who releases a task keeps its claim", "Claim.get(n);\n            if attempts > Attempts", "skip;\n            if attempts > Attempts", "claimShowsHold"},
	{"task", "a task may time out for ever", "\n                if attempts > Attempts ->", "\n                if false ->", "neverFarOver"},
	{"capacity", "the managers look first, and add then",
		"loop true -> atomic { if\n        count(Queue) + count(Away) < Tasks & (slots = 0 & count(Queue) = 0 | slots > 0 & slots >= count(Queue)) ->",
		"loop slots = 0 & count(Queue) = 0 | slots > 0 & slots >= count(Queue) -> atomic { if\n count(Queue) + count(Away) < Tasks ->", "neverTooMany"},
	{"status", "a beat takes the state, and puts it then", "[] ended = 1 | count(State) = 1 -> skip", "[] ended = 0 & count(State) = 1 -> State.get(1) [] ended = 1 | count(State) = 1 -> skip", "oneStateAlways"},
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
