//go:build linux

package pebble_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// What a run of the comparison is.
const (
	users   = 16 // producers, and as many takers
	repeats = 7
	pairs   = 8_000
)

// pad makes an item take 200 bytes.
var pad = strings.Repeat("x", 180)

// BenchmarkDurable has producers put tuples and takers take them, each waiting until its change is durable, over the
// journal and over a bare log in turns.
//
//	go test ./shared/space/journal/pebble -run '^$' -bench Durable -benchtime 1x
func BenchmarkDurable(b *testing.B) {
	s := onDisk(b)
	l := newBareLog(b, filepath.Join(b.TempDir(), "log"))
	record := make([]byte, 200)
	var ratios, ours, bare []float64
	for b.Loop() {
		for range repeats {
			handed := make(chan struct{}, pairs)
			most := rate(b, func() error { handed <- struct{}{}; return l.append(record) },
				func() error { <-handed; return l.append(record[:20]) })
			mine := rate(b, func() error { return s.Put(context.Background(), tuple.New("item", int64(1), pad), 0) },
				func() error { _, err := s.Get(context.Background(), anyItem); return err })
			ratios, ours, bare = append(ratios, mine/most), append(ours, mine), append(bare, most)
		}
	}
	b.ReportMetric(median(ours), "pairs/s")
	b.ReportMetric(median(bare), "bare-pairs/s")
	b.ReportMetric(median(ratios), "ratio")
}

// BenchmarkDurableWakeUp measures from before a put until the blocked get that
// it serves has returned, both durable.
//
//	go test ./shared/space/journal/pebble -run '^$' -bench DurableWakeUp -benchtime 2000x
func BenchmarkDurableWakeUp(b *testing.B) {
	s, ctx := onDisk(b), context.Background()
	woken := make(chan time.Time)
	go func() {
		defer close(woken)
		for {
			if got, err := s.Get(ctx, anyItem); err != nil || got.Int64(1) == 0 {
				return
			}
			woken <- time.Now()
		}
	}()
	var took []float64
	for b.Loop() {
		start := time.Now()
		require.NoError(b, s.Put(ctx, tuple.New("item", int64(1), pad), 0))
		took = append(took, float64((<-woken).Sub(start).Microseconds()))
	}
	require.NoError(b, s.Put(ctx, tuple.New("item", int64(0), pad), 0))
	<-woken
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-µs")
	b.ReportMetric(took[len(took)*99/100], "p99-µs")
}

// BenchmarkRestart opens an engine on a million tuples of 200 bytes.
//
//	go test ./shared/space/journal/pebble -run '^$' -bench Restart -benchtime 3x
func BenchmarkRestart(b *testing.B) {
	const tuples, batch = 1_000_000, 1000
	at := filepath.Join(b.TempDir(), "journal")
	j := open(b, pebble.Config{Dir: at})
	require.NoError(b, j.Commit(b.Context(), 0, []journal.Record{{Facts: []journal.Fact{&journal.Space{Name: "s"}}}}))
	for n := 0; n < tuples; n += batch {
		var r journal.Record
		for i := n; i < n+batch; i++ {
			r.Facts = append(r.Facts, &journal.Entry{Ref: int64(i + 1), Place: int64(i + 1), Space: "s", Tuple: tuple.New(fmt.Sprintf("item-%08d", i), int64(i), pad)})
		}
		require.NoError(b, j.Commit(b.Context(), journal.Position(1+n/batch), []journal.Record{r}))
	}
	require.NoError(b, j.Close())
	for b.Loop() {
		j := open(b, pebble.Config{Dir: at})
		e, err := engine.Open(b.Context(), engine.Config{Journal: j, Procedures: spacetest.Procedures(), Log: quiet})
		require.NoError(b, err)
		b.StopTimer()
		require.NotNil(b, e)
		require.NoError(b, j.Close())
		b.StartTimer()
	}
}

var anyItem = tuple.Match("item", tuple.AnyInt64, tuple.AnyString)

// onDisk is a space of an engine over a journal on this machine's disk.
func onDisk(b *testing.B) space.Space {
	j := open(b, pebble.Config{Dir: filepath.Join(b.TempDir(), "journal"), FS: vfs.Default})
	e, err := engine.Open(b.Context(), engine.Config{Journal: j, Procedures: spacetest.Procedures(), Log: quiet})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	b.Cleanup(func() { cancel(); require.NoError(b, <-done) })
	r, err := e.Session(b.Context(), "bench-1", 0)
	require.NoError(b, err)
	require.NoError(b, r.Create(b.Context(), "s", space.Options{}))
	return r.Space("s")
}

// rate has users put and users take, and returns how many pairs a second.
func rate(b *testing.B, put, take func() error) float64 {
	b.Helper()
	var working sync.WaitGroup
	start := time.Now()
	for range users {
		for _, do := range []func() error{put, take} {
			working.Go(func() {
				for range pairs / users {
					if err := do(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
	}
	working.Wait()
	return pairs / time.Since(start).Seconds()
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
