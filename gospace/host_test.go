package gospace

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestClosingASpaceEndsTheCallsOfOtherProgramsAtOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	uri := "tcp://" + l.Addr().String() + "/closing"
	server, client := NewSpace(uri), NewRemoteSpace(uri)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := client.Get("never")
		require.ErrorIs(t, err, fault.ErrClosed)
	})
	require.Eventually(t, func() bool { return server.host.Waiting() == 1 }, 10*time.Second, time.Millisecond)
	began := time.Now()
	require.NoError(t, server.Close())
	waiting.Wait()
	require.Less(t, time.Since(began), reconnectTimeout/2, "the client does not try to come back")
	require.NoError(t, client.Close())
}
