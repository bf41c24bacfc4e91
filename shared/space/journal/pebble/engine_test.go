package pebble_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// run runs an engine over a new journal until the test ends.
func run(t testing.TB, p space.Procedures) *engine.Engine {
	t.Helper()
	e, stop := runOn(t, vfs.NewMem(), p)
	t.Cleanup(stop)
	return e
}

// runOn runs an engine over the journal on a disk until stop.
func runOn(t testing.TB, fs vfs.FS, p space.Procedures) (e *engine.Engine, stop func()) {
	t.Helper()
	j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.NoError(t, err)
	e, err = engine.Open(context.Background(), engine.Config{Journal: j, Procedures: p, Log: quiet})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	return e, func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, j.Close())
	}
}

func TestAnEngineOverItIsARepository(t *testing.T) {
	t.Parallel()
	spacetest.Exercise(t, func(t *testing.T, p space.Procedures) spacetest.Open { return run(t, p).Session })
}

func TestAnEngineOverItKeepsAcknowledgedGets(t *testing.T) {
	t.Parallel()
	spacetest.ExerciseAcknowledged(t, func(t *testing.T, p space.Procedures) spacetest.Dial { return run(t, p).Connect })
}

// TestAnEngineGoesOnWhereItWas kills the engine's disk in the middle of work, and
// looks at what another engine makes of it.
func TestAnEngineGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		e, stop := runOn(t, fs, spacetest.Procedures())
		r, err := e.Session(t.Context(), "worker-1", time.Minute)
		require.NoError(t, err)
		require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
		require.NoError(t, r.Create(t.Context(), "log", space.Options{}))
		s := r.Space("s")
		for n := range 20 {
			require.NoError(t, s.Put(t.Context(), tuple.New("a", int64(n)), 0))
		}
		require.NoError(t, s.Put(t.Context(), tuple.New("ttl", int64(0)), time.Hour))
		_, err = s.Get(t.Context(), tuple.Match("a", tuple.AnyInt64))
		require.NoError(t, err)
		op := func(n uint64) space.OpID { return space.OpID{Session: "worker-1", Seq: n} }
		hold := tuple.New("s", "a", int64(30*time.Minute), "test.on.leave", false)
		held, err := r.Call(t.Context(), op(1), "test.hold", hold)
		require.NoError(t, err)
		token, err := r.Call(t.Context(), op(2), "test.token", nil)
		require.NoError(t, err)
		left := folderOf(t, fs) // as kill -9 leaves it
		stop()

		e, stop = runOn(t, left.disk(t), spacetest.Procedures())
		defer stop()
		r, err = e.Session(t.Context(), "worker-1", time.Minute)
		require.NoError(t, err)
		all, err := r.Space("s").QueryAll(t.Context(), tuple.Match("a", tuple.AnyInt64))
		require.NoError(t, err)
		require.Len(t, all, 18, "one was taken, one is held")
		for n, u := range all {
			require.Equal(t, tuple.New("a", int64(n+2)), u, "they are in order")
		}
		again, err := r.Call(t.Context(), op(1), "test.hold", hold)
		require.NoError(t, err)
		require.Equal(t, held, again, "a repeated request has its first answer")
		next, err := r.Call(t.Context(), op(3), "test.token", nil)
		require.NoError(t, err)
		require.Greater(t, next.Int64(1), token.Int64(1))

		other, err := e.Session(t.Context(), "other", 0)
		require.NoError(t, err)
		time.Sleep(time.Minute + time.Second)
		all, err = other.Space("s").QueryAll(t.Context(), tuple.Match("a", tuple.AnyInt64))
		require.NoError(t, err)
		require.Len(t, all, 19, "its session is lost, and the hold with it")
		require.Equal(t, tuple.New("a", int64(1)), all[0], "at its old place")
		time.Sleep(time.Hour)
		n, err := other.Space("s").Count(t.Context(), tuple.Match("ttl", tuple.AnyInt64))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}
