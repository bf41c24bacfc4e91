package visits

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
)

// writes counts the transactions that write.
type writes struct {
	sqldb.Database
	n int
}

func (w *writes) Write(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	w.n++
	return w.Database.Write(ctx, op, do)
}

// A transaction has a time limit, and the cache of a large schedule takes longer to read.
func TestAfterAFailureTheCacheIsReadAgainInSeveralTransactions(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(7, 3)}))
	_, err := s.Claim(t.Context(), now, 2)
	require.NoError(t, err)
	s.part = 3
	w := &writes{Database: s.file}
	s.file = w
	before := s.cache
	change := func(ctx context.Context, failure error) error {
		return s.write(ctx, "change", func() error {
			s.update().queues = nil
			return failure
		})
	}
	failure := errors.New("a failure")
	for n := 1; ; n++ {
		s.cache.stale = false
		require.ErrorIs(t, change(t.Context(), failure), failure)
		require.True(t, s.cache.stale)
		ctx, failed := sqldb.FailAt(t.Context(), n)
		err := s.write(ctx, "read", func() error { return nil })
		if !failed() {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, err, sqldb.ErrFailed)
		w.n = 0
		require.NoError(t, s.write(t.Context(), "read", func() error { return nil }))
		require.LessOrEqual(t, w.n, 3, "7 origins, 3 of them in each")
		require.False(t, s.cache.stale)
		require.Equal(t, before.queues, s.cache.queues)
		require.Equal(t, before.pools, s.cache.pools)
		require.Equal(t, before.claims, s.cache.claims)
		require.Equal(t, before.flights, s.cache.flights)
		require.Equal(t, before.counts, s.cache.counts)
		require.Len(t, s.cache.sample.states, 7)
	}
}
