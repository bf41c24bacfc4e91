package journaltest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// ExerciseOwned runs the suite of journals that several processes can open. New returns what opens one empty journal as
// another process would, each time that it is called, without a claim.
func ExerciseOwned(t *testing.T, newStore func(t testing.TB) (open func() journal.Owned)) {
	for name, test := range map[string]func(*testing.T, func() journal.Owned){
		"who is not the owner is refused":               testNotTheOwner,
		"a claim deposes the owner before":              testDeposed,
		"each claim raises the epoch":                   testEpochs,
		"the owner loads what the one before committed": testTakenOver,
		"a journal that was deposed stays so":           testStaysDeposed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// claim makes j the owner.
func claim(t *testing.T, j journal.Owned) journal.Epoch {
	t.Helper()
	epoch, err := j.Claim(t.Context())
	require.NoError(t, err)
	return epoch
}

// testNotTheOwner calls all that only an owner may.
func testNotTheOwner(t *testing.T, open func() journal.Owned) {
	j := open()
	requireDeposed(t, j, 0)
	claim(t, j)
	commit(t, j, 0, journal.Token(1))
	standing, facts := load(t, j)
	require.Equal(t, journal.Standing{Position: 1}, standing)
	require.Equal(t, []journal.Fact{journal.Token(1)}, facts, "what was refused was not written")
	require.NoError(t, j.Close())
}

// requireDeposed requires that j is refused, because it is not the owner, at the position where the journal stands.
func requireDeposed(t *testing.T, j journal.Owned, at journal.Position) {
	t.Helper()
	require.ErrorIs(t, j.Confirm(t.Context()), journal.ErrDeposed)
	require.ErrorIs(t, j.Commit(t.Context(), at, []journal.Record{{Facts: []journal.Fact{journal.Token(9)}}}), journal.ErrDeposed)
	_, err := j.Load(t.Context(), func(journal.Fact) error { return nil })
	require.ErrorIs(t, err, journal.ErrDeposed)
	_, err = j.TrimHistory(t.Context(), time.Hour, space.HistoryLimits{})
	require.ErrorIs(t, err, journal.ErrDeposed)
}

// testDeposed has a second process claim the journal: the first one can no longer do anything, and nothing of it is
// written.
func testDeposed(t *testing.T, open func() journal.Owned) {
	first, second := open(), open()
	claim(t, first)
	commit(t, first, 0, journal.Token(1))
	require.NoError(t, first.Confirm(t.Context()))
	claim(t, second)
	requireDeposed(t, first, 1)
	require.NoError(t, second.Confirm(t.Context()))
	standing, facts := load(t, second)
	require.Equal(t, journal.Standing{Position: 1}, standing)
	require.Equal(t, []journal.Fact{journal.Token(1)}, facts)
	commit(t, second, 1, journal.Token(2))
	require.NoError(t, first.Close())
	require.NoError(t, second.Confirm(t.Context()), "the end of a deposed one changes nothing")
	require.NoError(t, second.Close())
}

// testEpochs claims in turns.
func testEpochs(t *testing.T, open func() journal.Owned) {
	require.Equal(t, []journal.Epoch{1, 2, 3}, []journal.Epoch{claim(t, open()), claim(t, open()), claim(t, open())})
}

// testTakenOver has six owners, one after the other: each finds the facts of all before it, and goes on.
func testTakenOver(t *testing.T, open func() journal.Owned) {
	var want []journal.Fact
	for n := range journal.Position(6) {
		j := open()
		claim(t, j)
		standing, facts := load(t, j)
		require.Equal(t, n, standing.Position)
		require.ElementsMatch(t, want, known(facts))
		e := &journal.Entry{Ref: int64(n + 1), Space: "s", Tuple: tuple.New("a", int64(n))}
		h := &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: int64(n + 1), Key: "k", Value: "v"}}
		commit(t, j, n, e, h)
		require.Len(t, history(t, j, 0), int(n+1))
		want = append(want, e)
		if n%2 == 0 {
			require.NoError(t, j.Close())
		}
	}
}

// testStaysDeposed repeats calls of a deposed journal.
func testStaysDeposed(t *testing.T, open func() journal.Owned) {
	first, second := open(), open()
	claim(t, first)
	claim(t, second)
	for range 3 {
		requireDeposed(t, first, 0)
	}
	require.NoError(t, second.Confirm(t.Context()))
}
