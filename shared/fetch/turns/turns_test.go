package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

// run makes n requests of a host at once, of a second each, and returns when each began, in seconds, and how many
// were under way at most.
func run(t *testing.T, turns *Turns, n int, gap time.Duration) (begun map[int]int, most int) {
	t.Helper()
	start, begun, now := time.Now(), map[int]int{}, 0
	var mu sync.Mutex
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			end, err := turns.Take(t.Context(), "h", gap)
			if err != nil {
				panic(err)
			}
			mu.Lock()
			begun[int(time.Since(start).Seconds())]++
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			end()
			end() // the second call does nothing
		})
	}
	running.Wait()
	return begun, most
}

func TestAHostHasAsManyRequestsAtOnceAsItHasSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := New(4)
		begun, most := run(t, turns, 10, 0)
		require.Equal(t, 4, most)
		require.Equal(t, map[int]int{0: 4, 1: 4, 2: 2}, begun)
		turns.SetSlots(0)
		_, most = run(t, turns, 3, 0)
		require.Equal(t, 1, most)
	})
}

func TestAHostThatAsksForAGapHasOneRequestAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, most := run(t, New(4), 4, 10*time.Second)
		require.Equal(t, 1, most)
		require.Equal(t, map[int]int{0: 1, 11: 1, 22: 1, 33: 1}, begun)
	})
}

func TestAWaitForATurnEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		end, err := turns.Take(t.Context(), "h", time.Minute)
		require.NoError(t, err)
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, enough)
		defer cancel()
		_, err = turns.Take(ctx, "h", time.Minute)
		require.ErrorIs(t, err, enough, "it could have ended at any time")
		end()
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		before := time.Now()
		_, err = turns.Take(ctx, "h", time.Minute)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.Equal(t, before, time.Now(), "it fails at once")
		_, err = turns.Take(t.Context(), "other", time.Minute)
		require.NoError(t, err)
	})
}

func TestIdleHostsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		busy, err := turns.Take(t.Context(), "busy", 0)
		require.NoError(t, err)
		for n := range 3 * mostHosts {
			end, err := turns.Take(t.Context(), fmt.Sprint(n), 0)
			require.NoError(t, err)
			end()
		}
		require.LessOrEqual(t, len(turns.hosts), mostHosts)
		require.Equal(t, 1, turns.hosts["busy"].underWay)
		busy()
	})
}
