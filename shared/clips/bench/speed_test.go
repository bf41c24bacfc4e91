package bench_test

import (
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips"
	"leasehold/shared/clips/bench/set"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/resample"
)

// ofSet selects the set for BenchmarkSet, and for BenchmarkAnySpeed, which compares clips at speeds
// drawn from ±3 % with the same clips at their own speed:
//
//	go test ./shared/clips/bench -run '^$' -bench AnySpeed -benchtime 1x -args -set ~/.cache/leasehold/bench/sets/report-18-v3
var ofSet = flag.String("set", "", "folder of a built set")

// BenchmarkAnySpeed plays up to 400 clips without loops, each 6 dB louder than the background.
// It reports how many are found at other speeds, as a share of those found at their own speed.
func BenchmarkAnySpeed(b *testing.B) {
	var builder index.Builder
	var waves [][]float32
	under := noise(rand.New(rand.NewPCG(1, 1)), 60*match.RateHz, .1)
	if *ofSet == "" {
		for i := range 5 {
			waves = append(waves, noise(rand.New(rand.NewPCG(uint64(i), 2)), 2*match.RateHz, .1))
		}
	} else {
		s, err := set.Load(*ofSet)
		require.NoError(b, err)
		under, err = clips.Load(b.Context(), filepath.Join(*ofSet, s.Episodes[0].File), time.Hour)
		require.NoError(b, err)
		for _, c := range s.Clips {
			if c.DurationS <= 15 && !c.Loops && len(waves) < 400 {
				wave, err := clips.Load(b.Context(), s.Path(c.File), time.Minute)
				require.NoError(b, err)
				waves = append(waves, wave)
			}
		}
	}
	for _, w := range waves {
		require.NoError(b, builder.Add("", w))
	}
	x, err := builder.Build()
	require.NoError(b, err)
	for b.Loop() {
		r := rand.New(rand.NewPCG(77, 1))
		own, other := playedAt(b, x, waves, under, r, 0), playedAt(b, x, waves, under, r, .03)
		b.ReportMetric(float64(own), "found")
		b.ReportMetric(float64(other)/float64(own), "of-them-at-any-speed")
	}
}

// playedAt plays each clip at a speed drawn from 1±most, and returns the number of clips found.
func playedAt(b *testing.B, x *index.Index, waves [][]float32, under []float32, r *rand.Rand, most float64) int {
	b.Helper()
	var episode []float32
	begins := make([]int, len(waves))
	for i, w := range waves {
		// The rates have a common divisor of 10, so that the resampler's table stays small.
		rate := 10 * int(math.Round(match.RateHz/10*(1+most*(2*r.Float64()-1))))
		s, err := resample.New(rate, match.RateHz)
		require.NoError(b, err)
		w = s.Flush(s.Push(nil, w))
		at := r.IntN(len(under) - len(w) - match.RateHz)
		part := append([]float32(nil), under[at:at+len(w)+match.RateHz]...)
		scale := float32(math.Sqrt(meanPower(w)/(meanPower(part)+1e-12)) / 2) // 6 dB
		for k := range part {
			part[k] *= scale
		}
		for k, v := range w {
			part[match.RateHz/2+k] += v
		}
		begins[i] = len(episode) + match.RateHz/2
		episode = append(episode, part...)
	}
	found := map[int]bool{}
	err := match.Find(b.Context(), x, &whole{episode}, match.Options{}, func(f match.Finding) error {
		if d := f.Offset - begins[f.Clip]; d > -match.RateHz/4 && d < match.RateHz/4 {
			found[f.Clip] = true
		}
		return nil
	})
	require.NoError(b, err)
	return len(found)
}

func meanPower(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum / float64(len(x))
}

// whole is an episode in memory as a match.Reader.
type whole struct{ rest []float32 }

func (w *whole) Read(dst []float32) (int, error) {
	n := copy(dst, w.rest)
	w.rest = w.rest[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
