package engine

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/tuple"
)

// Compares the timers with a map over random steps. A new first timer must wake Run only if it
// is due before Run looks again by itself.
func TestTimersFireInOrderAndOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ts := newTimers(make(chan struct{}, 1))
		naive := map[int64]time.Duration{}
		now := time.Duration(0)
		ids := rapid.Int64Range(1, 20)
		set := func(rt *rapid.T) {
			id, at := ids.Draw(rt, "id"), now+time.Duration(rapid.IntRange(0, 9).Draw(rt, "in"))
			before, ok := ts.next()
			select {
			case <-ts.wake:
			default:
			}
			ts.setEntry(at, &entry{Ref: id})
			if (!ok || at < before) && at < ts.until {
				require.Len(rt, ts.wake, 1, "an earlier one wakes")
			}
			if at >= ts.until {
				require.Empty(rt, ts.wake, "one that is due after Run looks again does not")
			}
			naive[id] = at
		}
		rt.Repeat(map[string]func(*rapid.T){
			"set": set, "set again": set,
			"look": func(rt *rapid.T) { ts.until = now + time.Duration(rapid.IntRange(0, 9).Draw(rt, "until")) },
			"unset": func(rt *rapid.T) {
				id := ids.Draw(rt, "id")
				ts.unset(id)
				delete(naive, id)
			},
			"pass": func(rt *rapid.T) {
				now += time.Duration(rapid.IntRange(0, 5).Draw(rt, "by"))
				var want, got []int64
				for id, at := range naive {
					if at <= now {
						want = append(want, id)
					}
				}
				slices.SortFunc(want, func(a, b int64) int { return cmp.Or(cmp.Compare(naive[a], naive[b]), cmp.Compare(a, b)) })
				for x, ok := ts.takeDue(now); ok; x, ok = ts.takeDue(now) {
					got = append(got, x.id)
					delete(naive, x.id)
				}
				require.Equal(rt, want, got)
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, len(naive), ts.queue.len())
				require.Len(rt, ts.byID, len(naive))
			},
		})
	})
}

// A timer set while Run waits fires in time, whether it is due before Run reads the clock again or after that.
func TestATimerFiresInTimeHoweverFarItIs(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{time.Millisecond, wakeInterval - 1, wakeInterval, wakeInterval + 1, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			e, r := opened(t, nil)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- e.Run(ctx) }()
			time.Sleep(wakeInterval / 3)
			require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), ttl))
			time.Sleep(ttl - 1)
			synctest.Wait()
			require.Equal(t, 1, tuples(e))
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			require.Zero(t, tuples(e))
			stop()
			require.NoError(t, <-ended)
		})
	}
}

// tuples returns how many tuples the engine has. Unlike a request, it fires no timer.
func tuples(e *Engine) int {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	return len(e.state.entries)
}

// The engine measures with a monotonic clock, which does not change with the wall clock.
func TestFault21EngineTimeIsMonotonic(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	require.NotEqual(t, e.state.started, e.state.started.Round(0), "a reading of the wall clock alone")
}
