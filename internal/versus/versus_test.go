package versus

import (
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	clients = 8
	repeats = 7
	lasts   = 1500 * time.Millisecond // one turn of one server
)

// BenchmarkVersus compares items per second.
func BenchmarkVersus(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "leasehold")
	out, err := exec.Command("go", "build", "-o", binary, "leasehold").CombinedOutput()
	require.NoError(b, err, string(out))
	b.Run("durable", func(b *testing.B) {
		compare(b, leasehold(b, binary, "pebble"), redis(b, true), beanstalkd(b))
	})
	b.Run("memory", func(b *testing.B) {
		compare(b, leasehold(b, binary, "memory"), redis(b, false))
	})
}

// compare lets the servers take turns, and reports what the first reaches of the
// best of the others, by medians.
func compare(b *testing.B, servers ...server) {
	all := make([][]client, len(servers))
	for i, s := range servers {
		for n := range clients {
			all[i] = append(all[i], s.dial(n))
		}
	}
	for b.Loop() {
		rates := make([][]float64, len(servers))
		for range repeats {
			for i := range servers {
				rates[i] = append(rates[i], measure(b, all[i]))
			}
		}
		best := 0.0
		for i, s := range servers {
			slices.Sort(rates[i])
			median := rates[i][repeats/2]
			b.Logf("%-24s %7.0f items/s (%.0f to %.0f)", s.name, median, rates[i][0], rates[i][repeats-1])
			if i > 0 {
				best = max(best, median)
			}
		}
		b.ReportMetric(rates[0][repeats/2], "items/s")
		b.ReportMetric(rates[0][repeats/2]/best, "of-best")
	}
}

// measure returns the items per second of all clients together.
func measure(b *testing.B, all []client) float64 {
	b.Helper()
	var items atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for _, c := range all {
		running.Go(func() {
			for time.Since(began) < lasts {
				if err := c.turn(); err != nil {
					b.Error(err)
					return
				}
				items.Add(1)
			}
		})
	}
	running.Wait()
	return float64(items.Load()) / time.Since(began).Seconds()
}
