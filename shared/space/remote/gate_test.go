package remote

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

func TestAClientIntroducesItselfAndComesBackToItsSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{TTL: time.Minute, Name: "one", Host: "mill"})
		require.Equal(t, "s", conn.Session())
		require.Equal(t, "http://1", conn.Welcome().HTTP)
		g.loses()
		time.Sleep(pause)
		synctest.Wait()
		require.Len(t, g.hellos, 2)
		first, second := g.hellos[0], g.hellos[1]
		require.Equal(t, wire.Hello{Session: "s", Mode: "client", TTL: time.Minute, Host: "mill", Name: "one", Key: first.Key, PID: first.PID, Version: first.Version}, first)
		require.Len(t, first.Key, 16)
		first.Resume = true
		require.Equal(t, first, second, "it has the same key")
		require.Equal(t, "http://2", conn.Welcome().HTTP)
		g.hangsUp(conn)

		conn, g = dialled(t, Config{Mode: "worker"})
		require.Equal(t, "worker", g.hellos[0].Mode)
		require.Equal(t, space.ThisProcess("").Host, g.hellos[0].Host)
		g.hangsUp(conn)
	})
}

// Without an operation id, a repeated call would happen twice.
func TestARequestGetsAnOperationIdIfItMustNotHappenTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		mine := space.OpID{Session: "s", Seq: 5}
		numbered := map[space.Verb]bool{space.VerbCreate: true, space.VerbPut: true, space.VerbPutP: true, space.VerbGet: true, space.VerbGetP: true,
			space.VerbGetAll: true, space.VerbGetUpTo: true, space.VerbCall: true, space.VerbReceive: true, space.VerbNext: true, space.VerbNotify: true}
		for verb := space.VerbCreate; verb <= space.VerbQueryUpTo; verb++ {
			if verb == space.VerbEnd || verb == space.VerbAck || verb == space.VerbBack {
				continue
			}
			for _, op := range []space.OpID{{}, mine} {
				done := calls(t.Context(), conn, space.Request{Verb: verb, Space: "a", Limit: 1, Op: op})
				f, r := g.sent()
				if op == (space.OpID{}) && numbered[verb] {
					op = space.OpID{Session: "s", Seq: space.AutoSeq + f.Call}
					require.True(t, r.Recent, verb)
				} else {
					require.False(t, r.Recent, verb)
				}
				require.Equal(t, op, r.Op, verb)
				require.Equal(t, verb.Takes(), r.Ack, verb)
				g.fails(f, fault.ErrNotFound)
				require.ErrorIs(t, (<-done).err, fault.ErrNotFound)
			}
		}
		g.silent()
		g.hangsUp(conn)
	})
}

func TestAnswersThatTookSomethingAreAcknowledgedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		const n = space.MaxAcknowledged + 3
		var dones []chan outcome
		var ops []uint64
		for range n {
			dones = append(dones, calls(t.Context(), conn, get))
			f, r := g.sent()
			ops = append(ops, r.Op.Seq)
			require.NoError(t, g.link.Queue(wire.Frame{Kind: wire.Reply, Call: f.Call, Body: wire.AppendReply(nil, found)}))
		}
		g.link.Flush()
		for _, done := range dones {
			x := <-done
			require.NoError(t, x.err)
			require.Equal(t, found, x.reply)
		}
		var acknowledged []uint64
		var acks []wire.Frame
		synctest.Wait()
		for len(g.frames) > 0 {
			f, r := g.sent()
			require.Equal(t, space.VerbAck, r.Verb)
			require.LessOrEqual(t, len(r.Acknowledged), space.MaxAcknowledged)
			require.Equal(t, "s", r.Op.Session)
			acknowledged, acks = append(append(acknowledged, r.Op.Seq), r.Acknowledged...), append(acks, f)
		}
		require.Equal(t, ops, acknowledged, "each once")
		require.Less(t, len(acks), n/2)
		require.Equal(t, len(acks), conn.unacked)
		require.Zero(t, conn.waiting)
		for _, err := range []error{fault.ErrUnavailable, fault.ErrOverloaded} { // its outcome is unknown, or the disk is full
			g.fails(acks[0], err)
			require.Equal(t, len(acks), conn.unacked)
			time.Sleep(pause)
			again, _ := g.sent()
			require.Equal(t, acks[0], again)
		}
		for _, f := range acks {
			g.replies(f, space.Reply{})
		}
		require.Zero(t, conn.unacked)
		require.Empty(t, conn.calls)
		g.silent()
		g.hangsUp(conn)
	})
}

