package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/journaltest"
	"leasehold/shared/tuple"
)

func Example() {
	ctx, m := context.Background(), &journal.Memory{}
	_ = m.Commit(ctx, 0, []journal.Record{
		{Clock: time.Second, Facts: []journal.Fact{&journal.Entry{Ref: 1, Space: "task", Tuple: tuple.New("a")}}},
		{Clock: 2 * time.Second, Facts: []journal.Fact{&journal.Entry{Ref: 2, Space: "task", Tuple: tuple.New("b")}, journal.Gone(1)}},
	})
	standing, _ := m.Load(ctx, func(f journal.Fact) error {
		if e, ok := f.(*journal.Entry); ok {
			fmt.Println(e.Ref, e.Tuple)
		}
		return nil
	})
	fmt.Println(standing.Position, standing.Clock)
	// Output:
	// 2 ("b")
	// 2 2s
}

// facts returns the current facts, by kind.
func facts(t *testing.T, m *journal.Memory) (journal.Standing, map[string]int) {
	t.Helper()
	found := map[string]int{}
	standing, err := m.Load(t.Context(), func(f journal.Fact) error { found[fmt.Sprintf("%T", f)]++; return nil })
	require.NoError(t, err)
	return standing, found
}

func commit(t *testing.T, m *journal.Memory, at journal.Position, all ...journal.Fact) {
	t.Helper()
	require.NoError(t, m.Commit(t.Context(), at, []journal.Record{{Facts: all}}))
}

func TestMemoryKeepsTheNewestFactForEachKey(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	op := func(n uint64) space.OpID { return space.OpID{Session: "a", Seq: n} }
	commit(t, m, 0, &journal.Session{ID: "a"}, &journal.Session{ID: "b"}, &journal.Space{Name: "s"}, journal.Token(3))
	commit(t, m, 1, &journal.Entry{Ref: 1, Place: 9}, &journal.Entry{Ref: 2}, &journal.Answer{Op: op(1)}, &journal.Answer{Op: op(2)}, journal.Token(4))
	commit(t, m, 2, &journal.Entry{Ref: 1}, journal.Gone(2), journal.Forgotten(op(1)), journal.Ended("b"))
	standing, found := facts(t, m)
	require.Equal(t, journal.Standing{Position: 3, Ref: 9}, standing)
	require.Equal(t, map[string]int{
		"*journal.Session": 1, "*journal.Space": 1, "*journal.Entry": 1, "*journal.Answer": 1, "journal.Token": 1,
	}, found)
	commit(t, m, 3, journal.Ended("a"), journal.Gone(1))
	_, found = facts(t, m)
	require.Equal(t, map[string]int{"*journal.Space": 1, "journal.Token": 1}, found)
}

func TestMemoryRefusesAWriterThatIsOutOfStep(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	require.ErrorIs(t, m.Commit(t.Context(), 1, nil), journal.ErrFenced)
	m.Interfere()
	require.ErrorIs(t, m.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{journal.Token(1)}}}), journal.ErrFenced)
	standing, _ := facts(t, m)
	require.Equal(t, journal.Position(1), standing.Position)
}

func TestMemoryFailsAsItIsTold(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fail := func(context.Context, []journal.Record) error { return broken }
	m := &journal.Memory{Before: fail}
	require.ErrorIs(t, m.Commit(t.Context(), 0, make([]journal.Record, 1)), broken)
	m.Before, m.After = nil, fail
	require.ErrorIs(t, m.Commit(t.Context(), 0, make([]journal.Record, 1)), broken)
	standing, _ := facts(t, m)
	require.Equal(t, journal.Position(1), standing.Position, "the second one has happened")
	m.BeforeLoad = func(context.Context) error { return broken }
	_, err := m.Load(t.Context(), nil)
	require.ErrorIs(t, err, broken)
	m.BeforeLoad = nil
	_, err = m.Load(t.Context(), func(journal.Fact) error { return broken })
	require.ErrorIs(t, err, broken)
}

func TestMemoryIsAJournal(t *testing.T) {
	t.Parallel()
	journaltest.Exercise(t, func(testing.TB) func() journal.Journal {
		m := &journal.Memory{}
		return func() journal.Journal { return m }
	})
}

func TestAMemberIsAnOwnedJournal(t *testing.T) {
	t.Parallel()
	journaltest.ExerciseOwned(t, func(testing.TB) func() journal.Owned {
		m := &journal.Memory{}
		return func() journal.Owned { return m.Member() }
	})
}
