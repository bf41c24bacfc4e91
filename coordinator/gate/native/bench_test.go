package native_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// served is the address of a gate over loopback TCP.
func served(b *testing.B) string {
	e, err := engine.Open(b.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: spacetest.Procedures(), Log: quiet})
	require.NoError(b, err)
	start(b, e.Run)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	g := native.New(native.Config{Engine: e, Rate: 1e6, Log: quiet})
	start(b, func(ctx context.Context) error { return g.Serve(ctx, l) })
	return l.Addr().String()
}

// client is a session over TCP.
func client(b *testing.B, address string, n int) space.Repository {
	c, err := remote.Dial(b.Context(), remote.Config{Address: address, Session: fmt.Sprint("bench-", n), Log: quiet})
	require.NoError(b, err)
	b.Cleanup(func() { _ = space.Over(c).Close(context.Background()) })
	return space.Over(c)
}

// pairs runs total pairs of put and get, of 8 clients with pipelined goroutines each, and
// returns the pairs per second.
func pairs(b *testing.B, total, pipelined int) float64 {
	const clients = 8
	address := served(b)
	var all []space.Repository
	for n := range clients {
		all = append(all, client(b, address, n))
	}
	require.NoError(b, all[0].Create(b.Context(), "s", space.Options{}))
	pad := strings.Repeat("x", 150)
	began := time.Now()
	var running sync.WaitGroup
	for n, r := range all {
		for k := range pipelined {
			running.Go(func() {
				s, ctx, key := r.Space("s"), context.Background(), int64(n*pipelined+k)
				u, p := tuple.New("a", key, pad), tuple.Match("a", key, tuple.AnyString)
				for range total / (clients * pipelined) {
					if err := s.Put(ctx, u, 0); err != nil {
						b.Error(err)
						return
					}
					if _, err := s.Get(ctx, p); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
	}
	running.Wait()
	return float64(total) / time.Since(began).Seconds()
}

// echoes runs pairs of round trips over TCP to a server that only echoes.
func echoes(b *testing.B, total int) float64 {
	const clients = 8
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer l.Close()
	var serving, running sync.WaitGroup
	defer serving.Wait()
	began := time.Now()
	for range clients {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(b, err)
		peer, err := l.Accept()
		require.NoError(b, err)
		serving.Go(func() { _, _ = io.Copy(struct{ io.Writer }{peer}, struct{ io.Reader }{peer}); _ = peer.Close() })
		running.Go(func() {
			defer c.Close()
			buf := make([]byte, 200)
			for range 2 * (total / clients) {
				if _, err := c.Write(buf); err != nil {
					b.Error(err)
				}
				if _, err := io.ReadFull(c, buf); err != nil {
					b.Error(err)
				}
			}
		})
	}
	running.Wait()
	return float64(total) / time.Since(began).Seconds()
}

// BenchmarkGate compares pairs of put and get of 8 clients, one or 32 at a time each, with
// two round trips to an echo server. All three are measured in one run, in turns, and the
// best of each counts.
//
//	go test ./coordinator/gate/native -run '^$' -bench Gate -benchtime 1x
func BenchmarkGate(b *testing.B) {
	for b.Loop() {
		var echo, plain, pipelined float64
		for range 3 {
			echo = max(echo, echoes(b, 40_000))
			plain = max(plain, pairs(b, 40_000, 1))
			pipelined = max(pipelined, pairs(b, 120_000, 32))
		}
		b.ReportMetric(echo, "echo-pairs/s")
		b.ReportMetric(plain, "pairs/s")
		b.ReportMetric(pipelined, "pipelined-pairs/s")
		b.ReportMetric(plain/echo, "of-echo")
		b.ReportMetric(pipelined/plain, "of-plain")
	}
}

// BenchmarkIdleSessions measures the memory of a connected session that sends nothing:
// heap and stacks of the gate and the engine. The client's side is a bare connection,
// which takes almost no heap.
//
//	go test ./coordinator/gate/native -run '^$' -bench IdleSessions -benchtime 1x
func BenchmarkIdleSessions(b *testing.B) {
	const sessions = 9_000 // each takes two file descriptors of this process
	used := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc + m.StackInuse)
	}
	for b.Loop() {
		address := served(b)
		before := used()
		for n := range sessions {
			c, err := net.Dial("tcp", address)
			require.NoError(b, err)
			defer c.Close()
			hello := wire.Hello{Session: fmt.Sprint("idle-", n), Key: []byte("0123456789abcdef"), TTL: time.Minute}
			require.NoError(b, wire.Send(c, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, hello)}))
			_, err = c.Read(make([]byte, 5))
			require.NoError(b, err)
		}
		b.ReportMetric((used()-before)/sessions, "B/session")
	}
}
