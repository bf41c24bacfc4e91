package native_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// While memory is used up the gate pauses the connection of a client whose large frame it
// refused, by the bytes refused, so that reading it again costs little. Other clients do not
// wait.
func TestAClientWhoseLargePutIsRefusedIsReadAgainAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fx := newFixture(t, spacetest.Procedures(), native.Config{Memory: memory.New(3 << 20)})
		s := fx.space()
		flood, other := space.Over(fx.session("flood", 0)).Space("s"), space.Over(fx.session("other", 0)).Space("s")
		took := func(call func() error) time.Duration {
			start := time.Now()
			require.NoError(t, call())
			return time.Since(start)
		}
		put := func(s space.Space, size int) func() error {
			return func() error { return s.Put(t.Context(), tuple.New("x", make([]byte, size)), 0) }
		}
		count := func(s space.Space) func() error {
			return func() error { _, err := s.Count(t.Context(), anyA); return err }
		}

		large := put(flood, 900_000)
		require.ErrorIs(t, large(), fault.ErrOverloaded)
		require.Zero(t, took(count(other)), "others do not wait")
		require.InDelta(t, 0.215, took(count(flood)).Seconds(), 0.01)
		require.Zero(t, took(count(flood)))

		for range 20 {
			go func() { require.ErrorIs(t, large(), fault.ErrOverloaded) }()
		}
		synctest.Wait()
		require.LessOrEqual(t, took(count(flood)), 20*time.Second/4)
		require.NoError(t, s.Put(t.Context(), a(1), 0))
		require.Zero(t, took(put(flood, 1000)), "small ones are accepted")
	})
}

// Refused calls count by their number too, because each of them takes time of a processor: 4,096 in
// a second of a client.
func TestAClientWhoseSmallPutsAreRefusedIsReadAgainAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := memory.New(3 << 20)
		fx := newFixture(t, spacetest.Procedures(), native.Config{Memory: budget})
		fx.space()
		flood, other := space.Over(fx.session("flood", 0)).Space("s"), space.Over(fx.session("other", 0)).Space("s")
		budget.Add(5 << 19) // more than three quarters, so that puts are refused
		defer budget.Add(-5 << 19)
		refuse := func(calls int) time.Duration {
			start := time.Now()
			for range calls {
				require.ErrorIs(t, flood.PutP(t.Context(), a(1), 0), fault.ErrOverloaded)
			}
			return time.Since(start)
		}
		require.Zero(t, refuse(8), "a client that asks again sometimes is answered at once")
		require.InDelta(t, 1.0, refuse(4096).Seconds(), 0.01)
		start := time.Now()
		_, _, err := other.GetP(t.Context(), anyA)
		require.NoError(t, err)
		require.Zero(t, time.Since(start), "others do not wait")
	})
}

// The sign of life waits behind large requests of the same worker that are refused.
func TestAWorkerWhoseLargePutsAreRefusedKeepsItsSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := memory.New(3 << 20)
		fx := newFixture(t, spacetest.Procedures(), native.Config{Memory: budget})
		fx.space()
		c, err := fx.dial(t.Context(), remote.Config{Session: "worker-1", Mode: "worker", TTL: 6 * time.Second})
		require.NoError(t, err)
		worker := space.Over(c)
		budget.Add(2 << 20)
		defer budget.Add(-2 << 20)
		for range 50 {
			go func() {
				require.ErrorIs(t, worker.Space("s").Put(t.Context(), tuple.New("x", make([]byte, 900_000)), 0), fault.ErrOverloaded)
			}()
		}
		synctest.Wait()
		for range 3 {
			_, err = worker.Call(t.Context(), space.OpID{}, "test.beat", tuple.New())
			require.NoError(t, err)
			<-time.After(3 * time.Second)
		}
	})
}
