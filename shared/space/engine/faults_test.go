package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// killed runs op on an engine over m that dies when it commits op, before or after the
// journal has it: Commit never returns, so that no call is answered. Another engine may
// open m then.
func killed(t *testing.T, m *journal.Memory, durable bool, op func()) {
	t.Helper()
	synctest.Wait()
	dead := make(chan struct{})
	t.Cleanup(func() { close(dead); synctest.Wait() })
	die := func(context.Context, []journal.Record) error { <-dead; return errDisk }
	if durable {
		m.After = die
	} else {
		m.Before = die
	}
	go op()
	synctest.Wait()
	m.Before, m.After = nil, nil
}

// killing runs a test over an engine whose space s has one acknowledged tuple.
func killing(t *testing.T, test func(t *testing.T, m *journal.Memory, r space.Repository)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		r := opened(t, run(t, engine.Config{Journal: m}))
		require.NoError(t, r.Space("s").Put(t.Context(), item("kept", 1), 0))
		test(t, m, r)
	})
}

// putAs puts an item with an operation id.
func putAs(r space.Repository, n uint64) (tuple.Tuple, error) {
	args := tuple.New("s", item("a", 1), int64(0), "", false)
	return r.Call(context.Background(), space.OpID{Session: "test-1", Seq: n}, "test.put", args)
}

func TestFault01AKillBeforeTheWriteLeavesNoTuple(t *testing.T) {
	killing(t, func(t *testing.T, m *journal.Memory, r space.Repository) {
		killed(t, m, false, func() { _, _ = putAs(r, 1) })
		again := session(t, run(t, engine.Config{Journal: m}), "test-1", time.Hour)
		require.Equal(t, 1, count(t, again, "s"), "what was acknowledged")
		for range 3 {
			_, err := putAs(again, 1)
			require.NoError(t, err)
		}
		require.Equal(t, 2, count(t, again, "s"))
	})
}

func TestFault02And03AKillBeforeTheReplyLosesNothingAndDoublesNothing(t *testing.T) {
	for name, durable := range map[string]bool{"before the sync": false, "after the sync": true} {
		t.Run(name, func(t *testing.T) {
			killing(t, func(t *testing.T, m *journal.Memory, r space.Repository) {
				killed(t, m, durable, func() { _, _ = putAs(r, 1) })
				again := session(t, run(t, engine.Config{Journal: m}), "test-1", time.Hour)
				if durable {
					require.Equal(t, 2, count(t, again, "s"))
				}
				first, err := putAs(again, 1)
				require.NoError(t, err)
				second, err := putAs(again, 1)
				require.NoError(t, err)
				require.Equal(t, first, second)
				require.Equal(t, 2, count(t, again, "s"))
			})
		})
	}
}

func TestATransactionOverSeveralSpacesIsWholeAfterAKill(t *testing.T) {
	for name, durable := range map[string]bool{"before it is durable": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			killing(t, func(t *testing.T, m *journal.Memory, r space.Repository) {
				killed(t, m, durable, func() {
					_, _ = r.Call(context.Background(), space.OpID{}, "test.move", tuple.New("kept", "s", "log"))
				})
				again := session(t, run(t, engine.Config{Journal: m}), "test-1", time.Hour)
				there := map[bool]int{true: 1}[durable]
				require.Equal(t, []int{1 - there, there}, []int{count(t, again, "s"), count(t, again, "log")})
			})
		})
	}
}

func TestFault26AnAnswerThatIsLostFiveTimesIsOneEffectAlsoOverRestarts(t *testing.T) {
	killing(t, func(t *testing.T, m *journal.Memory, r space.Repository) {
		killed(t, m, true, func() { _, _ = putAs(r, 1) })
		var answers []tuple.Tuple
		for range 5 {
			e, stop := restartable(t, engine.Config{Journal: m})
			answer, err := putAs(session(t, e, "test-1", time.Hour), 1)
			require.NoError(t, err)
			answers = append(answers, answer)
			require.NoError(t, stop())
		}
		for _, a := range answers {
			require.Equal(t, answers[0], a)
		}
		require.Equal(t, 2, count(t, session(t, run(t, engine.Config{Journal: m}), "test-1", time.Hour), "s"))
	})
}

// takeAs is a get as a gate's client sends it.
func takeAs(c space.Conn, n uint64) (tuple.Tuple, error) {
	r, err := c.Do(context.Background(), space.Request{
		Verb: space.VerbGet, Space: "s", Template: anyItem("a"), Ack: true, Op: space.OpID{Session: c.Session(), Seq: n},
	})
	return r.Tuple, err
}

