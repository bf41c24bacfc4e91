package native_test

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// crowd is the number of connections in the test of idle ones; make soak uses 10,000.
var crowd = flag.Int("gate.crowd", 1000, "idle or slow connections in the test of their memory")

// The tests of this file measure the memory of the whole process, so none is parallel.

// inUse returns the bytes that heap and stacks take.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what a pool keeps for one cycle
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// A client requests far more than may be in flight, and reads none of it.
func TestFault37AClientThatNeverReadsTakesNoMemory(t *testing.T) {
	const asked = space.Window
	any := tuple.Match("large", tuple.Formal{Type: tuple.Bytes})
	for name, r := range map[string]space.Request{
		"one": {Verb: space.VerbQueryP, Space: "s", Template: any},
		"all": {Verb: space.VerbQueryAll, Space: "s", Template: any},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fx := newFixture(t, spacetest.Procedures(), native.Config{})
				repo := space.Over(fx.session("other", 0))
				require.NoError(t, repo.Create(t.Context(), "s", space.Options{}))
				for range 3 {
					require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("large", make([]byte, tuple.MaxBytes-100)), 0))
				}
				c := fx.hello("slowreader", 0)
				before := inUse()
				for n := range uint64(asked) {
					c.request(n+1, r)
				}
				synctest.Wait()
				t.Logf("%d KiB for %d answers", (inUse()-before)>>10, asked)
				require.Less(t, inUse()-before, int64(96<<20), "of a gigabyte that was asked for")
				require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("small"), 0), "others go on")
				<-time.After(10*time.Second + 1)
				_, err := c.Write([]byte{0})
				require.ErrorIs(t, err, io.ErrClosedPipe, "it is dropped")
				require.Zero(t, fx.gate.Panics())
			})
		})
	}
}

// sendPart sends the beginning of a message, which the gate reads at once.
func (c *rawClient) sendPart(data string) {
	_, err := io.WriteString(c, data)
	require.NoError(c.fx, err)
}

// A fifth of the connections are clients; the rest never complete the handshake. Every
// other one has sent a part of a message.
func TestFault36IdleOrSlowConnectionsTakeLittleMemory(t *testing.T) {
	// Half as much may be left, because a stack in use keeps the span of its neighbours
	// allocated, and there are more such spans with more processors.
	const each, left, surplus = 32 << 10, 16 << 10, 500
	synctest.Test(t, func(t *testing.T) {
		fx := newFixture(t, spacetest.Procedures(), native.Config{Connections: *crowd + 1, Rate: 1e6, Handshake: time.Hour, Ping: time.Hour})
		s := fx.space()
		before, goroutines := inUse(), runtime.NumGoroutine()
		all := make([]*rawClient, *crowd)
		for n := range all {
			if n%5 == 0 {
				all[n] = fx.hello(fmt.Sprint("idle-", n), 0)
			} else {
				all[n] = fx.rawClient()
			}
			if n%2 == 0 {
				all[n].sendPart("LSH")
			}
		}
		synctest.Wait()
		full := inUse()
		t.Logf("%d bytes for each connection", (full-before)/int64(*crowd))
		require.Less(t, full-before, int64(*crowd*each))
		for range surplus {
			c := fx.rawClient()
			_ = c.Close()
		}
		synctest.Wait()
		require.Less(t, inUse()-full, int64(surplus*left), "only what the test keeps of them is left")
		require.NoError(t, s.Put(t.Context(), tuple.New("a", int64(1)), 0), "an admitted client is served")

		for _, c := range all {
			_ = c.Close()
		}
		<-time.After(time.Minute) // their sessions are lost
		synctest.Wait()
		t.Logf("%d bytes are left", inUse()-before)
		require.Less(t, inUse()-before, int64(*crowd*left), "only what the test keeps of them is left")
		require.LessOrEqual(t, runtime.NumGoroutine()-goroutines, native.MaxIdle)
		require.Zero(t, fx.gate.Panics())
	})
}

// A get that blocks has one goroutine, which ends with it.
func TestABlockedGetTakesOneGoroutineAndLittleMemory(t *testing.T) {
	const clients, each = 4, 500
	synctest.Test(t, func(t *testing.T) {
		fx := newFixture(t, spacetest.Procedures(), native.Config{Ping: time.Hour})
		s := fx.space()
		var all []*rawClient
		for n := range clients {
			all = append(all, fx.hello(fmt.Sprint("waiter-", n), time.Hour))
		}
		synctest.Wait()
		before, goroutines := inUse(), runtime.NumGoroutine()
		for _, c := range all {
			for n := range uint64(each) {
				op := space.OpID{Session: c.session, Seq: space.AutoSeq + n + 1}
				c.request(n+1, space.Request{Verb: space.VerbGet, Space: "s", Template: anyA, Ack: true, Op: op})
			}
		}
		synctest.Wait()
		t.Logf("%d bytes for each get that blocks", (inUse()-before)/(clients*each))
		require.Equal(t, clients*each, fx.engine.Stats().Waiters)
		require.LessOrEqual(t, runtime.NumGoroutine()-goroutines, clients*each)
		require.Less(t, inUse()-before, int64(clients*each*32<<10))
		for _, c := range all {
			for n := range uint64(each) {
				c.send(nil, wire.Frame{Kind: wire.Cancel, Call: n + 1})
				require.Equal(t, wire.Failure, c.frame().Kind)
			}
		}
		synctest.Wait()
		require.Zero(t, fx.engine.Stats().Waiters)
		require.LessOrEqual(t, runtime.NumGoroutine()-goroutines, native.MaxIdle)
		require.NoError(t, s.Put(t.Context(), a(1), 0))
		n, err := s.Count(t.Context(), anyA)
		require.NoError(t, err)
		require.Equal(t, 1, n, "one that was cancelled never takes")
	})
}
