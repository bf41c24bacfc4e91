package native_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// first is a request of the procedure that takes the first "a" of the space s, and waits for it.
func first(session string, seq uint64) space.Request {
	return space.Request{Verb: space.VerbCall, Procedure: "test.first", Args: tuple.New("a", "s", "s"),
		Op: space.OpID{Session: session, Seq: space.AutoSeq + seq}, Recent: true}
}

// A worker that was killed must get no task while its session lasts.
func TestAProcedureThatWaitsTakesNothingForAClientWithoutConnection(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c, s := fx.hello("killed", time.Hour), space.Over(fx.session("other", 0)).Space("s")
		c.request(1, first("killed", 1))
		c.request(2, space.Request{Verb: space.VerbQuery, Space: "s", Template: tuple.Match("never")})
		synctest.Wait()
		require.Equal(fx, 2, fx.engine.Stats().Waiters)
		require.NoError(fx, c.Close())
		synctest.Wait()
		require.Equal(fx, 1, fx.engine.Stats().Waiters, "queries keep their place")
		require.NoError(fx, s.Put(fx.Context(), a(1), 0))
		got, ok, err := s.GetP(fx.Context(), a(1).Exactly())
		require.NoError(fx, err)
		require.True(fx, ok)
		require.Equal(fx, a(1), got)
	})
}

// The repeated procedure may arrive before the gate knows that the earlier connection has ended,
// and before the earlier call has. It waits, and takes one tuple.
func TestAProcedureThatIsRepeatedAfterAReconnectWaitsAgain(t *testing.T) {
	for name, closeBefore := range map[string]bool{"after the end of the earlier connection": true, "before": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, native.Config{}, func(fx *fixture) {
				c, s := fx.hello("moved", time.Hour), space.Over(fx.session("other", 0)).Space("s")
				c.request(1, first("moved", 1))
				synctest.Wait()
				if closeBefore {
					require.NoError(fx, c.Close())
				}
				again := fx.rawClient()
				again.introduce("moved", "", time.Hour, true)
				again.admitted()
				again.request(1, first("moved", 1))
				synctest.Wait()
				require.Equal(fx, 1, fx.engine.Stats().Waiters)
				require.NoError(fx, s.Put(fx.Context(), a(1), 0))
				require.NoError(fx, s.Put(fx.Context(), a(2), 0))
				f := again.frame()
				require.Equal(fx, wire.Reply, f.Kind)
				reply, err := wire.DecodeReply(f.Body)
				require.NoError(fx, err)
				require.Equal(fx, a(1), reply.Tuple)
				synctest.Wait()
				count, err := s.Count(fx.Context(), anyA)
				require.NoError(fx, err)
				require.Equal(fx, 1, count, "the second tuple is left")
			})
		})
	}
}
