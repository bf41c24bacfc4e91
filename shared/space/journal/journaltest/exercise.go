// Package journaltest is what every journal must do: one suite, run on each
// driver. Random histories are compared with the memory driver, which is the
// model.
//
// Who writes a driver implements journal.Journal, and journal.Copier and
// journal.FullReporter if it can be copied and can be full, and has one test:
//
//	func TestItIsAJournal(t *testing.T) {
//		journaltest.Exercise(t, func(t testing.TB) func() journal.Journal {
//			dir := t.TempDir() // one store, opened repeatedly
//			return func() journal.Journal {
//				j, err := Open(dir)
//				require.NoError(t, err)
//				return j
//			}
//		})
//	}
//
// What the suite cannot know is the driver's to test: that a Commit which has
// returned survives the loss of power, that damage is found, and that after a
// write that failed nothing more is written (journal.ErrBroken).
package journaltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// Exercise runs the suite. New returns what opens one empty journal, and opens
// it again each time that it is called once more, after the journal was closed.
func Exercise(t *testing.T, newStore func(t testing.TB) (open func() journal.Journal)) {
	for name, test := range map[string]func(*testing.T, func() journal.Journal){
		"an empty journal stands at nothing":                  testEmpty,
		"the newest fact of each key holds":                   testNewest,
		"all of a fact is kept":                               testWhole,
		"a session's end takes its answers and no one else's": testEnded,
		"a writer that is out of step is refused":             testFenced,
		"where it stands is kept":                             testStanding,
		"the key of a session survives a restart":             testKey,
		"an error of restore ends a load":                     testRestoreFails,
		"it can be closed twice":                              testClosedTwice,
		"the history is read but not loaded":                  testHistory,
		"the history is trimmed to each limit":                testTrimmed,
		"the content of another journal is copied into it":    testCopied,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
	t.Run("random histories are those of the memory driver", func(t *testing.T) {
		t.Parallel()
		testHistories(t, newStore)
	})
}

// load returns where j stands, and what it holds.
func load(t require.TestingT, j journal.Journal) (journal.Standing, []journal.Fact) {
	var all []journal.Fact
	standing, err := j.Load(context.Background(), func(f journal.Fact) error { all = append(all, f); return nil })
	require.NoError(t, err)
	return standing, all
}

// commit writes one record with the facts.
func commit(t require.TestingT, j journal.Journal, at journal.Position, facts ...journal.Fact) {
	require.NoError(t, j.Commit(context.Background(), at, []journal.Record{{Facts: facts}}))
}

// twice calls check, closes the journal, opens it again, calls check once more, and closes it.
func twice(t *testing.T, j journal.Journal, open func() journal.Journal, check func(journal.Journal)) {
	t.Helper()
	check(j)
	require.NoError(t, j.Close())
	again := open()
	check(again)
	require.NoError(t, again.Close())
}

// known leaves out the token, which a journal may or may not hand out when none
// was given.
func known(facts []journal.Fact) []journal.Fact {
	var all []journal.Fact
	for _, f := range facts {
		if f != journal.Token(0) {
			all = append(all, f)
		}
	}
	return all
}

// testEmpty loads a new journal: it stands at zero and holds nothing.
func testEmpty(t *testing.T, open func() journal.Journal) {
	twice(t, open(), open, func(j journal.Journal) {
		standing, facts := load(t, j)
		require.Zero(t, standing)
		require.Empty(t, known(facts))
	})
}

// testNewest commits an entry, a newer one with its ref, and one removed again: the newer entry and the newest token
// are loaded.
func testNewest(t *testing.T, open func() journal.Journal) {
	j := open()
	first, second := &journal.Entry{Ref: 1, Space: "s", Tuple: tuple.New("a")}, &journal.Entry{Ref: 1, Space: "s", Tuple: tuple.New("b")}
	commit(t, j, 0, first, &journal.Entry{Ref: 2, Space: "s", Tuple: tuple.New("c")}, journal.Token(3))
	commit(t, j, 1, second, journal.Gone(2), journal.Token(4))
	twice(t, j, open, func(j journal.Journal) {
		_, facts := load(t, j)
		require.ElementsMatch(t, []journal.Fact{second, journal.Token(4)}, facts)
	})
}

// testWhole commits one fact of each kind with all its fields set, also to values at the edge, and
// loads equal ones.
func testWhole(t *testing.T, open func() journal.Journal) {
	facts := []journal.Fact{
		&journal.Space{Name: "s", Options: space.Options{Kind: space.Ordered, OrderBy: 5, Capacity: 9, Overflow: space.DropOldest}},
		&journal.Session{ID: "worker-1", TTL: time.Minute},
		&journal.Session{ID: "for ever"},
		&journal.Entry{Ref: 7, Space: "s", Place: -3, Tuple: tuple.New("a", int64(1), nil, tuple.New(2.5, []byte{0})), Deadline: time.Hour,
			Expiry: "task.drop", Owner: "worker-1", Hold: &journal.Hold{Session: "worker-1", Due: time.Second, Expiry: "task.timeout", Op: space.AutoSeq + 1}},
		&journal.Entry{Ref: 8, Space: "s", Tuple: tuple.New(), Hold: &journal.Hold{}},
		&journal.Answer{Op: space.OpID{Session: "worker-1", Seq: space.AutoSeq}, Nth: 3, Reply: space.Reply{
			Found: true, Tuple: tuple.New("x"), Tuples: []tuple.Tuple{tuple.New(true), tuple.New()}, Count: 2,
		}},
		&journal.Answer{Op: space.OpID{Session: "worker-1", Seq: space.AutoSeq + 1}, Nth: 4, Reply: space.Reply{Found: true}, DroppedBytes: 700},
		journal.Token(1 << 40),
	}
	j := open()
	commit(t, j, 0, facts...)
	twice(t, j, open, func(j journal.Journal) {
		_, found := load(t, j)
		require.ElementsMatch(t, facts, found)
	})
}

// testEnded ends sessions one by one whose ids begin like each other, and loads the remaining ones with all their
// answers. Then it ends a session and answers it in the same record: the later fact holds.
func testEnded(t *testing.T, open func() journal.Journal) {
	j := open()
	ids := []string{"", "a", "aa", "a\x00", "\xff", "\xff\xff"}
	var facts []journal.Fact
	for _, id := range ids {
		facts = append(facts, &journal.Session{ID: id})
		for seq := range uint64(3) {
			facts = append(facts, &journal.Answer{Op: space.OpID{Session: id, Seq: seq}, Nth: seq})
		}
	}
	commit(t, j, 0, facts...)
	position := journal.Position(1)
	for n := range ids {
		commit(t, j, position, journal.Ended(ids[n]))
		position++
		_, found := load(t, j)
		require.ElementsMatch(t, facts[4*(n+1):], known(found))
	}
	again := &journal.Answer{Op: space.OpID{Session: "a", Seq: 1}}
	commit(t, j, position, journal.Ended("a"), again, &journal.Answer{Op: space.OpID{Session: "a", Seq: 2}}, journal.Forgotten{Session: "a", Seq: 2})
	twice(t, j, open, func(j journal.Journal) {
		_, found := load(t, j)
		require.Equal(t, []journal.Fact{again}, known(found), "facts hold in the order of their record")
	})
}

// testFenced commits at positions ahead of the journal and behind it: both are ErrFenced, and
// nothing of them is loaded.
func testFenced(t *testing.T, open func() journal.Journal) {
	j := open()
	require.ErrorIs(t, j.Commit(t.Context(), 1, make([]journal.Record, 1)), journal.ErrFenced)
	commit(t, j, 0, journal.Token(1))
	require.ErrorIs(t, j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{journal.Token(9)}}}), journal.ErrFenced)
	twice(t, j, open, func(j journal.Journal) {
		standing, facts := load(t, j)
		require.Equal(t, journal.Position(1), standing.Position)
		require.Equal(t, []journal.Fact{journal.Token(1)}, facts)
	})
}

