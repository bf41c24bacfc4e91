package embedded_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
	"leasehold/shared/process/platform"
)

const mb = 1e6

// index puts the batches of c and merges until nothing is left to merge, and returns the
// processor time of both parts.
func index(b *testing.B, c *corpus, x *embedded.Index) (put, merge time.Duration) {
	began := platform.ProcessorTime()
	c.indexed(b, x)
	put = platform.ProcessorTime() - began
	for {
		merged, err := x.Merge(b.Context())
		require.NoError(b, err)
		if !merged {
			return put, platform.ProcessorTime() - began - put
		}
	}
}

// BenchmarkIndexing measures processor time and size, raw and compressed, and the same with
// SQLite's trigram index on a part of the corpus.
func BenchmarkIndexing(b *testing.B) {
	c := benchmarkCorpus(b)
	for _, o := range []embedded.Options{{}, {Compress: true}} {
		b.Run(fmt.Sprintf("compress=%v", o.Compress), func(b *testing.B) {
			for range b.N {
				x := open(b, o)
				put, merge := index(b, c, x)
				files, symbols := x.Size()
				b.ReportMetric(float64(c.bytes)/mb, "MB-text")
				b.ReportMetric(float64(c.bytes)/mb/put.Seconds(), "MB/cpu-s")
				b.ReportMetric(float64(c.bytes)/mb/(put+merge).Seconds(), "MB/cpu-s-merged")
				b.ReportMetric(float64(files-symbols)/float64(c.bytes), "index/text")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
	b.Run("sqlite-fts5-trigram", func(b *testing.B) {
		for range b.N {
			n, spent := fts5(b, c, 17<<20)
			b.ReportMetric(float64(n)/mb, "MB-text")
			b.ReportMetric(float64(n)/mb/spent.Seconds(), "MB/cpu-s")
			b.ReportMetric(0, "ns/op")
		}
	})
}

// fts5 indexes limit bytes of the corpus, from random places, with SQLite.
func fts5(b *testing.B, c *corpus, limit int) (bytes int, spent time.Duration) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "fts.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	require.NoError(b, err)
	defer db.Close()
	_, err = db.ExecContext(b.Context(), `CREATE VIRTUAL TABLE t USING fts5(body, tokenize = 'trigram case_sensitive 0')`)
	require.NoError(b, err)
	random := rand.New(rand.NewPCG(*corpusSeed, 0))
	began := platform.ProcessorTime()
	tx, err := db.BeginTx(b.Context(), nil)
	require.NoError(b, err)
	for _, i := range random.Perm(len(c.blobs)) {
		content := c.blobs[i].Content
		if bytes >= limit {
			break
		}
		if code.SkipReason(content) == "" {
			_, err := tx.ExecContext(b.Context(), `INSERT INTO t (body) VALUES (?)`, string(content))
			require.NoError(b, err)
			bytes += len(content)
		}
	}
	require.NoError(b, tx.Commit())
	return bytes, platform.ProcessorTime() - began
}

// BenchmarkFirst50 measures the time until 50 results, or all, are there, while batches are
// indexed and merged.
func BenchmarkFirst50(b *testing.B) {
	c := benchmarkCorpus(b)
	for _, o := range []embedded.Options{{}, {Compress: true}} {
		x := open(b, o)
		index(b, c, x)
		for _, searchers := range []int{1, 8} {
			b.Run(fmt.Sprintf("compress=%v/searchers=%d", o.Compress, searchers), func(b *testing.B) {
				for range b.N {
					all := searchWhileIndexing(b, x, searchers)
					slices.Sort(all)
					b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// searchWhileIndexing runs all committed queries ten times in each of several searchers,
// while new blobs are put and merged, and returns the times.
func searchWhileIndexing(b *testing.B, x *embedded.Index, searchers int) []time.Duration {
	ctx, stop := context.WithCancel(b.Context())
	var indexing sync.WaitGroup
	indexing.Go(func() {
		random := rand.New(rand.NewPCG(*corpusSeed, uint64(time.Now().UnixNano())))
		for n := 0; ctx.Err() == nil; n++ {
			g := newCorpus("more")
			seen := map[code.OID]bool{}
			for range 200 {
				text := make([]byte, 0, 20<<10)
				for range 400 {
					text = fmt.Appendf(text, "func f%x() { return %d }\n", random.Uint64(), random.IntN(1000))
				}
				g.add("f", text, seen)
			}
			_ = x.PutBlobs(ctx, "more", g.blobs) // it fails when the searches have ended
			_, _ = x.Merge(ctx)
		}
	})
	var mu sync.Mutex // guards all
	var all []time.Duration
	var group sync.WaitGroup
	for n := range searchers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(*corpusSeed, uint64(n)))
			for range 10 {
				queries := committedQueries(b)
				random.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
				for _, q := range queries {
					took := first50(b, x, q.query())
					mu.Lock()
					all = append(all, took)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	stop()
	indexing.Wait()
	return all
}

func first50(b testing.TB, x *embedded.Index, query string) time.Duration {
	q, err := code.Parse(query)
	require.NoError(b, err)
	began := time.Now()
	_, err = x.Search(b.Context(), q, code.Options{Limit: 50}, func(code.Match) bool { return true })
	require.NoError(b, err)
	return time.Since(began)
}

// BenchmarkQueries measures each committed query by itself: the first 50 results, and all.
func BenchmarkQueries(b *testing.B) {
	c := benchmarkCorpus(b)
	x := open(b, embedded.Options{})
	index(b, c, x)
	for _, q := range committedQueries(b) {
		for _, limit := range []int{50, 0} {
			b.Run(fmt.Sprintf("%s_%s/limit=%d", q.options, q.pattern, limit), func(b *testing.B) {
				parsed, err := code.Parse(q.query())
				require.NoError(b, err)
				matches := 0
				for b.Loop() {
					stats, err := x.Search(b.Context(), parsed, code.Options{Limit: limit, Timeout: time.Minute}, func(code.Match) bool { return true })
					require.NoError(b, err)
					matches = stats.Matches
				}
				b.ReportMetric(float64(matches), "matches")
			})
		}
	}
}

// BenchmarkLinesEqualGrep compares all matching lines of the corpus with grep's, for each
// committed query. The corpus must be one folder: -corpus.dirs.
func BenchmarkLinesEqualGrep(b *testing.B) {
	c := benchmarkCorpus(b)
	dir := *corpusDirs
	if dir == "" {
		dir = filepath.Dir(c.manifest.Files[0].Path)
	}
	x := open(b, embedded.Options{})
	index(b, c, x)
	for range b.N {
		requireGrep(b, dir, c, x, dir)
	}
}
