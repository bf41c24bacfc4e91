package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/postgres"
)

// overNetwork opens a journal that owns its realm, over a network of its own.
func overNetwork(t *testing.T, c postgres.Config) (*postgres.Journal, *network) {
	t.Helper()
	n := &network{}
	c.Dial = n.dial
	return claimed(t, c), n
}

// requireEnded requires that the journal is deposed for good, and that no error contains the password.
func requireEnded(t *testing.T, j *postgres.Journal, err error) {
	t.Helper()
	require.ErrorIs(t, err, journal.ErrDeposed)
	require.NotContains(t, err.Error(), pgserver.Password)
	require.ErrorIs(t, j.Commit(t.Context(), 0, []journal.Record{{}}), journal.ErrDeposed)
	require.ErrorIs(t, j.Confirm(t.Context()), journal.ErrDeposed)
	_, err = j.Load(t.Context(), func(journal.Fact) error { return nil })
	require.ErrorIs(t, err, journal.ErrDeposed)
	_, err = j.Claim(t.Context())
	require.ErrorIs(t, err, journal.ErrDeposed)
	<-j.Lost()
}

func TestACommitWhoseRequestIsLostDeposes(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j, network := overNetwork(t, c)
	commit(t, j, 0, entry(1))
	network.loseRequests()
	requireEnded(t, j, j.Commit(t.Context(), 1, []journal.Record{{Facts: []journal.Fact{entry(2)}}}))
	require.Equal(t, []journal.Fact{entry(1)}, load(t, claimed(t, c)), "it was not written")
}

func TestACommitWhoseAnswerIsLostDeposes(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j, network := overNetwork(t, c)
	commit(t, j, 0, entry(1))
	network.loseAnswers()
	requireEnded(t, j, j.Commit(t.Context(), 1, []journal.Record{{Facts: []journal.Fact{entry(2)}}}))
	require.ElementsMatch(t, []journal.Fact{entry(1), entry(2)}, load(t, claimed(t, c)), "it was written")
}

func TestAConfirmationWhoseAnswerIsLostDeposes(t *testing.T) {
	t.Parallel()
	j, network := overNetwork(t, config(pgserver.Database(t)))
	network.loseAnswers()
	requireEnded(t, j, j.Confirm(t.Context()))
}

// A commit that waits for a network which lost it ends when another member owns the journal.
func TestACommitThatHangsEndsWhenAnotherMemberClaims(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j, network := overNetwork(t, c)
	require.NoError(t, j.Confirm(t.Context()))
	network.swallow()
	done := make(chan error, 1)
	go func() { done <- j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{entry(2)}}}) }()
	next := claimed(t, c)
	requireEnded(t, j, <-done)
	require.Empty(t, load(t, next))
}

func TestACommitThatIsCancelledDeposes(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j := claimed(t, c)
	unlock := lock(t, j, "SELECT FROM realm FOR UPDATE")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := j.Commit(ctx, 0, []journal.Record{{Facts: []journal.Fact{entry(1)}}})
	unlock()
	requireEnded(t, j, err)
}

// lock begins a transaction with a statement, which unlock commits.
func lock(t *testing.T, j *postgres.Journal, sql string) (unlock func()) {
	t.Helper()
	commit, err := j.Lock(t.Context(), sql)
	require.NoError(t, err)
	return func() { require.NoError(t, commit(t.Context())) }
}

func TestAClaimBeforeWithinAndAfterACommit(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		c := config(url)
		j := claimed(t, c)
		next := claimed(t, c)
		requireEnded(t, j, j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{entry(1)}}}))
		require.Empty(t, load(t, next))
	})
	t.Run("within", func(t *testing.T) { // the commit waits for the transaction of the claim
		t.Parallel()
		c := config(url)
		j := claimed(t, c)
		unlock := lock(t, j, "UPDATE realm SET epoch = epoch + 1")
		done := make(chan error, 1)
		go func() { done <- j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{entry(1)}}}) }()
		require.Eventually(t, func() bool { return waiting(t, j) }, time.Minute, 10*time.Millisecond)
		unlock()
		requireEnded(t, j, <-done)
	})
	t.Run("after", func(t *testing.T) { // the claim waits for the commit
		t.Parallel()
		c := config(url)
		j := claimed(t, c)
		commit(t, j, 0, entry(1))
		require.Equal(t, []journal.Fact{entry(1)}, load(t, claimed(t, c)))
		requireEnded(t, j, j.Confirm(t.Context()))
	})
}

