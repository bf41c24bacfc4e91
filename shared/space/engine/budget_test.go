package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

const budgetBytes = 1 << 20

// fillUp puts tuples until one is refused, and returns how many there are.
func fillUp(t *testing.T, s space.Space) (n int) {
	for ; ; n++ {
		if err := s.Put(t.Context(), tuple.New("a", int64(n), string(make([]byte, 10_000))), 0); err != nil {
			require.ErrorIs(t, err, memory.ErrFull)
			require.ErrorIs(t, err, fault.ErrOverloaded)
			return n
		}
	}
}

// fillOthers fills what one space may not use, because it has more than is left: each other one may use half of that.
func fillOthers(t *testing.T, r space.Repository) {
	for n := range others {
		fillSmall(t, r.Space(fmt.Sprint("other-", n)))
	}
}

// createOthers creates the spaces of fillOthers.
func createOthers(t *testing.T, r space.Repository) {
	for n := range others {
		require.NoError(t, r.Create(t.Context(), fmt.Sprint("other-", n), space.Options{}))
	}
}

const others = 9

// One client that fills a space leaves memory to the others.
func TestASpaceThatIsFilledLeavesMemoryToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{Journal: &journal.Memory{}, Memory: memory.New(budgetBytes)})
		r := opened(t, e)
		require.NoError(t, r.Create(t.Context(), "healthy", space.Options{}))
		fillUp(t, r.Space("s"))
		require.NoError(t, e.Health(), "others may put")
		for n := range 20 {
			require.NoError(t, r.Space("healthy").Put(t.Context(), item("small", n), 0))
		}
		_, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "client", TTL: time.Minute})
		require.NoError(t, err)
		require.ErrorContains(t, r.Space("s").PutP(t.Context(), tuple.New("a", int64(1), strings.Repeat("x", 10_000)), 0), "the space has more than is left for all")
	})
}

// fillSmall fills what large tuples leave.
func fillSmall(t *testing.T, s space.Space) {
	for n := 0; s.Put(t.Context(), item("small", n), 0) == nil; n++ {
		require.Less(t, n, 1000)
	}
}

var anyLarge = tuple.Match("a", tuple.AnyInt64, tuple.Formal{Type: tuple.String})

// Gets, procedures that take, and the fleet must go on while memory is used up, because they
// alone can free it.
func TestWhileMemoryIsUsedUpWhatOnlyPutsIsRefusedAndAllElseGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{Journal: &journal.Memory{}, Memory: memory.New(budgetBytes)})
		r := opened(t, e)
		s := r.Space("s")
		ref := call(t, r, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		require.NoError(t, e.Health())
		createOthers(t, r)
		all := fillUp(t, s)
		require.InDelta(t, budgetBytes*3/4*9/10/10_000, all, 10)
		fillOthers(t, r)
		require.ErrorIs(t, e.Health(), memory.ErrFull)
		require.True(t, e.Stats().Full)

		fillSmall(t, s)
		client, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "client", TTL: time.Minute})
		require.ErrorIs(t, err, memory.ErrFull, "a session of a client")
		require.Nil(t, client)
		require.ErrorIs(t, r.Create(t.Context(), "more", space.Options{}), memory.ErrFull)
		_, err = r.Call(t.Context(), space.OpID{}, "test.put", tuple.New("s", item("c", 1), int64(0), "", false))
		require.ErrorIs(t, err, memory.ErrFull)

		worker := session(t, e, "worker-1", time.Minute) // of the fleet
		waits := make(chan error, 1)
		go func() { _, err := worker.Space("s").Get(t.Context(), anyItem("never")); waits <- err }()
		synctest.Wait()
		held := call(t, worker, "test.hold", "s", "a", int64(time.Minute), "", false)[0]
		require.Equal(t, ref, held)
		call(t, worker, "test.back", ref, false)
		call(t, r, "test.replace", ref, item("a", 2))
		call(t, r, "test.take", ref)
		for range 10 {
			_, err = s.Get(t.Context(), anyLarge)
			require.NoError(t, err)
		}
		require.NoError(t, s.Put(t.Context(), item("never", 1), 0), "and it recovers by itself")
		require.NoError(t, <-waits)
		require.NoError(t, worker.Close(t.Context()))
	})
}

// A waiting call takes memory as a tuple does, so that a client cannot use up all with calls. A
// call that does not wait goes on.
func TestAWaiterOfAClientIsRefusedWhileMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{Journal: &journal.Memory{}, Memory: memory.New(budgetBytes)})
		conn, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "client", TTL: time.Hour})
		require.NoError(t, err)
		client, r := space.Over(conn), opened(t, e)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1000)
		refused := false
		n := 0
		for ; !refused; n++ {
			go func() { _, err := client.Space("s").Get(ctx, anyItem("b")); done <- err }()
			synctest.Wait()
			select {
			case err := <-done:
				require.ErrorIs(t, err, memory.ErrFull)
				refused = true
			default:
			}
		}
		require.Greater(t, n, 50)
		require.Less(t, n, 200)
		_, _, err = client.Space("s").GetP(t.Context(), anyItem("b"))
		require.NoError(t, err)
		used := e.Stats().Memory
		stop()
		for range n - 1 {
			<-done
		}
		require.Less(t, e.Stats().Memory, used/10)
		require.NoError(t, r.Space("s").Put(t.Context(), item("b", 1), 0))
	})
}

