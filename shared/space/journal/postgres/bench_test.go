package postgres_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/space/journal/postgres"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// item takes 200 bytes.
var item = tuple.New("item", int64(1), strings.Repeat("x", 180))

// on returns a space of an engine over a journal, until the benchmark ends.
func on(b *testing.B, j journal.Journal) space.Space {
	b.Helper()
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

// BenchmarkPut has writers put tuples, each waiting until its put is durable, over this driver and over Pebble in
// turns. The server syncs, and folds.
//
//	go test ./shared/space/journal/postgres -run '^$' -bench Put -benchtime 1x
func BenchmarkPut(b *testing.B) {
	s := pgserver.New(b, pgserver.Durable)
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			c := config(s.Database(b))
			c.FoldEvery = 0
			ours := on(b, open(b, c))
			p, err := pebble.Open(pebble.Config{Dir: filepath.Join(b.TempDir(), "journal"), FS: vfs.Default, Log: quiet})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, p.Close()) })
			theirs := on(b, p)
			var ratios, mine, other []float64
			for b.Loop() {
				for range 7 {
					o, t := rate(b, writers, ours), rate(b, writers, theirs)
					mine, other, ratios = append(mine, o), append(other, t), append(ratios, o/t)
				}
			}
			b.ReportMetric(median(mine), "puts/s")
			b.ReportMetric(median(other), "pebble-puts/s")
			b.ReportMetric(median(ratios), "ratio")
		})
	}
}

// BenchmarkPutFar has writers put tuples while the database is some time away: a put waits for the commit under way, and
// for the next one.
//
//	go test ./shared/space/journal/postgres -run '^$' -bench PutFar -benchtime 1x
func BenchmarkPutFar(b *testing.B) {
	s := pgserver.New(b, pgserver.Durable)
	for _, away := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("away=%s/writers=%d", away, writers), func(b *testing.B) {
				c := config(s.Database(b))
				c.FoldEvery = 0
				c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
					return far{conn, away}, err
				}
				ours := on(b, open(b, c))
				var all []float64
				for b.Loop() {
					for range 3 {
						all = append(all, rate(b, writers, ours))
					}
				}
				b.ReportMetric(median(all), "puts/s")
			})
		}
	}
}

// far is a connection over which an answer comes later than it would.
type far struct {
	net.Conn
	away time.Duration // there and back
}

func (f far) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	<-time.After(f.away)
	return n, err
}

// rate has writers put for two seconds, and returns how many puts a second.
func rate(b *testing.B, writers int, s space.Space) float64 {
	b.Helper()
	var working sync.WaitGroup
	start := time.Now()
	counts := make([]int, writers)
	for w := range writers {
		working.Go(func() {
			for time.Since(start) < 2*time.Second {
				if err := s.Put(context.Background(), item, 0); err != nil {
					b.Error(err)
					return
				}
				counts[w]++
			}
		})
	}
	working.Wait()
	all := 0
	for _, n := range counts {
		all += n
	}
	return float64(all) / time.Since(start).Seconds()
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// BenchmarkLoad loads a million tuples of 200 bytes, a hundredth of them from the log, and reports how long folding
// them took.
//
//	go test ./shared/space/journal/postgres -run '^$' -bench Load -benchtime 3x
func BenchmarkLoad(b *testing.B) {
	const tuples, batch = 1_000_000, 1000
	j := claimed(b, config(pgserver.New(b, pgserver.Durable).Database(b)))
	folding := time.Duration(0)
	for n := 0; n < tuples; n += batch {
		var r journal.Record
		for i := n; i < n+batch; i++ {
			r.Facts = append(r.Facts, &journal.Entry{Ref: int64(i + 1), Place: int64(i + 1), Space: "s", Tuple: item})
		}
		require.NoError(b, j.Commit(b.Context(), journal.Position(n/batch), []journal.Record{r}))
		if n%(tuples/10) == 0 || n == tuples*99/100 {
			began := time.Now()
			fold(b, j)
			folding += time.Since(began)
		}
	}
	left := rows(b, j, "log")
	for b.Loop() {
		count := 0
		_, err := j.Load(b.Context(), func(journal.Fact) error { count++; return nil })
		require.NoError(b, err)
		require.Equal(b, tuples, count)
	}
	b.ReportMetric(float64(left), "log-rows")
	b.ReportMetric(folding.Seconds(), "fold-s")
}

// fold folds the log to its end.
func fold(t testing.TB, j *postgres.Journal) {
	t.Helper()
	for rows(t, j, "log") > 0 {
		_, err := j.Fold(t.Context(), -1)
		require.NoError(t, err)
	}
}
