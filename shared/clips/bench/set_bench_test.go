package bench_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/bench"
	"leasehold/shared/clips/bench/set"
)

// BenchmarkSet searches the first episode of a set that `leasehold clips bench` built. .ci/constants
// runs it once for each value of each constant.
func BenchmarkSet(b *testing.B) {
	if *ofSet == "" {
		b.Skip("needs -set FOLDER")
	}
	s, err := set.Load(*ofSet)
	require.NoError(b, err)
	for b.Loop() {
		f, err := bench.Run(b.Context(), s.Part(0, 1), "landmarks", func() bench.Method { return &bench.Landmarks{} }, 1, slog.New(slog.DiscardHandler))
		require.NoError(b, err)
		b.ReportMetric(float64(f.Groups[0].Hits), "found")
		b.ReportMetric(float64(f.Groups[0].Wrong), "wrong")
		b.ReportMetric(float64(f.Groups[0].Aside), "aside")
		b.ReportMetric(f.Match.Median, "cpu-s/hour")
		b.ReportMetric(0, "ns/op")
	}
}