// waiting reports whether the connection of the owner waits for a lock.
func waiting(t *testing.T, j *postgres.Journal) bool {
	t.Helper()
	n, err := j.Rows(t.Context(), "pg_stat_activity, owner WHERE pg_stat_activity.pid = owner.pid AND wait_event_type = 'Lock'")
	require.NoError(t, err)
	return n == 1
}

// Many claims in turns, each in the middle of commits: what was acknowledged is there, once, and nothing else.
func TestClaimsInTheMiddleOfCommitsLoseNothing(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	acknowledged := map[int64]bool{}
	unknown := map[int64]bool{}
	var ref int64
	j := claimed(t, c)
	at := journal.Position(0)
	for range 20 {
		next := open(t, c)
		var claiming sync.WaitGroup
		claiming.Go(func() {
			_, err := next.Claim(context.Background())
			require.NoError(t, err)
		})
		for {
			ref++
			err := j.Commit(t.Context(), at, []journal.Record{{Facts: []journal.Fact{entry(ref)}}})
			if err != nil {
				require.ErrorIs(t, err, journal.ErrDeposed)
				unknown[ref] = true
				break
			}
			acknowledged[ref] = true
			at++
		}
		claiming.Wait()
		found := map[int64]bool{}
		standing, err := next.Load(t.Context(), func(f journal.Fact) error {
			if e, ok := f.(*journal.Entry); ok {
				found[e.Ref] = true
			}
			return nil
		})
		require.NoError(t, err)
		for ref := range acknowledged {
			require.True(t, found[ref], "%d was acknowledged", ref)
		}
		for ref := range found {
			require.True(t, acknowledged[ref] || unknown[ref], ref)
			require.False(t, unknown[ref], "no commit was under way when its connection was lost")
		}
		require.NoError(t, j.Close())
		j, at = next, standing.Position
	}
}

func TestAnOwnerWhosePositionMovedByItselfIsDeposed(t *testing.T) {
	t.Parallel()
	j := claimed(t, config(pgserver.Database(t)))
	commit(t, j, 0, entry(1))
	require.NoError(t, j.Exec(t.Context(), "UPDATE realm SET position = position - 1")) // as a database that was restored
	err := j.Commit(t.Context(), 1, []journal.Record{{}})
	require.ErrorContains(t, err, "restored")
	requireEnded(t, j, err)
}

