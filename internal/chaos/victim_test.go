package chaos

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// victimOf says to this binary, in the environment, that it is a client which dies
// while it is served, and where its coordinator is.
const victimOf = "CHAOS_VICTIM_OF"

// deadly is a connection that kills its process when something comes after the
// handshake: the answer to a get, which nobody will acknowledge.
type deadly struct {
	net.Conn
	armed chan struct{} // closed once the get is on its way
}

func (c deadly) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.armed:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it cannot fail
		select {}
	default:
		return n, err
	}
}

// beVictim waits for a note, and dies of it.
func beVictim(address string) error {
	armed := make(chan struct{})
	ctx := context.Background()
	conn, err := remote.Dial(ctx, remote.Config{
		Address: address, Session: remote.SessionID("victim"), TTL: noticed,
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			return deadly{c, armed}, err
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
	h := newHouse(t, quick...)
	h.mustStart()
	c := h.mustDial("client", survives)
	require.NoError(t, c.Create(within(t), notes, space.Options{}))
	self, err := os.Executable()
	require.NoError(t, err)
	for n := range int64(3) {
		victim := launch(t, []string{victimOf + "=" + h.gate}, self)
		eventually(t, "the get waits", func() bool { return saidWaiting(t, victim) })
		require.NoError(t, <-putNote(c, n+1))
		require.True(t, victim.endsIn(patience), "it was not served")
		require.True(t, victim.killed(), victim.output())
		u, err := c.Space(notes).Get(within(t), anyNote)
		require.NoError(t, err)
		require.Equal(t, n+1, u.Int64(1), "the tuple is back when the session is lost")
	}
	require.Zero(t, h.notes())
}

func saidWaiting(t *testing.T, p *process) bool {
	f, err := os.Open(p.said)
	require.NoError(t, err)
	defer f.Close()
	return bufio.NewScanner(f).Scan()
}
