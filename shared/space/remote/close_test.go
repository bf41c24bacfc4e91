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
)

var end = space.Request{Verb: space.VerbEnd}

// The end of the session would bring back a tuple whose get is not acknowledged.
func TestTheSessionEndsOnceAllAcknowledgementsAreConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		var acks []wire.Frame
		for range 2 {
			done := calls(t.Context(), conn, get)
			f, _ := g.sent()
			g.replies(f, found)
			require.NoError(t, (<-done).err)
			ack, r := g.sent()
			require.Equal(t, space.VerbAck, r.Verb)
			acks = append(acks, ack)
		}
		closed := calls(t.Context(), conn, end)
		g.silent()
		require.ErrorIs(t, (<-calls(t.Context(), conn, put)).err, fault.ErrClosed)
		twice := calls(t.Context(), conn, end)
		g.replies(acks[0], space.Reply{})
		g.silent()
		g.replies(acks[1], space.Reply{})
		f, r := g.sent()
		require.Equal(t, space.VerbEnd, r.Verb)
		require.Empty(t, closed)
		require.Empty(t, twice)
		g.replies(f, space.Reply{})
		require.NoError(t, (<-closed).err)
		require.NoError(t, (<-twice).err)
		require.NoError(t, (<-calls(t.Context(), conn, end)).err)
		require.ErrorIs(t, (<-calls(t.Context(), conn, put)).err, fault.ErrClosed)
		g.silent()
		g.hangsUp(conn)
	})
}

func TestACloseReportsWhatTheGateAnswersAndWaitsForALimitedTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  func(g *fakeGate, f wire.Frame)
		timeout time.Duration // of the caller
		want    error
		took    time.Duration
	}{
		"a confirmation":      {func(g *fakeGate, f wire.Frame) { g.replies(f, space.Reply{}) }, time.Hour, nil, 0},
		"it has ended before": {func(g *fakeGate, f wire.Frame) { g.fails(f, fault.ErrClosed) }, time.Hour, nil, 0},
		"an error":            {func(g *fakeGate, f wire.Frame) { g.fails(f, fault.ErrInvalid) }, time.Hour, fault.ErrInvalid, 0},
		"it ends meanwhile": {func(g *fakeGate, f wire.Frame) {
			require.NoError(g.t, g.link.Send(wire.Frame{Kind: wire.Ended, Body: wire.AppendError(nil, fault.ErrConflict)}))
		}, time.Hour, nil, 0},
		"no answer":              {func(*fakeGate, wire.Frame) {}, time.Hour, context.DeadlineExceeded, closeTimeout},
		"no answer in time":      {func(*fakeGate, wire.Frame) {}, time.Second, context.DeadlineExceeded, time.Second},
		"the connection is lost": {func(g *fakeGate, _ wire.Frame) { g.away = true; g.loses() }, time.Hour, context.DeadlineExceeded, closeTimeout},
	} {
		for _, unacked := range []bool{false, true} { // a get whose acknowledgement is not confirmed
			synctest.Test(t, func(t *testing.T) {
				conn, g := dialled(t, Config{})
				waits := calls(t.Context(), conn, query)
				g.sent()
				var ack wire.Frame
				if unacked {
					done := calls(t.Context(), conn, get)
					f, _ := g.sent()
					g.replies(f, found)
					<-done
					ack, _ = g.sent()
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
				defer cancel()
				closed := calls(ctx, conn, end)
				if unacked && c.want != context.DeadlineExceeded {
					g.replies(ack, space.Reply{})
				}
				var f wire.Frame
				if !unacked || c.want != context.DeadlineExceeded {
					f, _ = g.sent()
				}
				c.answer(g, f)
				x := <-closed
				require.ErrorIs(t, x.err, c.want, name)
				require.Equal(t, c.took, x.took, name)
				require.ErrorIs(t, (<-waits).err, fault.ErrClosed, name)
				g.silent()
				g.hangsUp(conn)
			})
		}
	}
}

func TestTheEndOfASessionIsRepeatedUntilItIsConfirmedOrTheTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, why := range []error{fault.ErrUnavailable, fault.ErrOverloaded} { // its outcome is unknown, or the disk is full
		for _, passes := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				conn, g := dialled(t, Config{})
				closed := calls(t.Context(), conn, end)
				var x outcome
				open := true
				for asked := 1; open; asked++ {
					select {
					case f := <-g.frames:
						if passes && asked == 3 {
							g.replies(f, space.Reply{})
						} else {
							g.fails(f, why)
						}
					case x = <-closed:
						open = false
					}
				}
				if passes {
					require.NoError(t, x.err)
				} else {
					require.ErrorIs(t, x.err, why)
					require.Equal(t, closeTimeout, x.took)
				}
				g.silent()
				g.hangsUp(conn)
			})
		}
	}
}

// The gate has ended the session while acknowledgements wait: nothing can confirm them.
func TestACloseDoesNotWaitForTheAcknowledgementsOfASessionThatHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		done := calls(t.Context(), conn, get)
		f, _ := g.sent()
		g.replies(f, found)
		<-done
		closed := calls(t.Context(), conn, end)
		conn.end(fault.ErrConflict)
		x := <-closed
		require.NoError(t, x.err)
		require.Zero(t, x.took)
		require.ErrorIs(t, (<-calls(t.Context(), conn, put)).err, fault.ErrConflict, "the first reason stays")
		g.hangsUp(conn)
	})
}

// Both ends of the wait are there at once, so that either may be seen first.
func TestAConnWhoseSessionHasEndedIsClosedWithoutAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			conn, g := dialled(t, Config{})
			require.NoError(t, g.link.Send(wire.Frame{Kind: wire.Ended, Body: wire.AppendError(nil, fault.ErrConflict)}))
			synctest.Wait()
			x := <-calls(t.Context(), conn, end)
			require.NoError(t, x.err)
			require.Zero(t, x.took)
			g.silent()
			g.hangsUp(conn)
		}
	})
}

// A process that stops while its coordinator is away does not wait for it, unless it has to acknowledge what it took.
func TestACloseWithoutAConnectionIsShort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(t *testing.T, conn *Conn, g *fakeGate)
		took   time.Duration
	}{
		"nothing waits": {func(*testing.T, *Conn, *fakeGate) {}, awayTimeout},
		"a get was given up": {func(t *testing.T, conn *Conn, g *fakeGate) {
			ctx, cancel := context.WithCancel(t.Context())
			done := calls(ctx, conn, get)
			g.sent()
			g.away = true
			g.loses()
			synctest.Wait()
			cancel()
			require.Error(t, (<-done).err)
		}, awayTimeout},
		"an acknowledgement waits": {func(t *testing.T, conn *Conn, g *fakeGate) {
			done := calls(t.Context(), conn, get)
			f, _ := g.sent()
			g.replies(f, found)
			require.NoError(t, (<-done).err)
			g.sent()
		}, closeTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, g := dialled(t, Config{})
			c.before(t, conn, g)
			if !g.away {
				g.away = true
				g.loses()
				synctest.Wait()
			}
			x := <-calls(t.Context(), conn, end)
			require.ErrorIs(t, x.err, context.DeadlineExceeded, name)
			require.Equal(t, c.took, x.took, name)
		})
	}
}