// The process is killed after a get was durable and before it was acknowledged. Its session gets
// the same answer again; if the session is lost, the tuple returns to its place.
func TestFault30AGetThatIsNotAcknowledgedSurvivesACrashAsAHold(t *testing.T) {
	for name, lost := range map[string]bool{"and its session comes back": false, "and its session is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &journal.Memory{}
				e := run(t, engine.Config{Journal: m})
				r := opened(t, e)
				for n := range 4 {
					require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0))
				}
				client, err := e.Connect(t.Context(), "client", time.Minute)
				require.NoError(t, err)
				_, err = takeAs(client, 1)
				require.NoError(t, err)
				_, err = client.Do(t.Context(), space.Request{Verb: space.VerbAck, Op: space.OpID{Session: "client", Seq: 1}})
				require.NoError(t, err)
				killed(t, m, true, func() { _, _ = takeAs(client, 2) })

				e = run(t, engine.Config{Journal: m})
				r = session(t, e, "test-1", time.Hour)
				left := func() []tuple.Tuple {
					all, err := r.Space("s").QueryAll(t.Context(), anything)
					require.NoError(t, err)
					return all
				}
				require.Equal(t, []tuple.Tuple{item("a", 2), item("a", 3)}, left(), "no other session gets it")
				if lost {
					time.Sleep(time.Minute)
					require.Equal(t, []tuple.Tuple{item("a", 1), item("a", 2), item("a", 3)}, left(), "at its old place; the acknowledged one is gone")
					return
				}
				client, err = e.Connect(t.Context(), "client", time.Minute)
				require.NoError(t, err)
				for range 2 {
					got, err := takeAs(client, 2)
					require.NoError(t, err)
					require.Equal(t, item("a", 1), got, "the first answer")
				}
				require.NoError(t, space.Over(client).Close(t.Context()))
				require.Equal(t, []tuple.Tuple{item("a", 1), item("a", 2), item("a", 3)}, left())
			})
		})
	}
}

// Each tuple ends in one way only: extended or revoked just before its deadline, or expired at
// it, where both other ways come too late. A restart keeps the deadlines.
func TestFault20ExtendRevokeAndExpiryAreOrderedByGeneration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		r := opened(t, e)
		put := func(n int) any {
			return call(t, r, "test.put", "s", item("a", n), int64(time.Minute), "test.on.leave", false)[0]
		}
		extended, revoked, expired := put(1), put(2), put(3)
		time.Sleep(time.Minute - 1)
		call(t, r, "test.extend", extended, int64(time.Hour))
		call(t, r, "test.take", revoked)
		time.Sleep(time.Nanosecond)
		_, err := r.Call(t.Context(), space.OpID{}, "test.extend", tuple.New(expired, int64(time.Hour)))
		require.ErrorIs(t, err, fault.ErrNotFound, "it has ended at its deadline")
		_, err = r.Call(t.Context(), space.OpID{}, "test.take", tuple.New(revoked))
		require.ErrorIs(t, err, fault.ErrNotFound)
		require.Equal(t, 1, count(t, r, "s"))
		require.NoError(t, stop())
		r = session(t, run(t, engine.Config{Journal: m}), "test-1", time.Hour)
		time.Sleep(time.Hour - 2) // it was extended a nanosecond before the last record
		require.Equal(t, 1, count(t, r, "s"))
		time.Sleep(time.Nanosecond)
		require.Zero(t, count(t, r, "s"))
		ends, err := r.Space("log").Count(t.Context(), tuple.Match("due", tuple.AnyInt64, tuple.AnyString))
		require.NoError(t, err)
		require.Equal(t, 2, ends, "each ended exactly once")
	})
}

// Gets that were cancelled must take no tuple, and each put must wake exactly the get that has
// waited longest.
func TestFault29OfAThousandBlockedGetsOnePutServesTheFirstThatWasNotCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, run(t, engine.Config{})).Space("s")
		const all, cancelled = 1000, 300
		served, gone := make(chan int, all), make(chan int, all)
		first, cancel := context.WithCancel(t.Context())
		for n := range all {
			ctx := context.Background()
			if n < cancelled {
				ctx = first
			}
			go func() {
				if _, err := s.Get(ctx, anyItem("a")); err != nil {
					gone <- n
				} else {
					served <- n
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		require.Len(t, gone, cancelled)
		for n := cancelled; n < all; n++ {
			require.NoError(t, s.Put(t.Context(), item("a", n), 0))
			synctest.Wait()
			require.Len(t, served, 1, "exactly one wakes")
			require.Equal(t, n, <-served, "the one that waited longest")
		}
		require.NoError(t, s.Put(t.Context(), item("a", 0), 0))
		_, ok, err := s.GetP(t.Context(), anyItem("a"))
		require.NoError(t, err)
		require.True(t, ok, "no cancelled one swallows it")
	})
}

// With syncs of 50 ms, puts that come at the same time share a sync, and a worker's heartbeats
// keep its session and hold alive.
func TestFault14ASlowSyncServesManyAndEndsNoSessionOrHoldEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e := run(t, engine.Config{Journal: m})
		r, worker := opened(t, e), session(t, e, "worker-1", 6*time.Second)
		require.NoError(t, r.Space("s").Put(t.Context(), item("task", 1), 0))
		call(t, worker, "test.hold", "s", "task", int64(time.Minute), "test.on.leave", false)
		m.Before = func(context.Context, []journal.Record) error { time.Sleep(50 * time.Millisecond); return nil }
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		puts := make(chan int, 16)
		for range cap(puts) {
			go func() {
				n := 0
				for ; ctx.Err() == nil; n++ {
					_ = r.Space("s").Put(context.Background(), item("a", n), 0)
				}
				puts <- n
			}()
		}
		for ctx.Err() == nil {
			call(t, worker, "test.beat")
			time.Sleep(2 * time.Second)
		}
		for range cap(puts) {
			require.GreaterOrEqual(t, <-puts, 290, "each waits for two syncs at most")
		}
		require.Equal(t, int64(1), call(t, worker, "test.held", "s", "task")[0])
	})
}
