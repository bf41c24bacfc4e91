package remote

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

func TestACallEndsWhenALostConnectionIsNotReplacedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := Config{Session: "s", Log: slog.New(slog.DiscardHandler), Reconnect: 6 * time.Second,
			Dial: func(context.Context, string) (net.Conn, error) { return nil, errors.New("refused") }}.withDefaults()
		require.NoError(t, err)
		conn := newConn(c)
		ours, theirs := net.Pipe()
		l := wire.NewLink(ours)
		l.Ping = time.Minute
		conn.running.Go(func() { conn.run(l) })
		require.NoError(t, theirs.Close())
		began := time.Now()
		_, err = conn.Do(t.Context(), space.Request{Verb: space.VerbPut, Space: "s"})
		require.ErrorIs(t, err, fault.ErrClosed)
		require.ErrorContains(t, err, "no connection for 6s")
		require.InDelta(t, 6, time.Since(began).Seconds(), 0.5)
		conn.running.Wait()
	})
}