// The coordinator does not know whether a call has happened: it is repeated under its number.
func TestACallOfUnknownOutcomeIsRepeatedUntilTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		done := calls(t.Context(), conn, get)
		f, first := g.sent()
		g.fails(f, fault.ErrUnavailable)
		g.silent()
		time.Sleep(pause)
		f, again := g.sent()
		require.Equal(t, first, again)
		g.replies(f, found)
		require.NoError(t, (<-done).err)
		_, ack := g.sent()
		require.Equal(t, first.Op, ack.Op)

		for _, c := range []struct {
			request space.Request
			back    space.Verb // 0: nothing has to be given back
		}{{get, space.VerbBack}, {space.Request{Verb: space.VerbReceive}, space.VerbAck}, {put, 0}, {query, 0}} {
			ctx, cancel := context.WithCancel(t.Context())
			done = calls(ctx, conn, c.request)
			f, first = g.sent()
			g.fails(f, fault.ErrUnavailable)
			cancel()
			x := <-done
			require.ErrorIs(t, x.err, context.Canceled)
			require.Zero(t, x.took, "it does not wait for the pause")
			if c.back != 0 {
				_, r := g.sent()
				require.Equal(t, c.back, r.Verb)
				require.Equal(t, first.Op, r.Op)
			}
			g.silent()
		}
		g.hangsUp(conn)
		require.ErrorIs(t, (<-calls(t.Context(), conn, get)).err, fault.ErrClosed)
	})
}

func TestACallThatIsGivenUpIsCancelledAndItsAnswerIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		for name, c := range map[string]struct {
			request space.Request
			answer  func(wire.Frame) // to the call, when it is cancelled
			back    space.Verb
			want    error
			took    time.Duration
		}{
			"it is cancelled":        {get, func(f wire.Frame) { g.fails(f, context.Canceled) }, space.VerbBack, context.Canceled, 0},
			"it was served":          {get, func(f wire.Frame) { g.replies(f, found) }, space.VerbAck, nil, 0},
			"it fails":               {get, func(f wire.Frame) { g.fails(f, fault.ErrNotFound) }, 0, fault.ErrNotFound, 0},
			"no answer":              {get, func(wire.Frame) {}, space.VerbBack, context.Canceled, cancelTimeout},
			"no answer to a query":   {query, func(wire.Frame) {}, 0, context.Canceled, cancelTimeout},
			"no answer to a receive": {space.Request{Verb: space.VerbReceive}, func(wire.Frame) {}, space.VerbAck, context.Canceled, cancelTimeout},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			done := calls(ctx, conn, c.request)
			f, r := g.sent()
			time.Sleep(time.Hour / 2)
			cancel()
			cancelled, _ := g.sent()
			require.Equal(t, wire.Frame{Kind: wire.Cancel, Call: f.Call, Body: cancelled.Body}, cancelled, name)
			c.answer(f)
			x := <-done
			require.ErrorIs(t, x.err, c.want, name)
			require.Equal(t, c.want == nil, x.reply.Found, name)
			require.Equal(t, time.Hour/2+c.took, x.took, name)
			if c.back != 0 {
				back, end := g.sent()
				require.Equal(t, c.back, end.Verb, name)
				require.Equal(t, r.Op, end.Op, name)
				g.replies(back, space.Reply{})
			}
			g.silent()
			require.Zero(t, conn.waiting, name)
			require.Empty(t, conn.calls, name)
			require.Empty(t, conn.cancels, name)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := conn.Do(over, get)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "get a: ")
		g.silent()
		g.hangsUp(conn)
	})
}

