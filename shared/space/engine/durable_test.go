package engine_test

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
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

var errDisk = errors.New("the disk is on fire")

func item(name string, n int) tuple.Tuple { return tuple.New(name, int64(n)) }

func anyItem(name string) tuple.Template { return tuple.Match(name, tuple.AnyInt64) }

// opened returns a repository with spaces s, log and v; v is volatile.
func opened(t testing.TB, e *engine.Engine) space.Repository {
	t.Helper()
	r := session(t, e, "test-1", time.Hour)
	for name, o := range map[string]space.Options{"s": {}, "log": {}, "v": {Volatile: true}} {
		require.NoError(t, r.Create(context.Background(), name, o))
	}
	return r
}

// count counts the tuples of the suite in a space.
func count(t testing.TB, r space.Repository, name string) int {
	t.Helper()
	n, err := r.Space(name).Count(context.Background(), anything)
	require.NoError(t, err)
	return n
}

// call calls a procedure, which must succeed.
func call(t testing.TB, r space.Repository, procedure string, args ...any) tuple.Tuple {
	t.Helper()
	reply, err := r.Call(context.Background(), space.OpID{}, procedure, args)
	require.NoError(t, err)
	return reply
}

// slow makes every commit take a second.
func slow(commits *[]int) func(context.Context, []journal.Record) error {
	return func(_ context.Context, records []journal.Record) error {
		*commits = append(*commits, len(records))
		time.Sleep(time.Second)
		return nil
	}
}

func TestOneCommitServesAllThatWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		r := opened(t, run(t, engine.Config{Journal: m}))
		var commits []int
		m.Before = slow(&commits)
		start, all := time.Now(), sync.WaitGroup{}
		for n := range 100 {
			all.Go(func() { require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0)) })
			synctest.Wait() // the first one commits, the others come meanwhile
		}
		all.Wait()
		require.Equal(t, []int{1, 99}, commits)
		require.Equal(t, 2*time.Second, time.Since(start))
	})
}

func TestAnAnswerWaitsForWhatItSawToBeDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e := run(t, engine.Config{Journal: m})
		r, other := opened(t, e), session(t, e, "other", 0)
		var commits []int
		m.Before = slow(&commits)
		start := time.Now()
		go func() { _ = r.Space("s").Put(t.Context(), item("a", 1), 0) }()
		synctest.Wait()
		_, ok, err := other.Space("s").QueryP(t.Context(), anyItem("a"))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, time.Second, time.Since(start))
		start = time.Now()
		_, _, err = other.Space("s").QueryP(t.Context(), anyItem("a"))
		require.NoError(t, err)
		require.Zero(t, time.Since(start), "nothing new to wait for")
	})
}

func TestWhatIsTakenIsNotLostWhenItsContextEndsBeforeItIsDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		r := opened(t, run(t, engine.Config{Journal: m}))
		require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), 0))
		var commits []int
		m.Before = slow(&commits)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		got, err := r.Space("s").Get(ctx, anyItem("a"))
		require.NoError(t, err)
		require.Equal(t, item("a", 1), got)

		go func() { _ = r.Space("s").Put(t.Context(), item("a", 2), 0) }()
		synctest.Wait()
		ctx, cancel = context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, err = r.Space("s").Query(ctx, anyItem("a"))
		require.ErrorIs(t, err, context.DeadlineExceeded, "a query need not wait")
	})
}

// failures are the ways in which a commit can fail, and whether the operation has
// happened then.
var failures = map[string]struct {
	arm      func(m *journal.Memory)
	happened bool
}{
	"definitely": {func(m *journal.Memory) {
		m.Before = func(context.Context, []journal.Record) error { m.Before = nil; return errDisk }
	}, false},
	"with unknown outcome": {func(m *journal.Memory) {
		m.After = func(context.Context, []journal.Record) error { m.After = nil; return errDisk }
	}, true},
	"because it is fenced": {func(m *journal.Memory) { m.Interfere() }, false},
}

func TestACommitThatFails(t *testing.T) {
	t.Parallel()
	for name, f := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &journal.Memory{}
				r := opened(t, run(t, engine.Config{Journal: m}))
				require.NoError(t, r.Space("v").Put(t.Context(), item("a", 1), 0))
				f.arm(m)
				op := space.OpID{Session: "test-1", Seq: 1}
				put := func() (tuple.Tuple, error) {
					return r.Call(t.Context(), op, "test.put", tuple.New("s", item("a", 1), int64(0), "", false))
				}
				_, err := put()
				require.ErrorIs(t, err, fault.ErrUnavailable)
				require.Equal(t, map[bool]int{true: 1, false: 0}[f.happened], count(t, r, "s"))
				require.Zero(t, count(t, r, "v"), "volatile spaces are empty")
				for range 2 {
					ref, err := put()
					require.NoError(t, err)
					require.NotZero(t, ref.Int64(0))
					require.Equal(t, 1, count(t, r, "s"), "repeating it gives effect exactly once")
				}
			})
		})
	}
}

