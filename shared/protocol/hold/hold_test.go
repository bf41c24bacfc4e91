package hold_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var note = tuple.Match("note", tuple.AnyInt64)

// open returns a repository on j with a space "s" of notes, in which the tuples of the space "closed"
// cannot be held, and what stops it.
func open(t *testing.T, j journal.Journal) (space.Repository, func()) {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{
		Journal: j, Procedures: hold.Procedures(map[string]bool{"closed": true}), QueryOnly: space.QueryOnly(hold.Spaces()),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	repo, err := e.Session(t.Context(), "client", 0)
	require.NoError(t, err)
	for _, d := range append(hold.Spaces(), space.Definition{Name: "s"}, space.Definition{Name: "closed"}) {
		require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
	}
	return repo, func() { cancel(); require.NoError(t, <-ended) }
}

func count(t *testing.T, repo space.Repository, name string) int {
	t.Helper()
	n, err := repo.Space(name).Count(t.Context(), note)
	require.NoError(t, err)
	return n
}

func TestATupleIsGoneOnceItsHoldIsAcknowledged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, stop := open(t, &journal.Memory{})
		defer stop()
		c := hold.Client{Repo: repo}
		require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("note", int64(1)), 0))
		taken, ok, err := c.Take(t.Context(), "s", note, hold.DefaultTime, false)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, tuple.New("note", int64(1)), taken.Tuple)
		require.Zero(t, count(t, repo, "s"), "it is hidden")
		_, ok, err = c.Take(t.Context(), "s", note, hold.DefaultTime, false)
		require.NoError(t, err)
		require.False(t, ok)
		require.ErrorIs(t, c.Ack(t.Context(), "other", taken.ID), fault.ErrStaleToken, "it is of another space")
		require.NoError(t, c.Ack(t.Context(), "s", taken.ID))
		require.ErrorIs(t, c.Ack(t.Context(), "s", taken.ID), fault.ErrStaleToken)
		require.ErrorIs(t, c.Back(t.Context(), "s", taken.ID), fault.ErrStaleToken)
		time.Sleep(2 * hold.DefaultTime)
		require.Zero(t, count(t, repo, "s"))
	})
}

func TestATupleIsBackAtItsPlaceIfItsHoldIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, stop := open(t, &journal.Memory{})
		defer stop()
		c := hold.Client{Repo: repo}
		for n := range int64(2) {
			require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("note", n), 0))
		}
		for _, end := range []func(string) error{
			func(id string) error { return c.Back(t.Context(), "s", id) },
			func(string) error { time.Sleep(10*time.Second + time.Millisecond); return nil },
		} {
			taken, ok, err := c.Take(t.Context(), "s", note, 10*time.Second, false)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, tuple.New("note", int64(0)), taken.Tuple, "the first is first again")
			require.NoError(t, end(taken.ID))
			require.Equal(t, 2, count(t, repo, "s"))
			require.ErrorIs(t, c.Ack(t.Context(), "s", taken.ID), fault.ErrStaleToken)
		}
		left, err := repo.Space(hold.Space).Count(t.Context(), tuple.Match("hold", tuple.AnyString, tuple.AnyString, tuple.AnyInt64))
		require.NoError(t, err)
		require.Zero(t, left, "the tuples of ended holds are gone")
	})
}

func TestATakeWaitsForATuple(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, stop := open(t, &journal.Memory{})
		defer stop()
		got := make(chan hold.Taken, 1)
		go func() {
			taken, _, _ := hold.Client{Repo: repo}.Take(t.Context(), "s", note, hold.MinTime, true)
			got <- taken
		}()
		synctest.Wait()
		require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("note", int64(7)), 0))
		require.Equal(t, tuple.New("note", int64(7)), (<-got).Tuple)
	})
}

func TestAHoldGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		repo, stop := open(t, j)
		require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("note", int64(1)), 0))
		taken, _, err := hold.Client{Repo: repo}.Take(t.Context(), "s", note, hold.DefaultTime, false)
		require.NoError(t, err)
		stop()

		repo, stop = open(t, j)
		defer stop()
		require.Zero(t, count(t, repo, "s"))
		require.NoError(t, hold.Client{Repo: repo}.Ack(t.Context(), "s", taken.ID))
		time.Sleep(2 * hold.DefaultTime)
		require.Zero(t, count(t, repo, "s"))
	})
}

func TestWhatCannotBeHeldIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, stop := open(t, &journal.Memory{})
		defer stop()
		for _, c := range []struct {
			from string
			ttl  time.Duration
			kind error
		}{
			{"closed", hold.DefaultTime, fault.ErrForbidden}, {"none", hold.DefaultTime, fault.ErrNotFound},
			{"s", hold.MinTime - 1, fault.ErrInvalid}, {"s", hold.MaxTime + 1, fault.ErrInvalid},
		} {
			_, _, err := hold.Client{Repo: repo}.Take(t.Context(), c.from, note, c.ttl, false)
			require.ErrorIs(t, err, c.kind, "%+v", c)
		}
		_, err := repo.Call(t.Context(), space.OpID{}, "hold.expire", space.Expired{Ref: 1, Cause: space.Lost}.Args())
		require.ErrorIs(t, err, fault.ErrInvalid, "only the engine ends a hold by its time")
		require.ErrorIs(t, repo.Space(hold.Space).Put(t.Context(), tuple.New("hold", "h1", "s", int64(1)), 0), fault.ErrForbidden)
	})
}
