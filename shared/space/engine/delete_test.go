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
	"leasehold/shared/space/memory"
)

// The space has visible, held and taken tuples, more than one transaction deletes. All must be
// gone, also in memory and after a restart, and the name must be free.
func TestASpaceWithTuplesIsDeletedOnlyByForce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const tuples = 25_000 // three transactions
		j := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: j, Memory: memory.New(1 << 30)})
		r := opened(t, e)
		before := e.Stats().Memory
		require.NoError(t, r.Create(t.Context(), "d", space.Options{}))
		d := r.Space("d")
		for n := range tuples {
			require.NoError(t, d.Put(t.Context(), item("a", n), 0))
		}
		call(t, r, "test.hold", "d", "a", int64(0), "", false)
		conn, err := e.Connect(t.Context(), "taker-1", time.Minute)
		require.NoError(t, err)
		taken := space.OpID{Session: "taker-1", Seq: 1}
		_, err = conn.Do(t.Context(), space.Request{Verb: space.VerbGet, Space: "d", Template: anyItem("a"), Op: taken, Ack: true})
		require.NoError(t, err)

		_, err = e.DeleteSpace(t.Context(), "d", false)
		require.ErrorIs(t, err, fault.ErrConflict)
		require.Equal(t, tuples-2, count(t, r, "d"))
		n, err := e.DeleteSpace(t.Context(), "d", true)
		require.NoError(t, err)
		require.Equal(t, tuples, n)
		_, err = e.DeleteSpace(t.Context(), "d", true)
		require.ErrorIs(t, err, fault.ErrNotFound)
		_, err = conn.Do(t.Context(), space.Request{Verb: space.VerbAck, Op: taken})
		require.NoError(t, err, "the end of a get is accepted all the same")
		require.NoError(t, space.Over(conn).Close(t.Context()))
		require.Equal(t, before, e.Stats().Memory)

		require.NoError(t, stop())
		r = session(t, run(t, engine.Config{Journal: j}), "test-1", 0)
		infos, err := r.List(t.Context())
		require.NoError(t, err)
		for _, i := range infos {
			require.NotEqual(t, "d", i.Name, "it does not come back")
		}
		require.NoError(t, r.Create(t.Context(), "d", space.Options{Kind: space.Stack}), "its name is free")
		require.Zero(t, count(t, r, "d"))
	})
}

// One transaction deletes less than all of them.
func TestASpaceWithManyVisibleOrHeldTuplesIsDeletedWhole(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"visible": false, "held": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const tuples = 10_500
				e, stop := restartable(t, engine.Config{Journal: &journal.Memory{}, Memory: memory.New(1 << 30)})
				r := opened(t, e)
				before := e.Stats().Memory
				require.NoError(t, r.Create(t.Context(), "d", space.Options{}))
				for n := range tuples {
					require.NoError(t, r.Space("d").Put(t.Context(), item("a", n), 0))
					if held {
						call(t, r, "test.hold", "d", "a", int64(0), "", false)
					}
				}
				n, err := e.DeleteSpace(t.Context(), "d", true)
				require.NoError(t, err)
				require.Equal(t, tuples, n)
				require.Equal(t, before, e.Stats().Memory)
				require.NoError(t, r.Create(t.Context(), "d", space.Options{}))
				n, err = e.DeleteSpace(t.Context(), "d", false)
				require.NoError(t, err)
				require.Zero(t, n)
				require.NoError(t, stop())
			})
		})
	}
}

func TestCallsThatWaitInADeletedSpaceEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{})
		r := opened(t, e)
		require.NoError(t, r.Create(t.Context(), "d", space.Options{Capacity: 1, Kind: space.Queue}))
		d := r.Space("d")
		require.NoError(t, d.Put(t.Context(), item("a", 1), 0))
		sub, err := d.Notify(t.Context(), nil)
		require.NoError(t, err)
		ended := make(chan error, 10)
		for _, wait := range []func() error{
			func() error { _, err := d.Get(t.Context(), anyItem("b")); return err },
			func() error { _, err := d.Query(t.Context(), anyItem("b")); return err },
			func() error { return d.Put(t.Context(), item("a", 2), 0) },
			func() error { return d.Put(t.Context(), item("a", 3), 0) },
		} {
			go func() { ended <- wait() }()
		}
		stays, cancel := context.WithCancel(t.Context())
		go func() { _, err := r.Space("s").Get(stays, anyItem("b")); ended <- err }()
		synctest.Wait()
		require.Equal(t, 5, e.Stats().Waiters)
		_, err = e.DeleteSpace(t.Context(), "d", true)
		require.NoError(t, err)
		for range 4 {
			require.ErrorIs(t, <-ended, fault.ErrNotFound)
		}
		synctest.Wait()
		require.Equal(t, 1, e.Stats().Waiters, "calls in other spaces go on")
		_, _, err = sub.Next(t.Context())
		require.ErrorIs(t, err, fault.ErrClosed)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
}
