package foreigntest

import (
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchClients is how many clients send requests at a time, one after the other.
const BenchClients = 8

// rounds is how often each server is measured, in turns.
const rounds = 7

// Accept runs serve for each connection until the benchmark ends, and returns the address.
// serve closes its connection.
func Accept(b *testing.B, serve func(net.Conn)) (address string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	var running sync.WaitGroup
	b.Cleanup(func() { _ = l.Close(); running.Wait() })
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(c) })
		}
	})
	return l.Addr().String()
}

// Compare measures the operations per second of two servers in turns, and reports the median of
// a gate and of its ratio to a server that does no work. In turns, because the speed of the
// machine changes.
func Compare(b *testing.B, gate, idle string, operations func(address string) float64) {
	b.Helper()
	var ratios, speeds []float64
	for range rounds {
		base := operations(idle)
		ours := operations(gate)
		ratios, speeds = append(ratios, ours/base), append(speeds, ours)
	}
	slices.Sort(ratios)
	slices.Sort(speeds)
	b.ReportMetric(ratios[rounds/2], "of-idle")
	b.ReportMetric(speeds[rounds/2], "ops/s")
	b.ReportMetric(0, "ns/op")
}