// testStanding commits three records at once: the position counts records, the clock is the last record's, and Ref is
// the highest of all refs and places, also of entries that are gone.
func testStanding(t *testing.T, open func() journal.Journal) {
	j := open()
	require.NoError(t, j.Commit(t.Context(), 0, []journal.Record{
		{Clock: time.Second, Facts: []journal.Fact{&journal.Entry{Ref: 4, Place: 11, Space: "s", Tuple: tuple.New()}}},
		{Clock: time.Minute, Facts: []journal.Fact{journal.Gone(4)}},
		{Clock: time.Hour, Facts: []journal.Fact{&journal.Entry{Ref: 9, Place: -5, Space: "s", Tuple: tuple.New()}}},
	}))
	twice(t, j, open, func(j journal.Journal) {
		standing, _ := load(t, j)
		require.Equal(t, journal.Standing{Position: 3, Clock: time.Hour, Ref: 11}, standing)
	})
}

// testKey opens a session with a key, and one without; the newest key of a session holds.
func testKey(t *testing.T, open func() journal.Journal) {
	key := func(b byte) []byte { return bytes.Repeat([]byte{b}, sha256.Size) }
	j := open()
	commit(t, j, 0, &journal.Session{ID: "a", TTL: time.Minute, Key: key(0)}, &journal.Session{ID: "b", TTL: time.Minute, Key: key(1)}, &journal.Session{ID: "c"})
	commit(t, j, 1, journal.Ended("b"), &journal.Session{ID: "b", TTL: time.Minute, Key: key(2)})
	twice(t, j, open, func(j journal.Journal) {
		keys := map[string][]byte{}
		_, facts := load(t, j)
		for _, f := range facts {
			if s, ok := f.(*journal.Session); ok {
				keys[s.ID] = s.Key
			}
		}
		require.Equal(t, map[string][]byte{"a": key(0), "b": key(2), "c": nil}, keys)
	})
}

