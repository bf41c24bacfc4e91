package gospace_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "leasehold/gospace"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// BenchmarkOfEngine compares a put and a getP of a tuple of 200 bytes in a local space with the
// same on the engine. The two take turns of 50 pairs, and the medians are compared.
//
//	go test ./gospace -run '^$' -bench OfEngine -benchmem -cpu 1
func BenchmarkOfEngine(b *testing.B) {
	ctx, stop := context.WithCancel(context.Background())
	e, err := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}})
	require.NoError(b, err)
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	defer func() { stop(); require.NoError(b, <-done) }()
	r, err := e.Session(ctx, "bench", 0)
	require.NoError(b, err)
	require.NoError(b, r.Create(ctx, "s", space.Options{}))
	own, s := r.Space("s"), NewSpace("bench")
	defer s.Close()

	pad, p := strings.Repeat("x", 180), tuple.Match("item", tuple.AnyInt64, tuple.AnyString)
	item, n, text := tuple.New("item", int64(-7), pad), int64(0), ""
	var direct, through []time.Duration
	for b.Loop() {
		start := time.Now()
		for range 50 {
			if own.Put(ctx, item, 0) != nil {
				b.Fatal("put")
			}
			if _, ok, err := own.GetP(ctx, p); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
		middle := time.Now()
		for range 50 {
			if _, err := s.Put("item", int64(-7), pad); err != nil {
				b.Fatal(err)
			}
			if _, err := s.GetP("item", &n, &text); err != nil {
				b.Fatal(err)
			}
		}
		direct, through = append(direct, middle.Sub(start)), append(through, time.Since(middle))
	}
	slices.Sort(direct)
	slices.Sort(through)
	b.ReportMetric(float64(direct[len(direct)/2])/float64(through[len(through)/2]), "of-engine")
	b.ReportMetric(50/through[len(through)/2].Seconds(), "pairs/s")
}
