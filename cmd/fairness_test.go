package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// healthy puts and takes small tuples for a while, and returns the median duration of a pair and the number of refused
// calls.
func (f *floodFixture) healthy(c *floodClient, during time.Duration) (median time.Duration, refused, n int) {
	f.Helper()
	var all []time.Duration
	s, small := c.repo.Space("healthy"), tuple.New("small", int64(1))
	for end := time.Now().Add(during); time.Now().Before(end); n++ {
		began := time.Now()
		err := s.PutP(f.Context(), small, 0)
		if err == nil {
			_, _, err = s.GetP(f.Context(), tuple.Match("small", tuple.AnyInt64))
		}
		if err != nil {
			refused++
			continue
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0, refused, n
	}
	return all[len(all)/2], refused, n
}

// startFair starts a coordinator with a budget of memory, without a limit of the system, and opens a session of a
// healthy client. ctx ends before the sessions are closed.
func startFair(t testing.TB, memory string) (f *floodFixture, ctx context.Context, healthy *floodClient) {
	leasehold, dir := filepath.Join(realBinary(t), "leasehold"), t.TempDir()
	f = &floodFixture{TB: t}
	f.coordinatorProcess = startCoordinatorProcess(t, dir, leasehold, append(append([]string{"coordinator"}, anyPorts...), "--memory", memory)...)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() {
		stop()
		for _, c := range f.clients {
			c.close()
		}
		f.running.Wait()
	})
	c := f.dial("client")
	require.NoError(t, c.repo.Create(t.Context(), "healthy", space.Options{}))
	require.NoError(t, c.repo.Create(t.Context(), "flood", space.Options{}))
	return f, ctx, c
}

// With -v it prints the medians. They are not compared, because the machine may be busy.
func TestAnotherSessionIsServedDuringAFlood(t *testing.T) {
	f, ctx, c := startFair(t, "512MiB")
	flooder := f.dial("client")
	median, refused, n := f.healthy(c, 2*time.Second)
	t.Logf("quiet: median %s, %d of %d refused", median, refused, n)

	flooding, stopFlood := context.WithCancel(ctx)
	large := tuple.New("large", make([]byte, 200_000))
	for range 64 {
		f.running.Go(func() {
			s := flooder.repo.Space("flood")
			for flooding.Err() == nil {
				if s.PutP(flooding, large, 0) == nil {
					_, _, _ = s.GetP(flooding, tuple.Match("large", tuple.Formal{Type: tuple.Bytes}))
				}
			}
		})
	}
	<-time.After(time.Second)
	median, refused, n = f.healthy(c, 3*time.Second)
	t.Logf("64 parallel puts of 200 kB: median %s, %d of %d refused", median, refused, n)
	stopFlood()
	<-time.After(time.Second)

	refusals := make(chan struct{}, 16)
	for range 16 {
		f.running.Go(func() {
			s := flooder.repo.Space("flood")
			for told := false; ctx.Err() == nil; {
				if err := s.PutP(ctx, large, 0); errors.Is(err, fault.ErrOverloaded) && !told {
					told = true
					refusals <- struct{}{}
				}
			}
		})
	}
	<-refusals
	median, refused, n = f.healthy(c, 3*time.Second)
	require.Zero(t, refused, "a space that is filled leaves memory to others")
	t.Logf("the memory is filled: median %s, %d of %d refused", median, refused, n)
}

// Many calls that wait delay no call of another session.
func TestAnotherSessionIsServedWhileManyCallsWait(t *testing.T) {
	f, _, c := startFair(t, "2GiB")
	median, refused, n := f.healthy(c, 2*time.Second)
	t.Logf("quiet: median %s, %d of %d refused", median, refused, n)
	waiting := pourWaiters(f)
	median, refused, n = f.healthy(c, 3*time.Second)
	t.Logf("%d calls wait: median %s, %d of %d refused", waiting, median, refused, n)
}

// BenchmarkAnotherSession measures the median of a session's pairs of put and get, alone and beside each flood of a
// client of the same machine: calls that wait, up to the 90,000 that clients may have, and 64 puts of 200 kB at a time
// by another process. The ratios are of one run.
//
//	go test ./cmd -run '^$' -bench AnotherSession -benchtime 1x
func BenchmarkAnotherSession(b *testing.B) {
	for name, flood := range map[string]func(f *floodFixture) (stop func()){
		"waiters": func(f *floodFixture) func() {
			f.Logf("%d calls wait", pourWaiters(f))
			return func() {}
		},
		"puts_of_200_kB": func(f *floodFixture) func() { return f.startAttacker(largePuts.name, "0") },
	} {
		b.Run(name, func(b *testing.B) {
			f, _, c := startFair(b, "2GiB")
			alone, _, _ := f.healthy(c, 5*time.Second)
			b.Cleanup(flood(f))
			<-time.After(2 * time.Second) // it has begun
			beside, refused, n := f.healthy(c, 5*time.Second)
			b.ReportMetric(float64(alone.Microseconds())/1000, "alone-ms-p50")
			b.ReportMetric(float64(beside.Microseconds())/1000, "beside-ms-p50")
			b.ReportMetric(float64(beside)/float64(alone), "of-alone")
			b.ReportMetric(float64(refused)/float64(n), "refused-share")
			b.ReportMetric(0, "ns/op")
		})
	}
}
