//go:build linux

package chaos

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// killedClientOf is the environment variable that makes this binary a client, which is killed while it is served.
// Its value is the address of the coordinator.
const killedClientOf = "CHAOS_KILLED_CLIENT_OF"

// killingConn is a connection that kills its process when the answer to a get arrives, so
// that the get is never acknowledged.
type killingConn struct {
	net.Conn
	armed chan struct{} // closed once the get is sent
}

func (c killingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.armed:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it cannot fail
		select {}
	default:
		return n, err
	}
}

// runKilledClient waits for a note and is killed when it arrives.
func runKilledClient(address string) error {
	armed := make(chan struct{})
	ctx := context.Background()
	conn, err := remote.Dial(ctx, remote.Config{
		Address: address, Session: remote.SessionID("killed"), TTL: loadSafeTTL,
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			return killingConn{c, armed}, err
		},
	})
	if err != nil {
		return err
	}
	repo := space.Over(conn)
	if _, err := repo.Space(notes).Count(ctx, anyNote); err != nil {
		return err
	}
	close(armed)
	fmt.Println("waiting")
	_, err = repo.Space(notes).Get(ctx, anyNote)
	return err
}

func TestFault30AClientKilledWhileItsGetIsServedLosesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	c := h.mustDial("client", longTTL)
	require.NoError(t, c.Create(within(t), notes, space.Options{}))
	self, err := os.Executable()
	require.NoError(t, err)
	for n := range int64(3) {
		killed := binary.Start(t, []string{killedClientOf + "=" + h.gate}, self)
		binary.Eventually(t, "the get waits", func() bool { return killed.Printed("\n") })
		require.NoError(t, <-putNote(c, n+1))
		require.True(t, killed.WaitEnd(binary.WaitLimit), "it was not served")
		require.True(t, killed.Killed(), killed.Output())
		u, err := c.Space(notes).Get(within(t), anyNote)
		require.NoError(t, err)
		require.Equal(t, n+1, u.Int64(1), "the tuple is back when the session is lost")
	}
	require.Zero(t, h.notes())
}
