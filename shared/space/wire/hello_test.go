package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/wire"
)

func TestAHelloIsDecodedAsItWasEncoded(t *testing.T) {
	t.Parallel()
	h := wire.Hello{
		Session: "worker-1", Mode: "worker", Key: []byte("k"), TTL: time.Minute, Resume: true, Host: "mill", PID: 7, Version: "1.2",
	}
	got, err := wire.DecodeHello(wire.AppendHello(nil, h))
	require.NoError(t, err)
	require.Equal(t, h, got)
	h.Host = strings.Repeat("x", 256)
	_, err = wire.DecodeHello(wire.AppendHello(nil, h))
	require.ErrorIs(t, err, fault.ErrTooLarge)
}

// A client need not describe itself.
func TestAHelloWithoutAProcessIsAccepted(t *testing.T) {
	t.Parallel()
	h := wire.Hello{Session: "worker-1", Mode: "worker", Key: []byte("k")}
	const written = "\x01\x08worker-1\x02\x06worker\x03\x01k"
	require.Equal(t, written, string(wire.AppendHello(nil, h)))
	got, err := wire.DecodeHello([]byte(written))
	require.NoError(t, err)
	require.Equal(t, h, got)
}
