package worktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/wire"
)

// Encoded connects through the loopback of package wire, which fails if the protocols
// share memory or make an answer that no frame could carry.
func Encoded(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository {
	t.Helper()
	c, err := e.Connect(t.Context(), id, ttl)
	require.NoError(t, err)
	return space.Over(wire.Loopback(c))
}
