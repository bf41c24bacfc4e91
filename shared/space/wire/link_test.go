package wire_test

import (
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/wire"
)

// links returns both ends of a TCP connection, whose writers run until the test ends.
func links(t *testing.T) (a, b *wire.Link) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	accepted, err := l.Accept()
	require.NoError(t, err)
	a, b = wire.NewLink(dialled), wire.NewLink(accepted)
	var running sync.WaitGroup
	for _, link := range []*wire.Link{a, b} {
		link.Ping = time.Minute
		running.Go(func() { link.Write(nil, nil) })
		t.Cleanup(func() { link.Close(net.ErrClosed) })
	}
	t.Cleanup(func() { a.Close(net.ErrClosed); b.Close(net.ErrClosed); running.Wait() })
	return a, b
}

func numbered(sender, n uint64, size int) wire.Frame {
	return wire.Frame{Kind: wire.Request, Call: sender, Body: binary.BigEndian.AppendUint64(make([]byte, 0, size), n)[:size]}
}

// Flush is called far more often than the connection takes without a reader, and returns.
func TestFlushDoesNotWaitForAReader(t *testing.T) {
	t.Parallel()
	a, b := links(t)
	const frames, size = 15_000, 1000 // 15 MB: less than a link queues, more than sockets buffer
	for n := range uint64(frames) {
		require.NoError(t, a.Queue(numbered(1, n, size)))
		a.Flush()
	}
	for n := range uint64(frames) {
		f, err := b.Receive()
		require.NoError(t, err)
		require.Equal(t, n, binary.BigEndian.Uint64(f.Body))
	}
}

func TestFramesOfEachSenderArriveWholeAndInOrder(t *testing.T) {
	t.Parallel()
	a, b := links(t)
	const senders, frames = 8, 2000
	var running sync.WaitGroup
	defer running.Wait()
	for s := range uint64(senders) {
		running.Go(func() {
			for n := range uint64(frames) {
				f := numbered(s, n, 8+int(n*s%5000))
				if (n+s)%2 == 0 {
					_ = a.Send(f) // an error shows as a missing frame
					continue
				}
				_ = a.Queue(f)
				a.Flush()
			}
		})
	}
	next := map[uint64]uint64{}
	for range senders * frames {
		f, err := b.Receive()
		require.NoError(t, err)
		require.Equal(t, next[f.Call], binary.BigEndian.Uint64(f.Body))
		require.Len(t, f.Body, 8+int(next[f.Call]*f.Call%5000))
		next[f.Call]++
	}
}

// The queue is so full that a sender would wait for the writer, which is the one that sends here.
func TestTheLastFrameIsSentAlthoughTheQueueIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written, read := net.Pipe()
		a, b := wire.NewLink(written), wire.NewLink(read)
		b.Ping = time.Hour
		const frames, size = 16, 1<<20 - 100
		for n := range uint64(frames) {
			require.NoError(t, a.Queue(numbered(1, n, size)))
		}
		ended := make(chan struct{})
		close(ended)
		go a.Write(ended, func() wire.Frame { return wire.Frame{Kind: wire.Ended, Body: make([]byte, 4000)} })
		for range frames {
			f, err := b.Receive()
			require.NoError(t, err)
			require.Equal(t, wire.Request, f.Kind)
		}
		f, err := b.Receive()
		require.NoError(t, err)
		require.Equal(t, wire.Ended, f.Kind)
		b.Close(net.ErrClosed)
	})
}
