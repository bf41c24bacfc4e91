package match_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
)

const second = match.RateHz

// noise makes n samples of low-passed noise, a sound that occurs only once.
func noise(seed uint64, n int, level float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	out, last := make([]float32, n), 0.0
	for i := range out {
		last = .8*last + r.NormFloat64()
		out[i] = float32(level * last * .6)
	}
	return out
}

// tune makes n samples of plucked notes with a click, one each 0.2 s, drawn by the seed.
func tune(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 3))
	out := make([]float32, n)
	for at := 0; at < n; at += second / 5 {
		hz := 200 * math.Pow(2, float64(r.IntN(36))/12)
		for i := at; i < min(n, at+second/2); i++ {
			t := float64(i-at) / second
			out[i] += float32(.1 * math.Exp(-30*t) * r.NormFloat64())
			for k := 1.0; k < 6; k++ {
				out[i] += float32(.1 / k * math.Exp(-4*k*t) * math.Sin(2*math.Pi*k*hz*t))
			}
		}
	}
	return out
}

// mix adds a clip to an episode.
func mix(episode, clip []float32, at int, gain float64) {
	for i, v := range clip {
		if k := at + i; k >= 0 && k < len(episode) {
			episode[k] += float32(gain) * v
		}
	}
}

// stream is an episode as a Reader that gives so many samples at a time.
type stream struct {
	samples []float32
	piece   int
}

func (s *stream) Read(dst []float32) (int, error) {
	if len(s.samples) == 0 {
		return 0, io.EOF
	}
	n := copy(dst[:min(len(dst), s.piece)], s.samples)
	s.samples = s.samples[n:]
	return n, nil
}

// indexed has clips named a, b, c and so on.
func indexed(t require.TestingT, clips ...[]float32) *index.Index {
	var b index.Builder
	for i, c := range clips {
		require.NoError(t, b.Add(string(rune('a'+i)), c))
	}
	x, err := b.Build()
	require.NoError(t, err)
	return x
}

// find returns all findings.
func find(t require.TestingT, x *index.Index, episode []float32, o match.Options) []match.Finding {
	var all []match.Finding
	err := match.Find(context.Background(), x, &stream{episode, 1 << 14}, o, func(f match.Finding) error {
		all = append(all, f)
		return nil
	})
	require.NoError(t, err)
	return all
}

// played is where clips begin, as "a@8000".
func played(found []match.Finding) []string {
	list := []string{}
	for _, f := range found {
		list = append(list, fmt.Sprintf("%s@%d", f.ID, f.Offset))
	}
	return list
}

// show is a minute of tune and noise, without clips.
func show(seconds int) []float32 {
	e := noise(99, seconds*second, .05)
	mix(e, tune(98, seconds*second), 0, .5)
	return e
}

func BenchmarkFind(b *testing.B) {
	var clips [][]float32
	for i := range 20 {
		clips = append(clips, tune(uint64(i), 4*second))
	}
	x, e := indexed(b, clips...), show(60)
	for i, c := range clips[:10] {
		mix(e, c, i*5*second, 1)
	}
	for b.Loop() {
		find(b, x, e, match.Options{})
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*60, "s/hour")
}
