package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/postgres"
)

// The database fails over: its synchronous standby is promoted while the old primary lives on, and still answers
// queries. What was acknowledged is at the new primary, and nothing more is acknowledged at the old one.
func TestAnOldPrimaryThatLivesOnAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	old := pgserver.New(t)
	url := old.Database(t)
	c, other := config(url), config(url)
	c.Owner, other.Owner = "first", "second"
	promoted := old.Standby(t)
	_, err := postgres.Examine(t.Context(), c, false)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "synchronous_standby_names")
	f, err := postgres.Examine(t.Context(), c, true)
	require.NoError(t, err)
	require.Contains(t, strings.Join(f.Warnings, "\n"), "asynchronous")
	old.Synchronous(t)
	_, err = postgres.Examine(t.Context(), c, false)
	require.NoError(t, err)

	owner, second, late := claimed(t, c), claimed(t, other), open(t, config(url))
	for n := range 20 {
		commit(t, owner, journal.Position(n), entry(int64(n+1)))
	}
	_, err = postgres.Open(t.Context(), at(c, promoted, url))
	require.ErrorIs(t, err, fault.ErrUnavailable, "a standby is read-only")

	promoted.Promote(t)
	next := open(t, at(c, promoted, url))
	require.NoError(t, next.Watch(t.Context(), never), "the backend of the owner is not there")
	_, err = next.Claim(t.Context())
	require.NoError(t, err)
	require.Len(t, load(t, next), 20)
	commit(t, next, 20, entry(100))

	// A commit and a confirmation at the old primary wait, until an operator cancels them. A claim waits too.
	done := make(chan error, 1)
	go func() { done <- owner.Commit(t.Context(), 20, []journal.Record{{Facts: []journal.Fact{entry(200)}}}) }()
	cancelWait(t, late, c)
	requireEnded(t, owner, <-done)
	go func() { done <- second.Confirm(t.Context()) }()
	cancelWait(t, late, other)
	requireEnded(t, second, <-done)
	_, ok, err := late.LatestHistory(t.Context(), "k")
	require.NoError(t, err, "the old primary answers queries")
	require.False(t, ok)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = late.Claim(ctx)
	require.Error(t, err)
}

// at returns c with the same database at another server.
func at(c postgres.Config, s *pgserver.Server, url string) postgres.Config {
	name := url[strings.LastIndexByte(url, '/')+1:]
	name, _, _ = strings.Cut(name, "?")
	c.URL = s.URL(name)
	return c
}

// cancelWait cancels, as an operator does, the wait of an owner's commit for the synchronous standby.
func cancelWait(t *testing.T, j *postgres.Journal, owner postgres.Config) {
	t.Helper()
	waits := fmt.Sprintf("pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'leasehold %s %s'", owner.Realm, owner.Owner)
	require.Eventually(t, func() bool {
		n, err := j.Rows(t.Context(), waits)
		return err == nil && n > 0
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, j.Exec(t.Context(), "SELECT pg_cancel_backend(pid) FROM "+waits))
}
