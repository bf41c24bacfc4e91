package native_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
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
