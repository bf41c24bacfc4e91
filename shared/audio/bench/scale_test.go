package bench_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio"
	"leasehold/shared/audio/fingerprint"
	"leasehold/shared/audio/index"
	"leasehold/shared/audio/match"
)

// The measurements of scale want real sound, such as that of the built sets:
//
//	S=~/.cache/leasehold/bench/sets
//	go test ./shared/audio/bench -run '^$' -bench Scale -benchtime 1x -args -clips-of $S/report-2-v2 -search $S/dev-1-v2 -clips 10000
//	go test ./shared/audio/bench -run '^$' -bench NewClip -benchtime 1x -args -clips-of $S/report-2-v2 -search $S/dev-1-v2 -hours 100
//
// Without the folders they do with a little noise.
var (
	clipsOf = flag.String("clips-of", "", "folder of recordings of which clips are cut")
	search  = flag.String("search", "", "folder of recordings in which they are looked for")
	most    = flag.Int("clips", 100, "clips of BenchmarkScale at most; a tenth of them is measured, too")
	hours   = flag.Float64("hours", .05, "hours of known episodes for BenchmarkNewClip")
)

// episodes loads the MP3s of a folder, or makes noise.
func episodes(b *testing.B, folder string) (all [][]float32) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.mp3"))
	require.NoError(b, err)
	for _, f := range files {
		x, err := audio.Load(b.Context(), f, 24*time.Hour)
		require.NoError(b, err)
		all = append(all, x)
	}
	if folder == "" {
		all = append(all, noise(rand.New(rand.NewPCG(1, uint64(len(folder)))), 60*match.RateHz, .1))
	}
	return all
}

// cuts indexes pieces of 1 to 9 s.
func cuts(b *testing.B, from [][]float32, n int) *index.Index {
	b.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	var clips index.Builder
	for i := range n {
		x := from[r.IntN(len(from))]
		length := match.RateHz + r.IntN(8*match.RateHz)
		at := r.IntN(len(x) - length)
		require.NoError(b, clips.Add(fmt.Sprint(i), x[at:at+length]))
	}
	x, err := clips.Build()
	require.NoError(b, err)
	return x
}

// cpu is the CPU time of this process, user and system.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is what the process holds, in megabytes; it is told by Linux.
func resident(b *testing.B) (mb float64) {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(b, err)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, err := fmt.Sscan(rest, &mb)
			require.NoError(b, err)
		}
	}
	return mb / 1000
}

// BenchmarkScale searches all episodes for more and more clips, of which none is played.
func BenchmarkScale(b *testing.B) {
	counts := []int{*most / 10, *most}
	from := episodes(b, *clipsOf)
	in := episodes(b, *search)
	for _, n := range counts {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			began := cpu(b)
			x := cuts(b, from, n)
			built := cpu(b) - began
			path := filepath.Join(b.TempDir(), "clips.index")
			require.NoError(b, x.Write(path))
			x, err := index.Open(path)
			require.NoError(b, err)
			defer x.Close()
			total := 0.0
			began = cpu(b)
			for b.Loop() {
				for _, e := range in {
					rest := wave(e)
					require.NoError(b, match.Find(context.Background(), x, &rest, match.Options{}, func(match.Finding) error { return nil }))
					total += float64(len(e)) / match.RateHz / 3600
				}
			}
			b.ReportMetric((cpu(b)-began).Seconds()/total, "cpu-s/hour")
			b.ReportMetric(built.Seconds(), "cpu-s/index")
			b.ReportMetric(resident(b), "resident-MB")
		})
	}
}

// BenchmarkNewClip looks for one clip in known episodes: those there are, each time under
// other noise, until there are enough hours.
func BenchmarkNewClip(b *testing.B) {
	store, err := fingerprint.Open(b.TempDir(), 1<<40)
	require.NoError(b, err)
	in := episodes(b, *search)
	var keys []string
	kept := 0.0
	for r := rand.New(rand.NewPCG(3, 3)); kept < *hours; {
		x := in[len(keys)%len(in)]
		key := fmt.Sprint(len(keys))
		e, err := store.Put(key, func(push func([]float32) error) error {
			y := make([]float32, len(x))
			for i, v := range x {
				y[i] = v + .001*float32(r.NormFloat64())
			}
			return push(y)
		})
		require.NoError(b, err)
		kept += float64(e.Samples) / match.RateHz / 3600
		require.NoError(b, e.Close())
		keys = append(keys, key)
	}
	x := cuts(b, in, 1)
	found := 0
	began := cpu(b)
	for b.Loop() {
		found = 0
		for _, key := range keys {
			e, err := store.Get(key)
			require.NoError(b, err)
			k := match.Known{Samples: e.Samples, Landmarks: e.All(), Sound: e}
			require.NoError(b, match.FindKnown(context.Background(), x, k, match.Options{}, func(match.Finding) error { found++; return nil }))
			require.NoError(b, e.Close())
		}
	}
	b.ReportMetric((cpu(b)-began).Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(kept, "hours")
	b.ReportMetric(float64(found), "findings")
}

// wave is an episode as a match.Reader.
type wave []float32

func (w *wave) Read(dst []float32) (int, error) {
	n := copy(dst, *w)
	*w = (*w)[n:]
	if len(*w) == 0 {
		return n, io.EOF
	}
	return n, nil
}