func TestAFullDiskIsToldAndTheJournalGoesOn(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j := claimed(t, c)
	commit(t, j, 0, entry(1))
	require.NoError(t, j.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION refuse()`))
	err := j.Commit(t.Context(), 1, []journal.Record{{Facts: []journal.Fact{entry(2)}}})
	require.ErrorIs(t, err, journal.ErrFull)
	require.NotErrorIs(t, err, journal.ErrDeposed)
	require.NoError(t, j.Confirm(t.Context()))
	require.NoError(t, j.Exec(t.Context(), "DROP FUNCTION refuse CASCADE"))
	commit(t, j, 1, entry(3))
	require.ElementsMatch(t, []journal.Fact{entry(1), entry(3)}, load(t, j))
}

// An error of the server that rolled the statement back leaves the journal as it was.
func TestAnErrorThatChangedNothingDoesNotDepose(t *testing.T) {
	t.Parallel()
	j := claimed(t, config(pgserver.Database(t)))
	require.NoError(t, j.Exec(t.Context(), "ALTER TABLE log RENAME TO away"))
	err := j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{entry(1)}}})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.NotErrorIs(t, err, journal.ErrDeposed)
	require.NoError(t, j.Exec(t.Context(), "ALTER TABLE away RENAME TO log"))
	commit(t, j, 0, entry(1))
}

func TestAReadOnlyDatabaseDeposesTheOwner(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j := claimed(t, c)
	require.NoError(t, j.SetWriter(t.Context(), "SET default_transaction_read_only = on"))
	requireEnded(t, j, j.Commit(t.Context(), 0, []journal.Record{{}}))
}

func TestATerminatedReaderIsReplaced(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j := claimed(t, c)
	commit(t, j, 0, &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 1, Key: "k", Value: "v"}})
	for range 3 {
		require.NoError(t, j.Exec(t.Context(), `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a, owner
			WHERE application_name = current_setting('application_name') AND a.pid NOT IN (owner.pid, pg_backend_pid())`))
		require.Eventually(t, func() bool {
			_, ok, err := j.LatestHistory(t.Context(), "k")
			return ok && err == nil
		}, time.Minute, 10*time.Millisecond)
	}
	commit(t, j, 1, entry(1))
}

// The server is killed in the middle of commits, and started: what was acknowledged is there.
func TestWhatWasAcknowledgedSurvivesAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t, pgserver.Durable)
	c := config(s.Database(t))
	at := journal.Position(0)
	for round := range 3 {
		j := claimed(t, c)
		standing, err := j.Load(t.Context(), func(journal.Fact) error { return nil })
		require.NoError(t, err)
		require.GreaterOrEqual(t, standing.Position, at, "round %d", round)
		require.LessOrEqual(t, standing.Position, at+1, "round %d", round)
		at = standing.Position
		require.Len(t, load(t, j), int(at))

		done := make(chan error)
		first := make(chan struct{})
		go func() {
			for n := 0; ; n++ {
				if err := j.Commit(context.Background(), at, []journal.Record{{Facts: []journal.Fact{entry(int64(at) + 1)}}}); err != nil {
					done <- err
					return
				}
				at++
				if n == 50 {
					close(first)
				}
			}
		}()
		<-first
		s.Kill(t)
		requireEnded(t, j, <-done)
		_, err = postgres.Open(t.Context(), c)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.NotContains(t, err.Error(), pgserver.Password)
		s.Start(t)
		require.NoError(t, open(t, c).Watch(t.Context(), never), "the backend of the owner is gone")
	}
}

func TestAClaimWaitsForTransactionsThatLockedTheOwner(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	j, next := claimed(t, c), open(t, c)
	unlock := lock(t, j, "SELECT FROM owner FOR SHARE")
	began := time.Now()
	_, err := next.Claim(t.Context())
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Less(t, time.Since(began), 30*time.Second)
	require.NoError(t, j.Confirm(t.Context()))
	unlock()
	_, err = next.Claim(t.Context())
	require.NoError(t, err)
}

func TestConfigurationsThatCannotBeRight(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	for name, c := range map[string]struct {
		config postgres.Config
		kind   error
		text   string
	}{
		"a realm with bad letters": {postgres.Config{URL: url, Realm: "Über;"}, fault.ErrInvalid, "1 to 40"},
		"a damaged URL":            {postgres.Config{URL: "postgres://u:" + pgserver.Password + "@h:x y/d"}, fault.ErrInvalid, "postgres://USER"},
		"a URL in words":           {postgres.Config{URL: "host=h password='" + pgserver.Password + " port=x"}, fault.ErrInvalid, "postgres://USER"},
		"no such database":         {postgres.Config{URL: pgserver.Shared(t).URL("nothere")}, fault.ErrInvalid, "createdb"},
		"no server":                {postgres.Config{URL: "postgres://u:" + pgserver.Password + "@127.0.0.1:1/d"}, fault.ErrUnavailable, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), c.config)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.text)
			require.NotContains(t, fmt.Sprintf("%v %+v", err, err), pgserver.Password)
		})
	}
}

// A database that was restored in place may have the epoch of the owner, but not what it committed since.
func TestAnOwnerWhoseDatabaseWasSetBackProvesNothing(t *testing.T) {
	t.Parallel()
	j := claimed(t, config(pgserver.Database(t)))
	commit(t, j, 0, entry(1))
	require.NoError(t, j.Exec(t.Context(), "UPDATE realm SET position = 0"))
	err := j.Confirm(t.Context())
	require.ErrorContains(t, err, "or the database was restored")
	requireEnded(t, j, err)
}
