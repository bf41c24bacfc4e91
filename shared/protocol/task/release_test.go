package task

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

func TestReasonsBecomeOneShortLine(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                                     "",
		"no shovel":                            "no shovel",
		"one\ntwo\x00three":                    "one two three",
		"bad \xff byte":                        "bad ? byte",
		strings.Repeat("x", maxReason):         strings.Repeat("x", maxReason),
		strings.Repeat("x", maxReason+1):       strings.Repeat("x", maxReason) + "…",
		strings.Repeat("x", maxReason-1) + "é": strings.Repeat("x", maxReason-1) + "…",
	} {
		require.Equal(t, want, truncate(given))
	}
	for _, long := range []string{strings.Repeat("x", 1000), strings.Repeat("é", 1000), "a" + strings.Repeat("日", 1000), strings.Repeat("\x80", 1000)} {
		short := truncate(long)
		require.LessOrEqual(t, len(short), maxReason+len("…"))
		require.True(t, utf8.ValidString(short))
		require.True(t, strings.HasSuffix(short, "…"))
	}
}

func TestOnlyTheNewestAreKept(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"b", "c"}, newest([]string{"a", "b", "c"}, 2))
	require.Equal(t, []string{"a"}, newest([]string{"a"}, 2))
	require.Empty(t, newest([]string(nil), 2))
}

func TestStopIsParsedBack(t *testing.T) {
	t.Parallel()
	id, reason, ok := ParseStop(stopMessage("t1", "timed out"))
	require.Equal(t, []any{"t1", "timed out", true}, []any{id, reason, ok})
	_, _, ok = ParseStop([]any{"go", "t1", "now"})
	require.False(t, ok)
}

func TestEachClaimantOfARecordIsFound(t *testing.T) {
	t.Parallel()
	record := encodeRecord(Item{Task: models.Task{Claimants: []string{"w1", "w2", "w3"}, Attempts: 3, Subject: "w4", Hosts: []string{"w5"}}})
	for worker, want := range map[string]bool{"w1": true, "w2": true, "w3": true, "w4": false, "w5": false, "": false} {
		require.Equal(t, want, gaveBack(record, worker), worker)
	}
	require.False(t, gaveBack("", "w1"))
}

// Otherwise the coordinator would store text that no client accepts, or never end.
func TestTheKeptEndOfAnOutputBeginsWithAWholeCharacter(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "x"} {
		kept := tail(strings.Repeat("é", maxOutput) + end)
		require.LessOrEqual(t, len(kept), maxOutput)
		require.Greater(t, len(kept), maxOutput-2)
		require.True(t, strings.HasPrefix(kept, "éé"), "%.8q", kept)
		require.True(t, strings.HasSuffix(kept, "é"+end))
	}
}

func TestAnAnswerWithoutTheTaskIsAnError(t *testing.T) {
	t.Parallel()
	one := encodeItems([]Item{{Task: models.Task{ID: "t1", Action: "count"}}})
	for name, reply := range map[string]tuple.Tuple{
		"no task":   tuple.New([]byte(nil)),
		"two tasks": tuple.New(append(slices.Clone(one), one...)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := onlyItem(reply)
			require.ErrorIs(t, err, fault.ErrCorrupt)
		})
	}
	i, err := onlyItem(tuple.New(one))
	require.NoError(t, err)
	require.Equal(t, "t1", i.ID)
}

func TestTheReasonOfADeadChildTellsWhereTheChainBroke(t *testing.T) {
	t.Parallel()
	for note, want := range map[string]string{
		"disk full":                             "its parent B is dead: disk full",
		"disk full, because A is dead":          "its parent B is dead: disk full, because A is dead",
		"dead: by hand":                         "its parent B is dead: by hand",
		"dead":                                  "its parent B is dead",
		"its parent A is dead":                  "its parent B is dead, because A is dead",
		"its parent A is dead: no disk":         "its parent B is dead, because A is dead: no disk",
		"its parent A is dead: x, because full": "its parent B is dead, because A is dead: x, because full",
		"its parent A is dead, because Z is dead: y, because z": "its parent B is dead, because Z is dead: y, because z",
		"one\ntwo": "its parent B is dead: one two",
	} {
		require.Equal(t, want, childReason("B", ending{state: StateDead, note: note}), note)
	}
	require.Equal(t, "its parent B is cancelled: by hand", childReason("B", ending{state: Cancelled, note: "cancelled: by hand"}))
	require.Equal(t, "its parent B is cancelled: dead", childReason("B", ending{state: Cancelled, note: "dead"}))
	for _, note := range []string{strings.Repeat("x", 999), "dead" + strings.Repeat("x", 999), failedParent + strings.Repeat("x", 999)} {
		require.True(t, strings.HasSuffix(childReason("B", ending{state: StateDead, note: note}), "x…"))
	}
}
