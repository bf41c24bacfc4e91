package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// pad makes an item take 200 bytes.
var pad = strings.Repeat("x", 180)

// benchmarked returns a space that holds n tuples made by other.
func benchmarked(b *testing.B, n int, other func(int) tuple.Tuple) space.Space {
	return filled(b, engine.Config{}, n, other)
}

// filled returns a space with n tuples that other makes.
func filled(b *testing.B, c engine.Config, n int, other func(int) tuple.Tuple) space.Space {
	r := session(b, run(b, c), "bench-1", 0)
	require.NoError(b, r.Create(context.Background(), "s", space.Options{}))
	s := r.Space("s")
	for i := range n {
		require.NoError(b, s.Put(context.Background(), other(i), 0))
	}
	return s
}

// BenchmarkPutGetP puts a tuple of 200 bytes and takes it again; the space holds
// others of the same signature meanwhile, or of another one.
//
//	go test ./shared/space/engine -run '^$' -bench PutGetP -benchmem -cpu 1
func BenchmarkPutGetP(b *testing.B) {
	same := func(n int) tuple.Tuple { return tuple.New("other", int64(n), pad) }
	for _, c := range []struct {
		name   string
		others int
		other  func(int) tuple.Tuple
		p      tuple.Template
	}{
		{"alone", 0, same, tuple.Match("item", tuple.AnyInt64, tuple.AnyString)},
		{"by kind among 100000 of its signature", 100_000, same, tuple.Match("item", tuple.AnyInt64, tuple.AnyString)},
		{"by key among 100000 of its signature", 100_000, same, tuple.Match(tuple.AnyString, int64(-7), tuple.AnyString)},
		{"among 100000 of another signature", 100_000, func(n int) tuple.Tuple { return tuple.New("other", n, pad) }, tuple.Match("item", tuple.AnyInt64, tuple.AnyString)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, ctx := benchmarked(b, c.others, c.other), context.Background()
			t := tuple.New("item", int64(-7), pad)
			b.ReportAllocs()
			runtime.GC()
			for b.Loop() {
				if err := s.Put(ctx, t, 0); err != nil {
					b.Fatal(err)
				}
				if _, ok, err := s.GetP(ctx, c.p); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
		})
	}
}

// BenchmarkSelective compares a put and a selective getP among 100,000 tuples of
// the same signature with the same among 100. The two take turns, 50 pairs each,
// and the medians are compared, so that other work on the machine does not count.
//
//	go test ./shared/space/engine -run '^$' -bench Selective -count 5
func BenchmarkSelective(b *testing.B) {
	same := func(n int) tuple.Tuple { return tuple.New("other", int64(n), pad) }
	few, many := benchmarked(b, 100, same), benchmarked(b, 100_000, same)
	runtime.GC()
	ctx, t := context.Background(), tuple.New("item", int64(-7), pad)
	for name, p := range map[string]tuple.Template{
		"by kind": tuple.Match("item", tuple.AnyInt64, tuple.AnyString),
		"by key":  tuple.Match(tuple.AnyString, int64(-7), tuple.AnyString),
	} {
		b.Run(name, func(b *testing.B) {
			took := map[space.Space][]time.Duration{}
			for b.Loop() {
				for _, s := range []space.Space{few, many} {
					start := time.Now()
					for range 50 {
						if err := s.Put(ctx, t, 0); err != nil {
							b.Fatal(err)
						}
						if _, ok, err := s.GetP(ctx, p); !ok || err != nil {
							b.Fatal(ok, err)
						}
					}
					took[s] = append(took[s], time.Since(start)/50)
				}
			}
			median := func(s space.Space) float64 {
				slices.Sort(took[s])
				return float64(took[s][len(took[s])/2])
			}
			b.ReportMetric(median(few), "ns/pair-among-100")
			b.ReportMetric(median(many), "ns/pair-among-100000")
			b.ReportMetric(median(many)/median(few), "times")
		})
	}
}

// BenchmarkWakeUp measures from before a put until the blocked get that it
// serves has returned.
//
//	go test ./shared/space/engine -run '^$' -bench WakeUp
func BenchmarkWakeUp(b *testing.B) {
	s, ctx := benchmarked(b, 0, nil), context.Background()
	t, p := tuple.New("item", int64(1), pad), tuple.Match("item", tuple.AnyInt64, tuple.AnyString)
	woken := make(chan time.Time)
	go func() {
		defer close(woken)
		for {
			got, err := s.Get(ctx, p)
			if err != nil || got.Int64(1) == 0 {
				return
			}
			woken <- time.Now()
		}
	}()
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		for range 50 {
			runtime.Gosched() // until the get waits
		}
		b.StartTimer()
		start := time.Now()
		if err := s.Put(ctx, t, 0); err != nil {
			b.Fatal(err)
		}
		took = append(took, (<-woken).Sub(start))
	}
	require.NoError(b, s.Put(ctx, tuple.New("item", int64(0), pad), 0))
	<-woken
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
}

// BenchmarkResident measures the heap that a tuple of 200 bytes takes in the engine,
// including an index by its key; and the same with the memory journal's copy.
//
//	go test ./shared/space/engine -run '^$' -bench Resident -benchtime 1x
func BenchmarkResident(b *testing.B) {
	const n = 100_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, j := range map[string]func() journal.Journal{
		"engine":                    func() journal.Journal { return forgetful{} },
		"engine and memory journal": func() journal.Journal { return &journal.Memory{} },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				s := filled(b, engine.Config{Journal: j()}, n, func(i int) tuple.Tuple {
					return tuple.New(fmt.Sprintf("item-%08d", i), int64(i), strings.Clone(pad))
				})
				_, _, err := s.QueryP(context.Background(), tuple.Match("item-00000001", tuple.AnyInt64, tuple.AnyString))
				require.NoError(b, err)
				b.ReportMetric(float64(heap()-before)/n, "B/tuple")
				runtime.KeepAlive(s)
			}
		})
	}
}

// forgetful is a journal that keeps nothing in memory, as one on a disk does.
type forgetful struct{ journal.Journal }

func (forgetful) Load(context.Context, func(journal.Fact) error) (journal.Standing, error) {
	return journal.Standing{}, nil
}

func (forgetful) Commit(context.Context, journal.Position, []journal.Record) error { return nil }

func (forgetful) Close() error { return nil }

// BenchmarkCall calls a procedure that puts and one that takes.
func BenchmarkCall(b *testing.B) {
	r := session(b, run(b, engine.Config{}), "bench-1", 0)
	ctx := context.Background()
	require.NoError(b, r.Create(ctx, "s", space.Options{}))
	args := tuple.New("s", tuple.New("item", int64(1)), int64(0), "", false)
	b.ReportAllocs()
	for b.Loop() {
		reply, err := r.Call(ctx, space.OpID{}, "test.put", args)
		if err == nil {
			_, err = r.Call(ctx, space.OpID{}, "test.take", reply)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
