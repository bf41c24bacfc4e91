package native_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

func TestSessionsThatOpenTogetherShareTheirCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		m.Before = func(context.Context, []journal.Record) error { time.Sleep(50 * time.Millisecond); return nil }
		e, err := engine.Open(t.Context(), engine.Config{Journal: m, Log: quiet})
		require.NoError(t, err)
		fx := &fixture{T: t, engine: e}
		start(t, e.Run)
		fx.openGate(native.Config{})
		began := time.Now()
		var opening sync.WaitGroup
		for n := range 200 {
			opening.Go(func() {
				c := fx.session(fmt.Sprint("client-", n), time.Minute)
				require.NotNil(t, c)
			})
		}
		opening.Wait()
		require.Less(t, time.Since(began), time.Second)
	})
}

// A put too large for the free memory is refused, and its connection goes on.
func TestALargeFrameIsRefusedWhileMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := memory.New(16 << 20)
		e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: spacetest.Procedures(), Log: quiet, Memory: budget})
		require.NoError(t, err)
		fx := &fixture{T: t, engine: e}
		start(t, e.Run)
		fx.openGate(native.Config{Memory: budget})
		before := budget.Used()
		c, err := fx.dial(t.Context(), remote.Config{Session: "client-1", TTL: time.Minute})
		require.NoError(t, err)
		repo := space.Over(c)
		require.NoError(t, repo.Create(t.Context(), "s", space.Options{}))
		s := repo.Space("s")
		large := tuple.New("large", make([]byte, 900_000))
		stored := 0
		for ; stored < 100; stored++ {
			if err = s.Put(t.Context(), large, 0); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, fault.ErrOverloaded)
		require.Positive(t, stored)
		any := tuple.Match("large", tuple.Formal{Type: tuple.Bytes})
		n, err := s.Count(t.Context(), any)
		require.NoError(t, err)
		require.Equal(t, stored, n, "all that was acknowledged is there, and nothing else")
		for range stored {
			_, err := s.Get(t.Context(), any)
			require.NoError(t, err)
		}
		require.NoError(t, s.Put(t.Context(), large, 0), "and it recovers by itself")
		_, err = s.Get(t.Context(), any)
		require.NoError(t, err)
		require.NoError(t, repo.Close(t.Context()))
		synctest.Wait()
		require.Less(t, budget.Used()-before, int64(8<<10), "only the space is left")
	})
}
