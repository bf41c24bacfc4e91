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
		Session: "worker-1", Mode: "worker", Key: []byte("k"), TTL: time.Minute, Resume: true, Host: "mill", PID: 7, Version: "1.2", Name: "one", Token: "lht-x",
	}
	got, err := wire.DecodeHello(wire.AppendHello(nil, h))
	require.NoError(t, err)
	require.Equal(t, h, got)
	h.Host = strings.Repeat("x", 256)
	_, err = wire.DecodeHello(wire.AppendHello(nil, h))
	require.ErrorIs(t, err, fault.ErrTooLarge)
}

// A gate of an earlier version skips the token, and a Hello without one is as it was.
func TestATokenIsAFieldOfItsOwn(t *testing.T) {
	t.Parallel()
	h := wire.Hello{Session: "s", Mode: "client", Key: []byte("k")}
	without := wire.AppendHello(nil, h)
	h.Token = "lht-x"
	require.Equal(t, string(without)+"\x0a\x05lht-x", string(wire.AppendHello(nil, h)))
	h.Token = strings.Repeat("x", 129)
	_, err := wire.DecodeHello(wire.AppendHello(nil, h))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.NotContains(t, err.Error(), "xxx")
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
