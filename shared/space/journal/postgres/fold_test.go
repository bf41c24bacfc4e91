package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/journaltest"
	"leasehold/shared/space/journal/postgres"
	"leasehold/shared/tuple"
)

// folding is a journal that folds after many of its commits, mostly not to the end.
type folding struct {
	*postgres.Journal
	rand *rand.Rand
}

func (f folding) Commit(ctx context.Context, expected journal.Position, records []journal.Record) error {
	err := f.Journal.Commit(ctx, expected, records)
	if err == nil && f.rand.IntN(3) == 0 {
		_, err = f.Fold(ctx, f.rand.IntN(5)-1)
	}
	return err
}

func TestItIsAJournal(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	journaltest.Exercise(t, func(t testing.TB) func() journal.Journal {
		c := config(url)
		return func() journal.Journal { return folding{claimed(t, c), rand.New(rand.NewPCG(44, 2))} }
	})
}

// commit writes one record with the facts.
func commit(t testing.TB, j journal.Journal, at journal.Position, facts ...journal.Fact) {
	t.Helper()
	require.NoError(t, j.Commit(t.Context(), at, []journal.Record{{Facts: facts}}))
}

// load returns what j holds, except the token of a journal without one.
func load(t testing.TB, j journal.Journal) (all []journal.Fact) {
	t.Helper()
	_, err := j.Load(t.Context(), func(f journal.Fact) error { all = append(all, f); return nil })
	require.NoError(t, err)
	return all
}

// rows counts the rows of a table.
func rows(t testing.TB, j *postgres.Journal, table string) int {
	t.Helper()
	n, err := j.Rows(t.Context(), table)
	require.NoError(t, err)
	return n
}

func entry(ref int64) *journal.Entry {
	return &journal.Entry{Ref: ref, Space: "s", Tuple: tuple.New("task", ref)}
}

func TestATaskThatCameAndWentBetweenTwoFoldsIsNeverARow(t *testing.T) {
	t.Parallel()
	j := claimed(t, config(pgserver.Database(t)))
	commit(t, j, 0, entry(1), entry(2))
	commit(t, j, 1, journal.Gone(1))
	require.NoError(t, j.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a row for %', NEW.key; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON fact FOR EACH ROW WHEN (NEW.key = '\x650000000000000001') EXECUTE FUNCTION refuse()`))
	require.Equal(t, 2, rows(t, j, "log"))
	_, err := j.Fold(t.Context(), -1)
	require.NoError(t, err)
	require.Zero(t, rows(t, j, "log"))
	require.Equal(t, 1, rows(t, j, "fact"))
	require.Equal(t, []journal.Fact{entry(2)}, load(t, j))
}

// The facts that a fold ended with at each of its steps are folded by the next owner.
func TestAFoldThatEndedAtAnyStepIsDoneByTheNextOwner(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	for steps, all := 0, 1; steps <= all; steps++ {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			c := config(url)
			j := claimed(t, c)
			commit(t, j, 0, entry(1), entry(2), &journal.Session{ID: "a"}, answer("a", 1), answer("b", 1))
			_, err := j.Fold(t.Context(), -1)
			require.NoError(t, err)
			commit(t, j, 1, journal.Gone(1), journal.Ended("a"), answer("a", 2), entry(3))
			commit(t, j, 2, entry(2), answer("a", 3), journal.Forgotten{Session: "a", Seq: 2})
			all, err = j.Fold(t.Context(), steps)
			require.NoError(t, err)
			want := []journal.Fact{entry(2), entry(3), answer("a", 3), answer("b", 1)}
			require.ElementsMatch(t, want, load(t, j))

			next := claimed(t, c)
			require.ElementsMatch(t, want, load(t, next))
			_, err = j.Fold(t.Context(), -1)
			require.True(t, err == nil && steps > all || isDeposed(err) || rows(t, next, "log") == 0, "%v", err)
			_, err = next.Fold(t.Context(), -1)
			require.NoError(t, err)
			require.Zero(t, rows(t, next, "log"))
			require.Equal(t, 4, rows(t, next, "fact"))
			require.ElementsMatch(t, want, load(t, next))
		})
	}
}

func answer(session string, seq uint64) *journal.Answer {
	return &journal.Answer{Op: space.OpID{Session: session, Seq: seq}, Nth: seq}
}

// The facts of one fold take more than one step each, and more than one fold.
func TestALongLogIsFoldedInBoundedSteps(t *testing.T) {
	t.Parallel()
	j := claimed(t, config(pgserver.Database(t)))
	const commits, each = 30, 100
	for n := range commits {
		var facts []journal.Fact
		for i := range each {
			facts = append(facts, &journal.Entry{Ref: int64(n*each + i + 1), Space: "s", Tuple: tuple.New(make([]byte, 10_000))})
		}
		commit(t, j, journal.Position(n), facts...)
	}
	folds := 0
	for rows(t, j, "log") > 0 {
		before := rows(t, j, "fact")
		steps, err := j.Fold(t.Context(), -1)
		require.NoError(t, err)
		require.Greater(t, steps, 3, "steps of 4 MiB")
		require.Less(t, (rows(t, j, "fact")-before)*10_000, 18<<20, "a fold of 16 MiB and one row")
		folds++
	}
	require.Equal(t, 2, folds)
	require.Equal(t, commits*each, rows(t, j, "fact"))
	require.Len(t, load(t, j), commits*each)
}

// The log is folded in the background: when it is time, and what an owner left when the next one comes.
func TestTheOwnerFoldsInTheBackground(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j := claimed(t, c)
	for n := range 10 {
		commit(t, j, journal.Position(n), entry(int64(n+1)))
	}
	commits, bytes := j.Unfolded()
	require.EqualValues(t, 10, commits)
	require.Greater(t, bytes, int64(100))
	c.FoldEvery = 50 * time.Millisecond
	next := claimed(t, c)
	require.Eventually(t, func() bool { return rows(t, next, "log") == 0 && rows(t, next, "fact") == 10 }, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool { commits, bytes := next.Unfolded(); return commits == 0 && bytes == 0 }, time.Minute, 10*time.Millisecond)
}

// The rows of the log are removed, and the answer that tells it is lost: the next fold counts them.
func TestTheBacklogIsRightAfterAFoldWhoseEndIsUnknown(t *testing.T) {
	t.Parallel()
	j := claimed(t, config(pgserver.Database(t)))
	commit(t, j, 0, entry(1))
	commit(t, j, 1, entry(2))
	require.NoError(t, j.Exec(t.Context(), "ALTER TABLE log RENAME TO away"))
	require.Error(t, j.FoldAll(t.Context()))
	require.NoError(t, j.Exec(t.Context(), "ALTER TABLE away RENAME TO log"))
	require.NoError(t, j.Exec(t.Context(), "DELETE FROM log WHERE position = 1"))
	require.NoError(t, j.FoldAll(t.Context()))
	commits, bytes := j.Unfolded()
	require.Zero(t, commits)
	require.Zero(t, bytes)
}