// While there is no connection, calls can still be made and given up. The next connection carries them, the oldest
// first, and cancels the ones given up.
func TestTheNextConnectionCarriesWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		over := calls(ctx, conn, get)
		sent, op := g.sent()
		var dones []chan outcome
		var numbers []uint64
		for range 20 {
			dones = append(dones, calls(t.Context(), conn, put))
			f, _ := g.sent()
			numbers = append(numbers, f.Call)
		}
		g.loses()
		never := calls(ctx, conn, get)
		last := calls(t.Context(), conn, put)
		cancel()
		for _, done := range []chan outcome{over, never} {
			x := <-done
			require.ErrorIs(t, x.err, context.Canceled)
			require.Zero(t, x.took, "no answer can come")
		}
		time.Sleep(pause)
		f, _ := g.sent()
		require.Equal(t, wire.Cancel, f.Kind)
		require.Equal(t, sent.Call, f.Call)
		for _, number := range numbers {
			f, r := g.sent()
			require.Equal(t, number, f.Call)
			require.Equal(t, space.VerbPut, r.Verb)
			g.replies(f, space.Reply{})
		}
		f, r := g.sent()
		require.Equal(t, space.VerbPut, r.Verb, "the one that was made meanwhile; the other was given up")
		g.replies(f, space.Reply{})
		_, r = g.sent()
		require.Equal(t, space.VerbBack, r.Verb)
		require.Equal(t, op.Op, r.Op)
		g.silent()
		for _, done := range append(dones, last) {
			require.NoError(t, (<-done).err)
		}
		g.loses()
		time.Sleep(pause)
		f, r = g.sent()
		require.Equal(t, space.VerbBack, r.Verb, "it was not confirmed")
		g.replies(f, space.Reply{})
		g.silent()
		require.Empty(t, conn.calls)
		g.hangsUp(conn)
	})
}

// A call that only a later connection carried may have taken something too.
func TestACallThatALaterConnectionCarriedIsCancelledAndGivenBack(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"while it is connected": false, "while it is not": true} {
		synctest.Test(t, func(t *testing.T) {
			conn, g := dialled(t, Config{})
			g.loses()
			ctx, cancel := context.WithCancel(t.Context())
			done := calls(ctx, conn, get)
			g.silent()
			time.Sleep(pause)
			f, first := g.sent()
			if lost {
				g.loses()
			}
			cancel()
			require.ErrorIs(t, (<-done).err, context.Canceled, name)
			if lost {
				time.Sleep(pause)
			}
			cancelled, _ := g.sent()
			require.Equal(t, wire.Cancel, cancelled.Kind, name)
			require.Equal(t, f.Call, cancelled.Call, name)
			_, r := g.sent()
			require.Equal(t, space.VerbBack, r.Verb, name)
			require.Equal(t, first.Op, r.Op, name)
			g.silent()
			g.hangsUp(conn)
		})
	}
}

// A message whose call ended before it was sent stays at the gate.
func TestOnlyACallThatWasSentIsGivenBack(t *testing.T) {
	t.Parallel()
	conn := newConn(Config{Session: "s"})
	for _, sent := range []bool{false, true} {
		for verb, back := range map[space.Verb]space.Verb{
			space.VerbGet: space.VerbBack, space.VerbGetUpTo: space.VerbBack, space.VerbReceive: space.VerbAck, space.VerbNext: space.VerbAck,
			space.VerbNotify: space.VerbAck, space.VerbPut: 0, space.VerbQuery: 0, space.VerbCall: 0,
		} {
			clear(conn.calls)
			op := space.OpID{Session: "s", Seq: 7}
			conn.giveBack(&call{request: space.Request{Verb: verb, Op: op}, sent: sent})
			require.Len(t, conn.calls, map[bool]int{true: 1}[sent && back != 0], "%s, sent %t", verb, sent)
			for _, c := range conn.calls {
				require.Equal(t, back, c.request.Verb)
				require.Equal(t, op, c.request.Op)
			}
		}
	}
	_, err := conn.addCall(space.Request{Verb: space.VerbPut, Tuple: tuple.New(uint8(1))})
	require.ErrorIs(t, err, fault.ErrInvalid)
	last := conn.last
	p, err := conn.addCall(space.Request{Verb: space.VerbQuery})
	require.NoError(t, err)
	require.Equal(t, last+1, p.number)
}
