package native_test

import (
	"bufio"
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/wire"
)

// byName identifies a client by its token, which is the name of the identity.
var byName = native.Config{
	Identify: func(net.Conn) (access.Identity, error) { return access.Identity{}, fault.ErrUnauthenticated },
	ByToken: func(_ net.Conn, token string) (access.Identity, error) {
		return access.Identity{ID: token, Roles: access.Worker | access.Producer}, nil
	},
}

// greet sends a hello, and returns the client if the gate admits it, or else the error with which the gate refuses it.
func (fx *fixture) greet(h wire.Hello) (*rawClient, error) {
	fx.Helper()
	nc, err := fx.port.dial(fx.Context(), "")
	require.NoError(fx, err)
	fx.Cleanup(func() { _ = nc.Close() })
	c := &rawClient{fx: fx, Conn: nc, r: bufio.NewReader(nc), session: h.Session}
	c.send(wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, h)})
	_, err = wire.ReadPreamble(c.r)
	require.NoError(fx, err)
	f := c.frame()
	if f.Kind == wire.Welcomed {
		return c, nil
	}
	require.Equal(fx, wire.Failure, f.Kind)
	why, err := wire.DecodeError(f.Body)
	require.NoError(fx, err)
	return nil, why
}

// TestTheKeyOfASessionIsOfNoUseToAnotherIdentity tries a stolen key while its session is connected, while it waits after
// a restart of the coordinator, and after its end. A session that was opened without a key, as workers over HTTP do, is
// not open to all.
func TestTheKeyOfASessionIsOfNoUseToAnotherIdentity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, fx := &journal.Memory{}, &fixture{T: t}
		coordinator := func() (stop func()) {
			e, err := engine.Open(t.Context(), engine.Config{Journal: j, Log: quiet, Grace: 6 * time.Second})
			require.NoError(t, err)
			halt := start(t, e.Run)
			fx.engine = e
			fx.openGate(byName)
			return func() { fx.shut(); halt() }
		}
		stop := coordinator()
		owner := wire.Hello{Session: "worker-1", Mode: "worker", Key: []byte("k"), TTL: time.Minute, Token: "peer-1"}
		thief := owner
		thief.Token = "peer-2"
		_, err := fx.greet(owner)
		require.NoError(t, err)
		_, err = fx.engine.OpenGateSession(t.Context(), engine.Opening{ID: "worker-http", TTL: time.Minute})
		require.NoError(t, err)
		_, err = fx.greet(thief)
		require.ErrorIs(t, err, fault.ErrForbidden)

		stop()
		defer coordinator()()
		thief.Resume, owner.Resume = true, true
		_, err = fx.greet(thief)
		require.ErrorIs(t, err, fault.ErrConflict, "after a restart")
		for _, key := range []string{"", "k"} {
			_, err = fx.greet(wire.Hello{Session: "worker-http", Mode: "worker", Key: []byte(key), TTL: time.Minute, Resume: true, Token: "peer-2"})
			require.ErrorIs(t, err, fault.ErrConflict, "a session without a key")
		}
		c, err := fx.greet(owner)
		require.NoError(t, err)
		require.NoError(t, c.Close())

		require.NoError(t, fx.engine.EndSession(context.Background(), owner.Session))
		synctest.Wait()
		for _, h := range []wire.Hello{thief, owner} {
			_, err = fx.greet(h)
			require.ErrorIs(t, err, fault.ErrClosed, "after its end")
		}
		thief.Resume = false
		_, err = fx.greet(thief)
		require.NoError(t, err, "a new session of the thief's own")
		require.Equal(t, []string{owner.Session}, fx.gate.SessionsOf("peer-2"))
	})
}
