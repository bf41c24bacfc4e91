package native_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
)

// TestAnIdentityThatIsRevokedDuringItsHandshakeHasNoSession revokes between the check of the identity and the opening of
// the session, which the end of the identity's sessions misses.
func TestAnIdentityThatIsRevokedDuringItsHandshakeHasNoSession(t *testing.T) {
	t.Parallel()
	var checks atomic.Int64
	identify := func(net.Conn) (access.Identity, error) {
		if checks.Add(1) > 1 {
			return access.Identity{}, fmt.Errorf("peer-1: %w: this process was revoked", fault.ErrForbidden)
		}
		return access.Identity{ID: "peer-1", Roles: access.Worker}, nil
	}
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Log: quiet})
	require.NoError(t, err)
	start(t, e.Run)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := native.New(native.Config{Engine: e, Identify: identify, Log: quiet})
	start(t, func(ctx context.Context) error { return g.Serve(ctx, l) })
	conn, err := remote.Dial(t.Context(), remote.Config{Address: l.Addr().String(), Mode: "worker", Session: "worker-1", Log: quiet})
	if err == nil {
		_, err = space.Over(conn).List(t.Context())
	}
	require.Error(t, err)
	require.GreaterOrEqual(t, checks.Load(), int64(2))
}
