package realm

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/postgres"
)

// open opens a realm on a database.
func open(t *testing.T, url, name string) *Realm {
	t.Helper()
	r, err := Open(t.Context(), url, name)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

var box = Member{Name: "box", Gates: []string{"box:7411", "10.0.0.1:7411"}, API: "https://box:7411", Version: "1.2", Format: postgres.NewestFormat}

// openJournal opens the journal of a realm, which the test closes.
func openJournal(t *testing.T, url, name string) *postgres.Journal {
	t.Helper()
	j, err := postgres.Open(t.Context(), postgres.Config{URL: url, Realm: name, Owner: "box", Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func TestMembersSeeEachOtherUntilTheyLeave(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a, b := open(t, url, "default"), open(t, url, "default")
	openJournal(t, url, "default")
	joined, err := a.Join(t.Context(), box)
	require.NoError(t, err)
	all, err := b.Members(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.False(t, all[0].Since.IsZero())
	all[0].Since = time.Time{}
	require.Equal(t, box, all[0])
	others, err := open(t, url, "other").Members(t.Context())
	require.NoError(t, err)
	require.Empty(t, others, "another realm has other members")

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { joined.Run(ctx, slog.New(slog.DiscardHandler)) })
	_, err = b.Join(t.Context(), box)
	require.ErrorIs(t, err, fault.ErrConflict, "two members need two names")
	require.ErrorContains(t, err, "a data folder or a machine name of its own")
	stop()
	running.Wait()
	all, err = b.Members(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = b.Join(t.Context(), box)
	require.NoError(t, err)
	_, err = a.Join(t.Context(), box)
	require.NoError(t, err, "the earlier process gives no signs of life")
}

func TestOneIdentityIsChosenOfSeveralThatAreProposed(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	chosen := make([]Files, 8)
	var proposing sync.WaitGroup
	for i := range chosen {
		proposing.Go(func() {
			r, err := Open(context.Background(), url, "default") // all make the tables at the same time
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if chosen[i], err = r.ProposeIdentity(context.Background(), Files{"key": {byte(i)}, "cert": {byte(i), 0}}); err != nil {
				t.Error(err)
			}
		})
	}
	proposing.Wait()
	for _, files := range chosen {
		require.Equal(t, chosen[0], files)
		require.Equal(t, files["key"][0], files["cert"][0], "of one coordinator")
	}
}

func TestErrorsDoNotContainThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:geheim@127.0.0.1:1/x", "postgres://u:geheim@127.0.0.1:port/x", "mysql://u:geheim@h/x", "postgres://u:geheim@127.0.0.1:1/x?sslmode=maybe"} {
		_, err := Open(t.Context(), url, "default")
		require.Error(t, err)
		require.NotContains(t, err.Error(), "geheim")
	}
	_, err := Open(t.Context(), "postgres://127.0.0.1:1/x", "default")
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestAMemberThatCouldNotJoinIsNone(t *testing.T) {
	t.Parallel()
	joined, err := open(t, pgserver.Database(t), "default").Join(t.Context(), box)
	require.Error(t, err, "the journal was not opened before")
	require.Nil(t, joined)
}

func TestOnlyTheOwnerReplacesTheIdentity(t *testing.T) {
	t.Parallel()
	r := owned(t)
	_, err := r.ProposeIdentity(t.Context(), Files{"key": {1}, "cert": {2}})
	require.NoError(t, err)
	require.NoError(t, r.SetIdentity(t.Context(), 1, Files{"key": {9}}))
	_, err = r.pool.Exec(t.Context(), `UPDATE owner SET epoch = 2`)
	require.NoError(t, err)
	require.ErrorIs(t, r.SetIdentity(t.Context(), 1, Files{"key": {3}}), fault.ErrUnavailable)
	files, err := r.Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, Files{"key": {9}, "cert": {2}}, files)
}

// Of several hosts, the one that accepts writes is used.
func TestAStandbyOfTheDatabaseIsNotUsed(t *testing.T) {
	t.Parallel()
	primary := pgserver.New(t)
	url := primary.Database(t)
	standby := primary.Standby(t)
	both := strings.Replace(url, primary.Address(), standby.Address()+","+primary.Address(), 1)
	openJournal(t, url, "default")
	_, err := open(t, both, "default").Join(t.Context(), box)
	require.NoError(t, err)
}

// A network loses a connection without telling: a call ends after a time, and the next one uses another connection.
func TestAConnectionThatTheNetworkLostIsGivenUp(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	r := open(t, server.Database(t), "default")
	thaw := server.Freeze(t)
	began := time.Now()
	_, err := r.Members(t.Context())
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Less(t, time.Since(began), time.Minute)
	thaw()
	_, err = r.Members(t.Context())
	require.NoError(t, err)
}
