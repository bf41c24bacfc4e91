package versus

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

const (
	clients = 8
	repeats = 7
	lasts   = 1500 * time.Millisecond // duration of one measurement of one server
)

// BenchmarkVersus compares items per second.
func BenchmarkVersus(b *testing.B) {
	program := filepath.Join(b.TempDir(), "leasehold")
	require.NoError(b, binary.Build(program))
	b.Run("durable", func(b *testing.B) {
		compare(b, leasehold(b, program, "pebble"), redis(b, true), beanstalkd(b))
	})
	b.Run("memory", func(b *testing.B) {
		compare(b, leasehold(b, program, "memory"), redis(b, false))
	})
}

// compare measures the servers in turns and reports the ratio of the first to the best of
// the others, by medians.
func compare(b *testing.B, servers ...server) {
	all := make([][]client, len(servers))
	for i, s := range servers {
		for n := range clients {
			all[i] = append(all[i], s.dial(n))
		}
	}
	for b.Loop() {
		rates, costs := make([][]float64, len(servers)), make([]cost, len(servers))
		for range repeats {
			for i, s := range servers {
				before := costOf(b, s.pid)
				items, took := measure(b, all[i])
				rates[i] = append(rates[i], float64(items)/took.Seconds())
				costs[i].add(before, costOf(b, s.pid), items)
			}
		}
		best := 0.0
		for i, s := range servers {
			slices.Sort(rates[i])
			median := rates[i][repeats/2]
			b.Logf("%-24s %7.0f items/s (%.0f to %.0f); of an item: %s", s.name, median, rates[i][0], rates[i][repeats-1], costs[i])
			if i > 0 {
				best = max(best, median)
			}
		}
		b.ReportMetric(rates[0][repeats/2], "items/s")
		b.ReportMetric(rates[0][repeats/2]/best, "of-best")
	}
}

// measure returns the number of items of all clients, and the duration.
func measure(b *testing.B, all []client) (int64, time.Duration) {
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
	return items.Load(), time.Since(began)
}
