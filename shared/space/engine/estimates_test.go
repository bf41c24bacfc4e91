package engine

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// TestEstimatesOfMemory compares what the budget counts with what the heap grows by. The
// journal keeps nothing, so that all growth is the engine's. It measures the heap of the
// process, so it is not parallel.
func TestEstimatesOfMemory(t *testing.T) {
	byName := tuple.Match(tuple.Formal{Type: tuple.String}, int64(0))
	for name, x := range map[string]struct {
		n    int
		fill func(t *testing.T, e *Engine, s space.Space, n int)
	}{
		"small tuples": {20_000, func(t *testing.T, _ *Engine, s space.Space, n int) {
			require.NoError(t, s.Put(t.Context(), tuple.New(fmt.Sprint("name-", n), int64(n)), 0))
		}},
		"small tuples with a TTL and an index": {20_000, func(t *testing.T, _ *Engine, s space.Space, n int) {
			require.NoError(t, s.Put(t.Context(), tuple.New(fmt.Sprint("name-", n), int64(n)), time.Hour))
			_, _, err := s.QueryP(t.Context(), byName)
			require.NoError(t, err)
		}},
		"tuples of many fields": {5_000, func(t *testing.T, _ *Engine, s space.Space, n int) {
			u := tuple.Tuple{}
			for f := range 20 {
				u = append(u, int64(1000*n+f))
			}
			require.NoError(t, s.Put(t.Context(), u, 0))
		}},
		"large tuples": {50, func(t *testing.T, _ *Engine, s space.Space, n int) {
			require.NoError(t, s.Put(t.Context(), tuple.New(int64(n), make([]byte, 500_000)), 0))
		}},
		"events of tuples that are gone": {2_000, func(t *testing.T, _ *Engine, s space.Space, n int) {
			if n == 0 {
				_, err := s.Notify(t.Context(), nil)
				require.NoError(t, err)
			}
			require.NoError(t, s.Put(t.Context(), tuple.New(fmt.Sprint("name-", n), int64(n)), 0))
			_, _, err := s.GetP(t.Context(), tuple.Match(tuple.AnyString, tuple.AnyInt64))
			require.NoError(t, err)
		}},
		"sessions": {5_000, func(t *testing.T, e *Engine, _ space.Space, n int) {
			_, err := e.Session(t.Context(), fmt.Sprint("session-", n), time.Hour)
			require.NoError(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			budget := memory.New(1 << 40)
			e, err := Open(t.Context(), Config{Journal: &forgetful{}, Memory: budget})
			require.NoError(t, err)
			r, err := e.Session(t.Context(), "test-1", 0)
			require.NoError(t, err)
			require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
			heap, used := heapInUse(), budget.Used()
			for n := range x.n {
				x.fill(t, e, r.Space("s"), n)
			}
			heap, used = heapInUse()-heap, budget.Used()-used
			ratio := float64(used) / float64(heap)
			t.Logf("%d bytes each, counted as %d: %.2f", heap/int64(x.n), used/int64(x.n), ratio)
			require.Greater(t, ratio, 0.8, "the heap must not grow by much more than the budget counts")
			require.Less(t, ratio, 3.0)
			runtime.KeepAlive(e)
		})
	}
}

// forgetful is a journal that keeps nothing.
type forgetful struct{ journal.Memory }

func (*forgetful) Commit(context.Context, journal.Position, []journal.Record) error { return nil }
