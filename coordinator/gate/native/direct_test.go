package native_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/process/histogram"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// The gate answers a request together with the next one if that has arrived. Other frames,
// such as a pong, must not delay the answer.
func TestAnAnswerDoesNotWaitBehindAPong(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c := fx.hello("client", 0)
		body, err := wire.AppendRequest(nil, space.Request{Verb: space.VerbCount, Space: "s", Template: tuple.Match("none")})
		require.NoError(fx, err)
		sent, err := wire.Frame{Kind: wire.Request, Call: 1, Body: body}.Append(nil)
		require.NoError(fx, err)
		sent, err = wire.Frame{Kind: wire.Ping + 1}.Append(sent)
		require.NoError(fx, err)
		began := time.Now()
		_, err = c.Write(sent)
		require.NoError(fx, err)
		require.Equal(fx, wire.Reply, c.frame().Kind)
		require.Zero(fx, time.Since(began), "the next ping would have brought the answer too")
	})
}

// A client that does not read still has its requests read, because it may
// wait for the gate to read.
func TestRequestsOfAClientThatDoesNotReadAreCarriedOut(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		other := space.Over(fx.session("other", 0)).Space("s")
		require.NoError(fx, other.Put(fx.Context(), tuple.New("small", strings.Repeat("x", 3<<10)), 0))
		c := fx.hello("slow", 0)
		const asked = 900 // 2.7 MB of answers
		for n := range uint64(asked) {
			c.request(n+1, space.Request{Verb: space.VerbQueryP, Space: "s", Template: tuple.Match("small", tuple.AnyString)})
		}
		c.request(asked+1, space.Request{Verb: space.VerbPut, Space: "s", Tuple: tuple.New("put")})
		_, err := other.Get(fx.Context(), tuple.Match("put"))
		require.NoError(fx, err)
		seen := map[uint64]bool{}
		for range asked + 1 {
			f := c.frame()
			require.Equal(fx, wire.Reply, f.Kind)
			seen[f.Call] = true
		}
		require.Len(fx, seen, asked+1, "each request has one answer")
	})
}

// Answers that clients do not read take the share of memory that clients may use, and none of
// the reserve for managers and workers.
func TestAnswersThatAreNotReadLeaveMemoryForWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := memory.New(4 << 20)
		fx := newFixture(t, spacetest.Procedures(), native.Config{Memory: budget})
		s := fx.space()
		require.NoError(t, s.Put(t.Context(), tuple.New("small", strings.Repeat("x", 3<<10)), 0))
		worker, err := fx.dial(t.Context(), remote.Config{Session: "worker-1", Mode: "worker"})
		require.NoError(t, err)
		var slow []*rawClient
		for n := range 6 {
			slow = append(slow, fx.hello(fmt.Sprint("slow-", n), 0))
		}
		for _, c := range slow {
			for number := range uint64(300) { // 0.9 MB of answers
				c.request(number+1, space.Request{Verb: space.VerbQueryP, Space: "s", Template: tuple.Match("small", tuple.AnyString)})
			}
		}
		synctest.Wait()
		require.LessOrEqual(t, budget.Used(), budget.Limit()*13/16)
		_, err = space.Over(worker).Space("s").Count(t.Context(), anyA)
		require.NoError(t, err)
	})
}

// Calls that wait for one commit are measured from their requests.
func TestEachCallOfABatchIsMeasuredWithItsWaitForTheCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const commit, puts = 10 * time.Millisecond, 10
		m := &journal.Memory{Before: func(context.Context, []journal.Record) error { time.Sleep(commit); return nil }}
		e, err := engine.Open(t.Context(), engine.Config{Journal: m, Log: quiet})
		require.NoError(t, err)
		fx := &fixture{T: t, engine: e}
		start(t, e.Run)
		h := histogram.New()
		fx.openGate(native.Config{Calls: map[space.Verb]*histogram.Histogram{space.VerbPut: h}})
		fx.space()
		c := fx.hello("client", 0)
		var sent []byte
		for n := range uint64(puts) {
			body, err := wire.AppendRequest(nil, space.Request{Verb: space.VerbPut, Space: "s", Tuple: a(1)})
			require.NoError(t, err)
			sent, err = wire.Frame{Kind: wire.Request, Call: n + 1, Body: body}.Append(sent)
			require.NoError(t, err)
		}
		_, err = c.Write(sent)
		require.NoError(t, err)
		for range puts {
			require.Equal(t, wire.Reply, c.frame().Kind)
		}
		synctest.Wait()
		require.EqualValues(t, puts, h.Snapshot().Count)
		require.GreaterOrEqual(t, h.Snapshot().Sum, puts*commit)
	})
}