func TestWhatWasExecutedOnAFailedStateIsVoid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		r := opened(t, run(t, engine.Config{Journal: m}))
		m.Before = func(context.Context, []journal.Record) error {
			time.Sleep(time.Second)
			m.Before = nil
			return errDisk
		}
		errs := make(chan error, 4)
		do := func(f func() error) { go func() { errs <- f() }(); synctest.Wait() }
		s := r.Space("s")
		do(func() error { return s.Put(t.Context(), item("a", 1), 0) })
		do(func() error { _, err := s.Get(t.Context(), anyItem("a")); return err })
		do(func() error { return s.Put(t.Context(), item("a", 2), 0) })
		do(func() error { _, err := s.Query(t.Context(), anyItem("a")); return err })
		for range 4 {
			require.ErrorIs(t, <-errs, fault.ErrUnavailable)
		}
		require.Zero(t, count(t, r, "s"))
		require.NoError(t, s.Put(t.Context(), item("a", 3), 0))
	})
}

// A call of each kind waits while the commit of another one fails. None may end by it, and each
// must still be woken by what it waits for.
func TestBlockedCallsStayBlockedWhenACommitFails(t *testing.T) {
	t.Parallel()
	for name, f := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &journal.Memory{}
				e := run(t, engine.Config{Journal: m})
				r := opened(t, e)
				require.NoError(t, r.Create(t.Context(), "full", space.Options{Capacity: 1}))
				require.NoError(t, r.Space("full").Put(t.Context(), item("a", 0), 0))
				got := make(chan string, 9)
				do := func(name string, f func() error) {
					go func() { got <- fmt.Sprint(name, " ", f()) }()
					synctest.Wait()
				}
				do("get", func() error { _, err := r.Space("s").Get(t.Context(), anyItem("a")); return err })
				do("call", func() error {
					_, err := r.Call(t.Context(), space.OpID{Session: "test-1", Seq: 1}, "test.claim", tuple.New("s", "b", int64(0)))
					return err
				})
				do("put", func() error { return r.Space("full").Put(t.Context(), item("a", 1), 0) })
				do("receive", func() error { _, err := r.Receive(t.Context()); return err })
				f.arm(m)
				require.ErrorIs(t, r.Space("s").Put(t.Context(), item("x", 1), 0), fault.ErrUnavailable)
				synctest.Wait()
				require.Empty(t, got)
				for name, wake := range map[string]func() error{
					"get":     func() error { return r.Space("s").Put(t.Context(), item("a", 1), 0) },
					"call":    func() error { return r.Space("s").Put(t.Context(), item("b", 1), 0) },
					"put":     func() error { _, err := r.Space("full").Get(t.Context(), anything); return err },
					"receive": func() error { call(t, r, "test.tell", "test-1", int64(1)); return nil },
				} {
					require.NoError(t, wake())
					require.Equal(t, name+" <nil>", <-got)
				}
			})
		})
	}
}

func TestAWaiterIsServedByWhatTheReloadBrings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e := run(t, engine.Config{Journal: m})
		r, other := opened(t, e), session(t, e, "other", 0)
		got := make(chan tuple.Tuple, 2)
		for range 2 {
			go func() {
				if u, err := r.Space("s").Get(context.Background(), anyItem("a")); err == nil {
					got <- u
				}
			}()
			synctest.Wait()
		}
		// The put serves the first get in one commit that fails, but has happened:
		// the get returned that its outcome is unknown, and the put's tuple is gone.
		failures["with unknown outcome"].arm(m)
		require.ErrorIs(t, other.Space("s").Put(t.Context(), item("a", 1), 0), fault.ErrUnavailable)
		synctest.Wait()
		require.Empty(t, got)
		// A hold whose end was lost with the commit is restored, and ends again.
		call(t, other, "test.put", "s", item("b", 1), int64(0), "", false)
		ref := call(t, other, "test.hold", "s", "b", int64(0), "", false)[0]
		failures["definitely"].arm(m)
		_, err := other.Call(t.Context(), space.OpID{}, "test.done", tuple.New(ref))
		require.ErrorIs(t, err, fault.ErrUnavailable)
		call(t, other, "test.done", ref)
		require.NoError(t, other.Space("s").Put(t.Context(), item("a", 2), 0))
		require.Equal(t, item("a", 2), <-got)
	})
}

func TestAnEngineThatCannotLoadIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		r := opened(t, e)
		blocked := make(chan error)
		go func() { _, err := r.Space("s").Get(context.Background(), anyItem("a")); blocked <- err }()
		synctest.Wait()
		m.Interfere()
		m.BeforeLoad = func(context.Context) error { return errDisk }
		require.ErrorIs(t, r.Space("s").Put(t.Context(), item("x", 1), 0), fault.ErrUnavailable)
		require.ErrorIs(t, <-blocked, fault.ErrClosed)
		_, _, err := r.Space("s").GetP(t.Context(), anything)
		require.ErrorIs(t, err, fault.ErrClosed)
		_, err = e.Session(t.Context(), "late", 0)
		require.ErrorIs(t, err, fault.ErrClosed)
		require.NoError(t, r.Close(t.Context()))
		require.ErrorIs(t, stop(), errDisk)
		_, err = engine.Open(t.Context(), engine.Config{Journal: m, Log: quiet})
		require.ErrorIs(t, err, errDisk)
	})
}

func TestASessionWhoseOpeningOrEndFailedCanBeOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, f := range failures {
		for _, ttl := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprint(name, " with a TTL of ", ttl), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := &journal.Memory{}
					e := run(t, engine.Config{Journal: m})
					f.arm(m)
					_, err := e.Session(t.Context(), "x", ttl)
					require.ErrorIs(t, err, fault.ErrUnavailable)
					r := session(t, e, "x", ttl)
					require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
					call(t, r, "test.put", "s", item("a", 1), int64(0), "", true)
					f.arm(m)
					require.ErrorIs(t, r.Close(t.Context()), fault.ErrUnavailable)
					require.NoError(t, r.Close(t.Context()))
					require.Zero(t, count(t, session(t, e, "x", ttl), "s"))
				})
			})
		}
	}
}

// A journal needs only the last state of a tuple; one that comes and goes in the same
// transaction is written for its ref, which must not be given again.
func TestATupleThatATransactionChangesTwiceIsWrittenOnce(t *testing.T) {
	t.Parallel()
	var facts []journal.Fact
	m := &journal.Memory{}
	r := opened(t, run(t, engine.Config{Journal: m, Procedures: space.Procedures{
		"change": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
			ref, err := tx.Put("s", item("kept", 1), space.PutOptions{})
			if err != nil {
				return nil, err
			}
			if err := tx.Replace(ref, item("kept", 2)); err != nil {
				return nil, err
			}
			gone, err := tx.Put("s", item("gone", 1), space.PutOptions{})
			if err != nil {
				return nil, err
			}
			if err := tx.Replace(gone, item("gone", 2)); err != nil {
				return nil, err
			}
			return tuple.New(ref, gone), tx.Take(gone)
		},
	}}))
	m.Before = func(_ context.Context, records []journal.Record) error {
		for _, r := range records {
			facts = append(facts, r.Facts...)
		}
		return nil
	}
	refs := call(t, r, "change")

	var entries []tuple.Tuple
	for _, f := range facts {
		if e, ok := f.(*journal.Entry); ok {
			entries = append(entries, e.Tuple)
		}
	}
	require.Equal(t, []tuple.Tuple{item("kept", 2), item("gone", 1)}, entries, "the last state of one that stays, and the first of one that goes, for its ref")
	require.Contains(t, facts, journal.Gone(refs.Int64(1)))
}

// strayEntry is a journal that has a tuple of a space that it does not have.
type strayEntry struct{ journal.Memory }

func (s *strayEntry) Load(ctx context.Context, restore func(journal.Fact) error) (journal.Standing, error) {
	standing, err := s.Memory.Load(ctx, restore)
	return standing, errors.Join(err, restore(&journal.Entry{Ref: 7, Space: "lost", Tuple: item("a", 1)}))
}

// An engine that started without the space would lose the tuple with the next commit.
func TestAJournalWithATupleOfNoSpaceIsRefused(t *testing.T) {
	t.Parallel()
	_, err := engine.Open(t.Context(), engine.Config{Journal: &strayEntry{}, Log: quiet})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, `tuple 7 is in a space "lost"`)
}
