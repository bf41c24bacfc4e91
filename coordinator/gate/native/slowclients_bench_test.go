package native_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// latency is the 99th percentile of a number of consecutive puts of one client.
func latency(b *testing.B, s space.Space, puts int) time.Duration {
	var all []time.Duration
	for range puts {
		began := time.Now()
		require.NoError(b, s.Put(b.Context(), tuple.New("a", int64(1)), 0))
		all = append(all, time.Since(began))
		_, _, err := s.GetP(b.Context(), tuple.Match("a", int64(1)))
		require.NoError(b, err)
	}
	slices.Sort(all)
	return all[len(all)*99/100]
}

// slow connects, sends one byte in ten seconds if sends is set, and else none, and
// reconnects when the gate has closed the connection, until ctx ends.
func slow(ctx context.Context, address string, sends bool) {
	for ctx.Err() == nil {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			continue
		}
		end := context.AfterFunc(ctx, func() { _ = c.Close() })
		for err == nil {
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if sends {
				_, _ = c.Write([]byte{'L'})
			}
			if _, err = c.Read(make([]byte, 1)); ctx.Err() == nil && isTimeout(err) {
				err = nil
			}
		}
		end()
		_ = c.Close()
	}
}

func isTimeout(err error) bool {
	t, ok := err.(net.Error)
	return ok && t.Timeout()
}

// BenchmarkSlowClients measures the 99th percentile of a healthy client's puts, alone and
// beside 2,000 slow connections, in turns, and reports the medians (fault 36).
//
//	go test ./coordinator/gate/native -run '^$' -bench SlowClients -benchtime 1x
func BenchmarkSlowClients(b *testing.B) {
	const connections, rounds, puts = 2000, 5, 20_000
	for b.Loop() {
		address := served(b)
		r := client(b, address, 0)
		require.NoError(b, r.Create(b.Context(), "s", space.Options{}))
		var alone, beside []time.Duration
		for range rounds {
			alone = append(alone, latency(b, r.Space("s"), puts))
			ctx, cancel := context.WithCancel(b.Context())
			var crowd sync.WaitGroup
			for i := range connections {
				crowd.Go(func() { slow(ctx, address, i%2 == 0) })
			}
			beside = append(beside, latency(b, r.Space("s"), puts))
			cancel()
			crowd.Wait()
		}
		slices.Sort(alone)
		slices.Sort(beside)
		b.ReportMetric(float64(alone[rounds/2].Microseconds()), "us-alone-p99")
		b.ReportMetric(float64(beside[rounds/2].Microseconds()), "us-beside-p99")
		b.ReportMetric(float64(beside[rounds/2])/float64(alone[rounds/2]), "of-alone")
	}
}
