package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
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

// disk is a memory journal whose disk can be nearly full, or full.
type disk struct {
	journal.Memory
	full  atomic.Bool // Full reports true
	spent atomic.Bool // every commit fails with ErrFull
	tries atomic.Int64
	loads int
}

// newDisk returns a journal in memory that refuses commits while spent is set, and counts them
// and the loads.
func newDisk() *disk {
	d := &disk{}
	d.Before = func(context.Context, []journal.Record) error {
		if d.spent.Load() {
			d.tries.Add(1)
			return journal.ErrFull
		}
		return nil
	}
	d.BeforeLoad = func(context.Context) error { d.loads++; return nil }
	return d
}

func (d *disk) Full() bool { return d.full.Load() }

// Takes, holds and ends of TTLs must go on while the journal reports a full disk, because they
// alone can free it.
func TestFault12OnAFullDiskWhatOnlyPutsIsRefusedAndAllElseGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		e := run(t, engine.Config{Journal: d})
		r := opened(t, e)
		s, v := r.Space("s"), r.Space("v")
		ref := call(t, r, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		for n := range 4 {
			require.NoError(t, s.Put(t.Context(), item("b", n), time.Minute))
		}
		require.NoError(t, e.Health())

		d.full.Store(true)
		require.ErrorIs(t, e.Health(), fault.ErrOverloaded)
		for name, refused := range map[string]func() error{
			"put":    func() error { return s.Put(t.Context(), item("c", 1), 0) },
			"putp":   func() error { return s.PutP(t.Context(), item("c", 1), 0) },
			"create": func() error { return r.Create(t.Context(), "more", space.Options{}) },
			"procedure": func() error {
				_, err := r.Call(t.Context(), space.OpID{}, "test.put", tuple.New("s", item("c", 1), int64(0), "", false))
				return err
			},
		} {
			require.ErrorIs(t, refused(), fault.ErrOverloaded, name)
		}
		require.Equal(t, 5, count(t, r, "s"), "nothing of it has happened")
		require.Equal(t, uint64(4), e.Stats().Refused)

		require.NoError(t, v.Put(t.Context(), item("c", 1), 0), "a volatile space does not need the disk")
		_, err := s.Get(t.Context(), anyItem("b"))
		require.NoError(t, err)
		call(t, r, "test.move", "b", "s", "log")
		held := call(t, r, "test.hold", "s", "a", int64(time.Minute), "", false)[0]
		require.Equal(t, ref, held)
		call(t, r, "test.renew", ref, int64(time.Hour), "")
		call(t, r, "test.back", ref, false)
		call(t, r, "test.extend", ref, int64(time.Hour))
		call(t, r, "test.replace", ref, item("a", 2))
		call(t, r, "test.take", ref)
		call(t, r, "test.beat")
		worker := session(t, e, "worker-1", time.Minute)
		call(t, worker, "test.hold", "s", "b", int64(0), "test.on.leave", false)
		time.Sleep(time.Minute)
		require.Zero(t, count(t, r, "s"), "TTLs act, and sessions are lost")
		require.NoError(t, worker.Close(t.Context()))

		d.full.Store(false)
		require.NoError(t, e.Health())
		require.NoError(t, s.Put(t.Context(), item("c", 1), 0), "and it recovers by itself")
	})
}

// The disk is full at the commit, when the engine has changed its state already. It must undo
// exactly that, and not load the journal, which would take long.
func TestFault12ACommitToAFullDiskIsUndoneWithoutLoading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		r := opened(t, run(t, engine.Config{Journal: d}))
		s := r.Space("s")
		for n := range 3 {
			require.NoError(t, s.Put(t.Context(), item("a", n), 0))
		}
		require.NoError(t, r.Space("v").Put(t.Context(), item("v", 1), 0))
		ref := call(t, r, "test.hold", "s", "a", int64(time.Hour), "", false)[0]
		sub, err := s.Notify(t.Context(), nil)
		require.NoError(t, err)
		loads := d.loads

		d.spent.Store(true)
		op := space.OpID{Session: "test-1", Seq: 1}
		take := func() (tuple.Tuple, error) {
			return r.Call(t.Context(), op, "test.move", tuple.New("a", "s", "log"))
		}
		_, err = take()
		require.ErrorIs(t, err, fault.ErrOverloaded)
		_, err = s.Get(t.Context(), anyItem("a"))
		require.ErrorIs(t, err, fault.ErrOverloaded)
		_, err = r.Call(t.Context(), space.OpID{}, "test.done", tuple.New(ref))
		require.ErrorIs(t, err, fault.ErrOverloaded)
		for range 3 { // together in one batch, and on top of it
			go func() { _, _, _ = s.GetP(context.Background(), anyItem("a")) }()
		}
		synctest.Wait()
		all, err := s.QueryAll(t.Context(), anything)
		require.NoError(t, err)
		require.Equal(t, []tuple.Tuple{item("a", 1), item("a", 2)}, all, "in their places")
		require.Equal(t, item("a", 0)[1], call(t, r, "test.held", "s", "a")[0])
		require.Equal(t, 1, count(t, r, "v"), "volatile spaces keep what they have")
		events, missed, err := sub.Next(t.Context())
		require.NoError(t, err)
		require.Empty(t, events)
		require.NotZero(t, missed, "subscribers learn that they may have missed events")

		d.spent.Store(false)
		for range 2 {
			_, err = take()
			require.NoError(t, err, "the same operation id: it had no answer yet")
		}
		call(t, r, "test.done", ref)
		require.Equal(t, 1, count(t, r, "s"))
		require.Equal(t, loads, d.loads)
	})
}

