package bench_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/process/platform"
)

// The benchmarks of scale need real sound, such as the clips of the built sets:
//
//	S=~/.cache/leasehold/bench/sets
//	go test ./shared/clips/bench -run '^$' -bench Scale -benchtime 1x -args -clips-of $S/report-18-v3 -search $S/dev-18-v3 -files $S/dev-1-v4/clips -clips 1000
//	go test ./shared/clips/bench -run '^$' -bench NewClip -benchtime 1x -args -clips-of $S/report-18-v3 -search $S/dev-18-v3 -hours 100 -unlike 10
//
// Without the folders they use a little noise.
var (
	clipsOf = flag.String("clips-of", "", "folder of recordings from which clips are cut")
	files   = flag.String("files", "", "folder of clips that BenchmarkScale takes as they are, in addition")
	search  = flag.String("search", "", "folder of recordings in which they are looked for")
	kept    = flag.String("index", "", "file in which the index of BenchmarkScale is kept for further runs; without it, it is built in each run")
	count   = flag.Int("clips", 100, "clips of BenchmarkScale")
	hours   = flag.Float64("hours", .05, "hours of known episodes for BenchmarkNewClip")
	unlike  = flag.Float64("unlike", 1e9, "after so many hours the known episodes are repeated as they are")
)

// recording is an episode on disk or in memory.
type recording interface {
	Len() int
	ReadAt(dst []float32, offset int) error
}

// episodes decodes the MP3s of a folder to unnamed files. Without a folder it returns a minute of noise.
func episodes(b *testing.B, folder string) (all []recording) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.mp3"))
	require.NoError(b, err)
	for _, f := range files {
		r, err := clips.Spool(b.Context(), f, "")
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, r.Close()) })
		all = append(all, r)
	}
	if folder == "" {
		all = append(all, exact.Samples(noise(rand.New(rand.NewPCG(1, 1)), 60*match.RateHz, .1)))
	}
	return all
}

// cuts builds an index of n pieces of 1 to 9 s from random places.
func cuts(b *testing.B, from []recording, n int) *index.Index {
	b.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	var clips index.Builder
	if *files != "" {
		n -= wholeClips(b, &clips, *files)
	}
	for i := range max(0, n) {
		x := from[r.IntN(len(from))]
		piece := make([]float32, match.RateHz+r.IntN(8*match.RateHz))
		require.NoError(b, x.ReadAt(piece, r.IntN(x.Len()-len(piece))))
		require.NoError(b, clips.Add(fmt.Sprint(i), piece))
	}
	x, err := clips.Build()
	require.NoError(b, err)
	return x
}

// wholeClips adds the clips of a folder.
func wholeClips(b *testing.B, x *index.Builder, folder string) (n int) {
	b.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(b, err)
	for _, f := range all {
		wave, err := clips.Load(b.Context(), f, exact.MaxClip)
		require.NoError(b, err)
		require.NoError(b, x.Add(filepath.Base(f), wave))
	}
	return len(all)
}

// resident returns the resident memory of the process, now and at its peak, in megabytes.
// It needs Linux, because it reads /proc.
func resident(b *testing.B) (now, most float64) {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(b, err)
	for line := range strings.Lines(string(status)) {
		for name, v := range map[string]*float64{"VmRSS:": &now, "VmHWM:": &most} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				_, err := fmt.Sscan(rest, v)
				require.NoError(b, err)
			}
		}
	}
	return now / 1000, most / 1000
}

// BenchmarkScale searches all episodes for clips that are not played in them. It builds the
// index, unless it is kept, writes it to a file and maps the file.
func BenchmarkScale(b *testing.B) {
	path, in := cmp.Or(*kept, filepath.Join(b.TempDir(), "clips.index")), episodes(b, *search)
	x, err := index.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		from := episodes(b, *clipsOf)
		began := platform.ProcessorTime()
		built := cuts(b, from, *count)
		indexing := platform.ProcessorTime() - began
		require.NoError(b, built.Write(path))
		require.NoError(b, built.Close())
		_, atIndex := resident(b)
		defer func() {
			b.ReportMetric(indexing.Seconds(), "cpu-s/index")
			b.ReportMetric(atIndex, "peak-MB/index")
		}()
		x, err = index.Open(path)
	}
	require.NoError(b, err)
	defer x.Close()
	plain := 0
	for i := range x.Clips() {
		if x.Plain(i) {
			plain++
		}
	}
	total := 0.0
	began := platform.ProcessorTime()
	for b.Loop() {
		for _, e := range in {
			require.NoError(b, match.Find(context.Background(), x, &wave{recording: e}, match.Options{}, func(match.Finding) error { return nil }))
			total += float64(e.Len()) / match.RateHz / 3600
		}
	}
	b.ReportMetric((platform.ProcessorTime()-began).Seconds()/total, "cpu-s/hour")
	b.ReportMetric(float64(plain), "plain-clips")
	now, most := resident(b)
	b.ReportMetric(now, "resident-MB")
	b.ReportMetric(most, "peak-MB")
}

// BenchmarkNewClip looks for one clip in known episodes. It adds other noise to each copy of
// the episodes of the folder until there are enough hours.
func BenchmarkNewClip(b *testing.B) {
	store, err := fingerprint.Open(b.TempDir(), 1<<40)
	require.NoError(b, err)
	in := episodes(b, *search)
	var keys []string
	kept := 0.0
	made := 0
	for r := rand.New(rand.NewPCG(3, 3)); kept < *hours; {
		if kept < *unlike {
			made++
		}
		n := len(keys) % made
		x, key := in[n%len(in)], fmt.Sprint(n)
		e, err := store.Get(key)
		require.NoError(b, err)
		if e == nil {
			e, err = store.Put(key, func(push func([]float32) error) error {
				y := make([]float32, x.Len())
				if err := x.ReadAt(y, 0); err != nil {
					return err
				}
				for i := range y {
					y[i] += .001 * float32(r.NormFloat64())
				}
				return push(y)
			})
			require.NoError(b, err)
		}
		kept += float64(e.Samples) / match.RateHz / 3600
		require.NoError(b, e.Close())
		keys = append(keys, key)
	}
	x := cuts(b, in, 1)
	found := 0
	began := platform.ProcessorTime()
	for b.Loop() {
		found = 0
		for _, key := range keys {
			e, err := store.Get(key)
			require.NoError(b, err)
			k := match.Known{Samples: e.Samples, Landmarks: e.Of, Sound: e}
			require.NoError(b, match.FindKnown(context.Background(), x, k, match.Options{}, func(match.Finding) error { found++; return nil }))
			require.NoError(b, e.Close())
		}
	}
	b.ReportMetric((platform.ProcessorTime()-began).Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(kept, "hours")
	b.ReportMetric(float64(found), "findings")
}

// wave is a recording as a match.Reader.
type wave struct {
	recording
	next int
}

func (w *wave) Read(dst []float32) (int, error) {
	n := min(len(dst), w.Len()-w.next)
	if n == 0 {
		return 0, io.EOF
	}
	err := w.ReadAt(dst[:n], w.next)
	w.next += n
	return n, err
}