// testRestoreFails returns an error from restore, which Load returns. The journal can still be
// loaded then.
func testRestoreFails(t *testing.T, open func() journal.Journal) {
	j, odd := open(), errors.New("odd")
	commit(t, j, 0, journal.Token(1))
	_, err := j.Load(t.Context(), func(journal.Fact) error { return odd })
	require.ErrorIs(t, err, odd)
	_, facts := load(t, j)
	require.Len(t, facts, 1)
	require.NoError(t, j.Close())
}

// testClosedTwice closes a journal twice; neither is an error.
func testClosedTwice(t *testing.T, open func() journal.Journal) {
	j := open()
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
}

// commitHistory commits n history records with one key each, of 10 bytes and a second apart.
func commitHistory(t require.TestingT, j journal.Journal, n int) {
	var facts []journal.Fact
	for i := range n {
		facts = append(facts, &journal.Historic{HistoryRecord: space.HistoryRecord{
			Seq: int64(i + 1), Clock: time.Duration(i) * time.Second, Key: fmt.Sprintf("k%04d", i), Value: "value",
		}})
	}
	commit(t, j, 0, facts...)
}

// testHistory records history, with two records of one key. Load does not restore it, but counts
// its positions; it is read from the latest back, from a position on, and by key. A closed driver
// on disk refuses to read it.
func testHistory(t *testing.T, open func() journal.Journal) {
	j := open()
	commitHistory(t, j, 3)
	commit(t, j, 1, &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 9, Key: "k0001", Value: "again"}})
	twice(t, j, open, func(j journal.Journal) {
		standing, facts := load(t, j)
		require.Empty(t, known(facts))
		require.EqualValues(t, 9, standing.Ref)
		all := history(t, j, 0)
		require.Len(t, all, 4)
		require.Equal(t, space.HistoryRecord{Seq: 9, Key: "k0001", Value: "again"}, all[0])
		require.Equal(t, all[2:], history(t, j, all[1].Seq), "from a position on")
		latest, ok, err := j.LatestHistory(t.Context(), "k0001")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "again", latest.Value)
		_, ok, err = j.LatestHistory(t.Context(), "k000")
		require.NoError(t, err)
		require.False(t, ok, "a key that others begin with")
	})
	j = open()
	require.NoError(t, j.Close())
	if _, isMemory := j.(*journal.Memory); !isMemory {
		_, _, err := j.LatestHistory(t.Context(), "k0001")
		require.ErrorIs(t, err, fault.ErrClosed)
	}
}

// testTrimmed trims 2,000 records by age, by number and by size, one after the other, until nothing
// is removed: the latest 100 are left. Counts go on after a restart.
func testTrimmed(t *testing.T, open func() journal.Journal) {
	j := open()
	commitHistory(t, j, 2000)
	trim := func(before time.Duration, l space.HistoryLimits) (removed int) {
		for {
			n, err := j.TrimHistory(t.Context(), before, l)
			require.NoError(t, err)
			require.LessOrEqual(t, n, journal.MaxTrimmed)
			removed += n
			if n == 0 {
				return removed
			}
		}
	}
	none := space.HistoryLimits{Number: 1 << 40, Bytes: 1 << 40}
	require.Zero(t, trim(0, none))
	require.Equal(t, 1200, trim(1200*time.Second, none), "older ones")
	require.Equal(t, 300, trim(0, space.HistoryLimits{Number: 500, Bytes: 1 << 40}), "more than the number")
	require.Equal(t, 400, trim(0, space.HistoryLimits{Number: 1 << 40, Bytes: 1009}), "larger than the size")
	twice(t, j, open, func(j journal.Journal) {
		all := history(t, j, 0)
		require.Len(t, all, 100)
		require.Equal(t, "k1900", all[99].Key)
		_, ok, err := j.LatestHistory(t.Context(), "k1899")
		require.NoError(t, err)
		require.False(t, ok)
	})
	j = open()
	commit(t, j, 1, &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 5000, Clock: time.Hour, Key: "k"}})
	require.Equal(t, 51, trim(0, space.HistoryLimits{Number: 50, Bytes: 1 << 40}), "the numbers go on after a restart")
	require.NoError(t, j.Close())
}