func TestFault12AGetThatWasUndoneAndIsRepeatedReturnsItsTupleOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		e := run(t, engine.Config{Journal: d})
		require.NoError(t, opened(t, e).Space("s").Put(t.Context(), item("a", 1), 0))
		c, err := e.Connect(t.Context(), "taker-1", 0)
		require.NoError(t, err)
		get := space.Request{Verb: space.VerbGetAll, Space: "s", Template: anyItem("a"), Op: space.OpID{Session: "taker-1", Seq: 1}, Ack: true}
		d.spent.Store(true)
		for range 2 {
			_, err = c.Do(t.Context(), get)
			require.ErrorIs(t, err, fault.ErrOverloaded)
		}
		d.spent.Store(false)
		for range 2 { // the second answer is read off the tuples that were taken
			reply, err := c.Do(t.Context(), get)
			require.NoError(t, err)
			require.Equal(t, []tuple.Tuple{item("a", 1)}, reply.Tuples)
		}
	})
}

func TestFault12WaitersSurviveACommitToAFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		e := run(t, engine.Config{Journal: d})
		r, other := opened(t, e), session(t, e, "other", 0)
		got := make(chan error, 2)
		for range 2 {
			go func() { _, err := r.Space("s").Get(context.Background(), anyItem("a")); got <- err }()
			synctest.Wait()
		}
		d.spent.Store(true)
		require.ErrorIs(t, other.Space("s").Put(t.Context(), item("a", 1), 0), fault.ErrOverloaded)
		require.ErrorIs(t, <-got, fault.ErrOverloaded, "the get that was served gets an error")
		require.NoError(t, other.Space("v").Put(t.Context(), item("a", 1), 0))
		d.spent.Store(false)
		require.NoError(t, other.Space("s").Put(t.Context(), item("a", 2), 0))
		require.NoError(t, <-got, "the get that still waits is served")
	})
}

// A reader that waits for a tuple must be woken when the take of it is undone: no later event
// would wake it.
func TestFault12AQueryThatWaitsGetsTheTupleThatAnUndoneTakeGaveBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		e := run(t, engine.Config{Journal: d})
		r, other := opened(t, e), session(t, e, "other", 0)
		require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), 0))
		commit := make(chan struct{})
		d.Before = func(context.Context, []journal.Record) error { <-commit; return journal.ErrFull }
		took, read := make(chan error, 1), make(chan error, 1)
		go func() { _, _, err := r.Space("s").GetP(context.Background(), anyItem("a")); took <- err }()
		synctest.Wait()
		go func() { _, err := other.Space("s").Query(context.Background(), anyItem("a")); read <- err }()
		synctest.Wait()
		close(commit)
		require.ErrorIs(t, <-took, fault.ErrOverloaded)
		synctest.Wait()
		select {
		case err := <-read:
			require.NoError(t, err)
		default:
			require.Fail(t, "the query waits for a tuple that is there")
		}
	})
}

func TestStatsCountWhatIsHeldNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{Journal: newDisk()})
		r := opened(t, e)
		for n := range 3 {
			require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0))
		}
		var refs []int64
		for n := range 3 {
			refs = append(refs, call(t, r, "test.hold", "s", "a", int64(time.Hour), "", false)[0].(int64))
			require.Equal(t, n+1, e.Stats().Held)
		}
		call(t, r, "test.done", refs[0])
		require.Equal(t, 2, e.Stats().Held)
		call(t, r, "test.back", refs[1], false)
		require.Equal(t, 1, e.Stats().Held)
		<-time.After(time.Hour + time.Second)
		synctest.Wait()
		require.Zero(t, e.Stats().Held, "the hold ended")
	})
}

func TestFault12AnExpiryOnAFullDiskIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		r := opened(t, run(t, engine.Config{Journal: d}))
		require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), time.Minute))
		d.spent.Store(true)
		time.Sleep(2 * time.Minute)
		require.InDelta(t, 60, d.tries.Load(), 2, "once a second, and not in a loop")
		d.spent.Store(false)
		time.Sleep(time.Second)
		require.Zero(t, count(t, r, "s"))
	})
}

// After a failed sync the content of the disk is unknown. So the engine stops at once: one commit, no load, and all
// calls end, also one that came during the commit.
func TestFault13AfterABrokenWriteNothingIsWrittenOrLoadedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		e, stop := restartable(t, engine.Config{Journal: d})
		r := opened(t, e)
		blocked := make(chan error, 1)
		go func() { _, err := r.Space("s").Get(context.Background(), anyItem("b")); blocked <- err }()
		synctest.Wait()
		loads, commits := d.loads, 0
		d.Before = func(context.Context, []journal.Record) error {
			commits++
			time.Sleep(time.Second)
			return fmt.Errorf("sync: %w", journal.ErrBroken)
		}
		late := make(chan error, 1)
		go func() {
			time.Sleep(time.Second / 2)
			late <- r.Space("s").Put(context.Background(), item("a", 2), 0)
		}()
		require.ErrorIs(t, r.Space("s").Put(t.Context(), item("a", 1), 0), fault.ErrUnavailable)
		require.ErrorIs(t, <-late, fault.ErrUnavailable)
		require.ErrorIs(t, <-blocked, fault.ErrClosed)
		require.ErrorIs(t, r.Space("s").Put(t.Context(), item("a", 1), 0), fault.ErrClosed)
		_, _, err := r.Space("s").QueryP(t.Context(), anyItem("a"))
		require.ErrorIs(t, err, fault.ErrClosed)
		_, err = e.Session(t.Context(), "late", 0)
		require.ErrorIs(t, err, fault.ErrClosed)
		require.Error(t, e.Health())
		require.ErrorIs(t, stop(), journal.ErrBroken)
		require.Equal(t, 1, commits)
		require.Equal(t, loads, d.loads)
	})
}
