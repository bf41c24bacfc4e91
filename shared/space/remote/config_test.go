package remote

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
)

// What the gate would refuse is refused before anything is sent.
func TestNamesAndTTLsAtTheirBoundsAreAcceptedAndBeyondThemRefused(t *testing.T) {
	t.Parallel()
	longest, longer := strings.Repeat("n", space.MaxName), strings.Repeat("n", space.MaxName+1)
	gone := errors.New("reached the network")
	dial := func(c Config) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.Dial = func(context.Context, string) (net.Conn, error) { cancel(); return nil, gone }
		c.Backoff = retry.Backoff{Min: time.Hour, Max: time.Hour}
		_, err := Dial(ctx, c)
		return err
	}
	for _, c := range []Config{
		{Session: "s"}, {Session: longest}, {Session: "s", Mode: longest}, {Session: "s", Host: longest}, {Session: "s", Name: longest}, {Session: "s", TTL: time.Nanosecond},
	} {
		require.ErrorIs(t, dial(c), gone)
	}
	for _, c := range []Config{
		{}, {Session: longer}, {Session: "s", Mode: longer}, {Session: "s", Host: longer}, {Session: "s", Name: longer}, {Session: "s", TTL: -time.Nanosecond},
	} {
		err := dial(c)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.NotErrorIs(t, err, gone)
	}
}

func TestEachSessionHasAnIdOfItsOwn(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for range 100 {
		id := SessionID("worker")
		require.Regexp(t, `^worker-[0-9a-f]{8}$`, id)
		ids[id] = true
	}
	require.Len(t, ids, 100)
}

func TestTheErrorOfASessionThatCannotGoOnSaysWhyAndThatItIsOver(t *testing.T) {
	t.Parallel()
	for _, why := range []error{fault.ErrClosed, fault.ErrConflict, fault.ErrUnavailable} {
		err := cannotGoOn("w", why)
		require.ErrorIs(t, err, fault.ErrClosed)
		require.ErrorIs(t, err, why)
		require.Equal(t, 1, strings.Count(err.Error(), fault.ErrClosed.Error()), err)
	}
}

// 1,024 calls of a session may wait; an unanswered call does not make other calls wait for ever.
func TestCallsThatAreNotAnsweredAreBounded(t *testing.T) {
	t.Parallel()
	conn := newConn(Config{Session: "s"})
	for n := range space.Window {
		p, err := conn.addCall(space.Request{Verb: space.VerbQuery, Space: "a"})
		require.NoError(t, err, n)
		require.Equal(t, uint64(n+1), p.number)
	}
	_, err := conn.addCall(space.Request{Verb: space.VerbQuery, Space: "a"})
	require.ErrorIs(t, err, fault.ErrOverloaded)
	_, err = conn.addCall(space.Request{Verb: space.VerbAck})
	require.NoError(t, err, "an acknowledgement makes place for others")
	conn.finishCall(1, space.Reply{}, nil)
	_, err = conn.addCall(space.Request{Verb: space.VerbPut, Space: "a"})
	require.NoError(t, err)
	conn.end(fault.ErrClosed)
	_, err = conn.addCall(space.Request{Verb: space.VerbAck})
	require.ErrorIs(t, err, fault.ErrClosed)
}
