package landmark_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
)

const rate = 8000

func noise(seed uint64, n int, level float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(level * r.NormFloat64())
	}
	return x
}

// peaks returns the peaks of samples, which it pushes in pieces of that size.
func peaks(samples []float32, piece int) []landmark.Peak {
	var all []landmark.Peak
	p := landmark.NewPeaks()
	emit := func(k landmark.Peak) { all = append(all, k) }
	for from := 0; from < len(samples); from += piece {
		p.Push(samples[from:min(len(samples), from+piece)], emit)
	}
	p.Flush(emit)
	return all
}

// naive finds the peaks by their definition.
func naive(samples []float32) []landmark.Peak {
	var grid [][]float32
	spectrum.NewFrames().Push(samples, func(power []float32) { grid = append(grid, append([]float32(nil), power...)) })
	var all []landmark.Peak
	for f := range grid {
		for k := 4; k < spectrum.Bins; k++ {
			if isPeak(grid, f, k) {
				all = append(all, landmark.Peak{Frame: f, Bin: uint8(k), Power: grid[f][k]})
			}
		}
	}
	return all
}

func isPeak(grid [][]float32, f, k int) bool {
	for df := -8; df <= 8; df++ {
		for dk := -10; dk <= 10; dk++ {
			if f+df < 0 || f+df >= len(grid) || k+dk < 0 || k+dk >= spectrum.Bins {
				continue
			}
			if v := grid[f+df][k+dk]; v > grid[f][k] || df < 0 && v == grid[f][k] {
				return false
			}
		}
	}
	return grid[f][k] > 1.7e-5
}

func TestPeaksAreTheLoudestAround(t *testing.T) {
	t.Parallel()
	x := noise(1, 2*rate, .1)
	want := naive(x)
	require.Greater(t, len(want), 60)
	require.Equal(t, want, peaks(x, len(x)))
}

func TestPeaksDoNotDependOnThePieces(t *testing.T) {
	t.Parallel()
	x := noise(2, rate, .1)
	want := peaks(x, len(x))
	rapid.Check(t, func(t *rapid.T) {
		require.Equal(t, want, peaks(x, rapid.IntRange(1, 3*rate).Draw(t, "piece")))
	})
}

func TestSilenceAndDitherHaveNoPeaks(t *testing.T) {
	t.Parallel()
	require.Empty(t, peaks(make([]float32, rate), rate))
	require.Empty(t, peaks(noise(3, rate, 1.0/65536/4), rate))
	offset := make([]float32, rate)
	for i := range offset {
		offset[i] = .5
	}
	require.LessOrEqual(t, len(peaks(offset, rate)), 2, "an offset from zero begins and ends")
	require.Empty(t, peaks(make([]float32, 100), rate), "shorter than a frame")
}

func TestATonePeaksInItsBin(t *testing.T) {
	t.Parallel()
	x := make([]float32, rate)
	for i := range x {
		x[i] = float32(math.Sin(2*math.Pi*1000*float64(i)/rate) * math.Exp(-math.Pow(float64(i-rate/2)/1000, 2)))
	}
	got := peaks(x, rate)
	require.NotEmpty(t, got)
	loudest := got[0]
	for _, p := range got {
		if math.Abs(float64(p.Frame*spectrum.Hop+spectrum.Window/2-rate/2)) < spectrum.Hop {
			loudest = p
		}
	}
	require.Equal(t, uint8(64), loudest.Bin)
}

func TestLandmarksArePairsThatTheirHashTells(t *testing.T) {
	t.Parallel()
	x := noise(4, 2*rate, .1)
	at := map[[2]int]float32{} // the powers of the peaks
	for _, p := range peaks(x, rate) {
		at[[2]int{p.Frame, int(p.Bin)}] = p.Power
	}
	all, of := landmark.Of(x), landmark.PairsOf(x)
	require.Greater(t, len(all), 300)
	require.Len(t, of, len(all))
	pairs := map[[2]int]int{}
	for i, l := range all {
		first, second, frames := landmark.Bins(l.Hash)
		require.Equal(t, first == second, landmark.SameBin(l.Hash))
		require.Equal(t, l, of[i].Landmark())
		require.Positive(t, of[i].Power())
		require.Equal(t, min(at[[2]int{l.Frame, first}], at[[2]int{l.Frame + frames, second}]), of[i].Power())
		require.True(t, frames >= 2 && frames <= 63)
		require.True(t, i == 0 || all[i-1].Frame <= l.Frame, "in the order of time")
		require.Less(t, l.Hash, uint32(1)<<landmark.HashBits)
		pairs[[2]int{l.Frame, first}]++
	}
	for anchor, n := range pairs {
		require.LessOrEqual(t, n, 6, "%v", anchor)
	}
}

func TestLevelChangesNothing(t *testing.T) {
	t.Parallel()
	x := noise(5, rate, .1)
	quiet := make([]float32, len(x))
	for i, v := range x {
		quiet[i] = v / 16
	}
	require.Equal(t, landmark.Of(x), landmark.Of(quiet))
}

func BenchmarkLandmarks(b *testing.B) {
	x := noise(6, 60*rate, .1)
	n := 0
	for b.Loop() {
		n = len(landmark.Of(x))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*60, "s/hour")
	b.ReportMetric(float64(n)/60, "landmarks/s")
}

func TestPairsAreCompleteWhenTheirTimeHasPassed(t *testing.T) {
	t.Parallel()
	var pairs landmark.Pairs
	var all []landmark.Pair
	emit := func(p landmark.Pair) { all = append(all, p) }
	pairs.Push(landmark.Peak{Frame: 10, Bin: 50}, emit)
	pairs.Push(landmark.Peak{Frame: 20, Bin: 55}, emit)
	pairs.Pass(10+landmark.MaxFrames, emit)
	require.Empty(t, all, "a peak at the last frame may still come")
	pairs.Pass(10+landmark.MaxFrames+1, emit)
	require.Len(t, all, 1)
	require.Equal(t, 10, all[0].Landmark().Frame)
	pairs.Push(landmark.Peak{Frame: 21 + landmark.MaxFrames, Bin: 55}, emit)
	pairs.Flush(emit)
	require.Len(t, all, 1, "it is passed")
}