// The answers to takes are kept, and are about as large as the tuples.
func TestAfterAFloodOfSmallTuplesEachTakeMakesSpaceForAPut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{Journal: &journal.Memory{}, Memory: memory.New(16 << 20)})
		r := opened(t, e)
		require.NotNil(t, r)
		conn, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "client", TTL: time.Hour})
		require.NoError(t, err)
		number := space.AutoSeq
		do := func(q space.Request) error {
			if q.Verb != space.VerbAck {
				number++
			}
			q.Space, q.Op = "s", space.OpID{Session: conn.Session(), Seq: number}
			_, err := conn.Do(t.Context(), q)
			return err
		}
		put := func() error { return do(space.Request{Verb: space.VerbPut, Tuple: item("a", 1)}) }
		for err == nil {
			err = put()
		}
		require.ErrorIs(t, err, memory.ErrFull)
		other, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "worker", TTL: time.Hour, Fleet: true})
		require.NoError(t, err)
		conn = other
		for range 20 {
			require.NoError(t, do(space.Request{Verb: space.VerbGet, Template: anyItem("a"), Ack: true}))
			require.NoError(t, do(space.Request{Verb: space.VerbAck}))
		}
		for range 10 {
			require.NoError(t, put())
		}
	})
}

// Tuples that were taken are still in memory while a subscriber has not read of them.
func TestEventsAndMessagesCountAndAreForgottenWhileMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{Journal: &journal.Memory{}, Memory: memory.New(budgetBytes)})
		r := opened(t, e)
		s := r.Space("s")
		require.NoError(t, s.Put(t.Context(), item("b", 1), 0))
		before := e.Stats().Memory
		sub, err := s.Notify(t.Context(), nil)
		require.NoError(t, err)
		for n := range 1000 {
			require.NoError(t, s.Put(t.Context(), tuple.New("a", int64(n), string(make([]byte, 10_000))), 0))
			_, err := s.Get(t.Context(), anyLarge)
			require.NoError(t, err)
			require.Less(t, e.Stats().Memory, int64(budgetBytes))
		}
		require.Greater(t, e.Stats().Memory, before+budgetBytes/10, "some wait")
		events, missed, err := sub.Next(t.Context())
		require.NoError(t, err)
		require.Positive(t, missed)
		require.Equal(t, 2000, len(events)+missed, "each event is there or counted")
		require.NoError(t, sub.Close(t.Context()))
		for range 3 {
			call(t, r, "test.tell", "test-1", int64(1))
		}
		require.Greater(t, e.Stats().Memory, before+600)
		for range 3 {
			_, err := r.Receive(t.Context())
			require.NoError(t, err)
		}
		require.InDelta(t, before, e.Stats().Memory, 2000, "only the index of the signature is left")
	})
}

func TestAFolderLargerThanTheBudgetStartsRefusesPutsAndDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: j})
		s := opened(t, e).Space("s")
		const tuples = 300 // three times the budget
		for n := range tuples {
			require.NoError(t, s.Put(t.Context(), tuple.New("a", int64(n), string(make([]byte, 10_000))), 0))
		}
		require.NoError(t, stop())
		e = run(t, engine.Config{Journal: j, Memory: memory.New(budgetBytes)})
		r := session(t, e, "worker-1", 0)
		s = r.Space("s")
		require.ErrorIs(t, s.Put(t.Context(), item("a", 1), 0), memory.ErrFull)
		for range tuples {
			_, ok, err := s.GetP(t.Context(), anyLarge)
			require.NoError(t, err)
			if !ok {
				break
			}
		}
		require.NoError(t, s.Put(t.Context(), item("a", 1), 0))
	})
}

// Fills and empties the space, and undoes a commit, several times: each time as much memory must
// be counted as after the first.
func TestAllOfTheBudgetIsFreeAgainWhenAllIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		e := run(t, engine.Config{Journal: d, Memory: memory.New(budgetBytes)})
		r := opened(t, e)
		s := r.Space("s")
		cycle := func() {
			fillUp(t, s)
			conn, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "taker", TTL: time.Minute, Fleet: true})
			require.NoError(t, err)
			for n := uint64(1); ; n++ {
				op := space.OpID{Session: "taker", Seq: space.AutoSeq + n}
				reply, err := conn.Do(t.Context(), space.Request{Verb: space.VerbGetP, Space: "s", Template: anyLarge, Ack: true, Op: op})
				require.NoError(t, err)
				if !reply.Found {
					break
				}
				_, err = conn.Do(t.Context(), space.Request{Verb: space.VerbAck, Op: op})
				require.NoError(t, err)
			}
			require.NoError(t, space.Over(conn).Close(t.Context()))
		}
		require.NoError(t, s.Put(t.Context(), item("b", 1), 0))
		cycle() // buckets and hash indexes stay
		before := e.Stats().Memory
		for range 3 {
			cycle()
			d.spent.Store(true)
			require.Error(t, s.Put(t.Context(), item("a", 1), 0))
			d.spent.Store(false)
		}
		require.Equal(t, before, e.Stats().Memory)
	})
}

func TestAfterARestartASessionIsOpenedOnlyWithItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: j})
		hello := engine.Opening{ID: "worker-1", TTL: time.Minute, Key: []byte("secret")}
		_, err := e.OpenGateSession(t.Context(), hello)
		require.NoError(t, err)
		require.NoError(t, stop())
		e = run(t, engine.Config{Journal: j, MaxTTL: 10 * time.Second})
		for _, key := range []string{"", "guess"} {
			for _, resume := range []bool{false, true} {
				_, err = e.OpenGateSession(t.Context(), engine.Opening{ID: "worker-1", TTL: time.Minute, Key: []byte(key), Resume: resume})
				require.ErrorIs(t, err, fault.ErrConflict)
			}
		}
		hello.Resume = true
		back, err := e.OpenGateSession(t.Context(), hello)
		require.NoError(t, err)
		time.Sleep(11 * time.Second)
		require.ErrorIs(t, back.Err(), fault.ErrClosed, "the TTL of a restored session is bounded")
	})
}
