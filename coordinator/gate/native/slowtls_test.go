package native_test

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/coordinator/gate/mux"
	"leasehold/coordinator/gate/native"
	"leasehold/shared/access"
	"leasehold/shared/identity"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// TestFault36SlowClientsInsideTLSKeepNoWorkerOut has three times as many slow clients as the gate has connections: those
// that stop in the handshake of TLS, those that send nothing inside it, and those that stop in their hello.
func TestFault36SlowClientsInsideTLSKeepNoWorkerOut(t *testing.T) {
	t.Parallel()
	const connections = 10
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ca, err := authority.Create(filepath.Join(dir, "identity"), time.Now)
		require.NoError(t, err)
		base := newPort()
		port := mux.New(base, mux.Config{Pending: connections, TLS: ca.ServerConfig(func() []string { return nil }), Log: quiet})
		start(t, port.Serve)
		fx := newFixture(t, nil, native.Config{})
		gate := native.New(native.Config{Engine: fx.engine, Connections: connections, Log: quiet, ByToken: func(net.Conn, string) (access.Identity, error) {
			return access.Identity{ID: "worker", Roles: access.Worker}, nil
		}})
		listener := port.Listener(mux.Native)
		start(t, func(ctx context.Context) error { return gate.Serve(ctx, listener) })
		dial := func(sends string) *tls.Conn {
			c, err := base.dial(t.Context(), "")
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			if sends == "hello of TLS" {
				_, err = c.Write([]byte{0x16, 3, 1, 2, 0, 1})
				require.NoError(t, err)
				return nil
			}
			config := identity.ClientConfig(ca.Fingerprint(), func() *tls.Certificate { return nil }, time.Now)
			config.SessionTicketsDisabled = true
			secured := tls.Client(c, config)
			require.NoError(t, secured.HandshakeContext(t.Context()))
			if sends != "" {
				_, err = secured.Write([]byte(sends))
				require.NoError(t, err)
			}
			return secured
		}
		began := time.Now()
		for range connections {
			for _, sends := range []string{"hello of TLS", "", "LSHD\x01"} {
				dial(sends)
			}
		}
		synctest.Wait()
		worker, err := remote.Dial(t.Context(), remote.Config{
			Address: "gate", Mode: "worker", Session: "worker-1", Token: "t", TTL: 6 * time.Second, Log: quiet,
			Dial: func(context.Context, string) (net.Conn, error) { return dial(""), nil },
		})
		require.NoError(t, err)
		require.Less(t, time.Since(began), time.Second)
		require.NoError(t, space.Over(worker).Close(t.Context()))
	})
}
