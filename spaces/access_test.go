package spaces_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/coordinator/gate/native"
	"leasehold/gospace"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
	"leasehold/spaces"
)

// secureGate serves a native gate with TLS that admits only clients with the token "right". It returns its address
// and the files of the token and of its CA.
func secureGate(t *testing.T) (address, token, ca string) {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Log: quiet})
	require.NoError(t, err)
	dir := t.TempDir()
	identity, err := authority.Create(filepath.Join(dir, "identity"), time.Now)
	require.NoError(t, err)
	gate := native.New(native.Config{
		Engine: e, Log: quiet,
		Identify: func(net.Conn) (access.Identity, error) { return access.Identity{}, fault.ErrUnauthenticated },
		ByToken: func(_ net.Conn, token string) (access.Identity, error) {
			if token != "right" {
				return access.Identity{}, fmt.Errorf("%w: this token is not known", fault.ErrUnauthenticated)
			}
			return access.Everybody, nil
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = gate.Serve(ctx, tls.NewListener(l, identity.ServerConfig(func() []string { return nil }))) })
	t.Cleanup(func() { stop(); running.Wait() })
	token, ca = filepath.Join(dir, "token"), filepath.Join(dir, "ca.pem")
	require.NoError(t, os.WriteFile(token, []byte("right\n"), 0o600))
	require.NoError(t, os.WriteFile(ca, identity.CertificatePEM(), 0o600))
	return l.Addr().String(), token, ca
}

func TestDialWithATokenAndACA(t *testing.T) {
	t.Parallel()
	address, token, ca := secureGate(t)
	_, _, other := secureGate(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pem, err := os.ReadFile(ca)
	require.NoError(t, err)
	for _, a := range []spaces.Access{{Token: "right", CA: ca}, {Token: "@" + token, CA: string(pem)}} {
		repo, err := spaces.DialWith(ctx, address, "client-1", a)
		require.NoError(t, err)
		require.NoError(t, repo.Create(ctx, "box", space.Options{}))
		require.NoError(t, repo.JoinWith(ctx, "there", "tcp://"+address+"/box", a))
		require.NoError(t, repo.Space("there").Put(ctx, tuple.New("a"), 0))
		_, err = repo.Space("box").Get(ctx, tuple.Match("a"))
		require.NoError(t, err)
		require.NoError(t, repo.Close(ctx))
	}
	for name, c := range map[string]struct {
		access spaces.Access
		want   error
		says   string
	}{
		"a wrong token":              {spaces.Access{Token: "wrong", CA: ca}, fault.ErrUnauthenticated, "not known"},
		"no token":                   {spaces.Access{CA: ca}, fault.ErrUnauthenticated, ""},
		"another CA":                 {spaces.Access{Token: "right", CA: other}, fault.ErrUnauthenticated, "another identity"},
		"a CA the system has not":    {spaces.Access{Token: "right"}, fault.ErrUnauthenticated, "certificate"},
		"a file that does not exist": {spaces.Access{Token: "right", CA: "none.pem"}, fault.ErrInvalid, "want a fingerprint of 32 characters"},
		"a file without a CA":        {spaces.Access{Token: "right", CA: token}, fault.ErrInvalid, "want a certificate as PEM"},
		"a token that is not there":  {spaces.Access{Token: "@none", CA: ca}, fault.ErrInvalid, "token @none"},
	} {
		_, err := spaces.DialWith(ctx, address, "client-2", c.access)
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestAGateWithoutTLSGetsNoToken(t *testing.T) {
	t.Parallel()
	host, err := spaces.Start(spaces.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Stop()) }()
	address, err := host.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	require.NoError(t, err)
	_, err = spaces.DialWith(t.Context(), address, "client-1", spaces.Access{Token: "right"})
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "no TLS is spoken there")
}

func TestProgramsOfGoSpaceUseTheTokenOfTheEnvironment(t *testing.T) {
	address, token, ca := secureGate(t)
	t.Setenv("LEASEHOLD_TOKEN", "@"+token)
	t.Setenv("LEASEHOLD_CA", ca)
	box := gospace.NewSpace("tls://" + address + "/box")
	_, err := box.Put("a", 1)
	require.NoError(t, err)
	n := 0
	_, err = box.Get("a", &n)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, box.Close())

	kept := gospace.NewSpaceWith("tls://"+address+"/box", gospace.SpaceOptions{Folder: t.TempDir()})
	_, err = kept.Put("a")
	require.ErrorContains(t, err, "is of another program")
	t.Setenv("LEASEHOLD_TOKEN", "wrong")
	wrong := gospace.NewRemoteSpace("tls://" + address + "/box")
	_, err = wrong.PutP("a")
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.NoError(t, wrong.Close())
}
