package analyse

import (
	"flag"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/codesearch"
	"leasehold/shared/platform"
)

var (
	benchSeed   = flag.Uint64("bench.seed", 1, "seed of the choice of files")
	benchCorpus = flag.String("bench.corpus", filepath.Join(build.Default.GOROOT, "src"), "folder with the files of the benchmark")
)

// sampled is a file of the corpus.
type sampled struct {
	name    string
	content []byte
}

// sampleCorpus returns 10 to 12 MB of random files of the corpus whose names match.
func sampleCorpus(b *testing.B, match func(name string) bool) (files []sampled, bytes int64) {
	b.Helper()
	var names []string
	require.NoError(b, filepath.WalkDir(*benchCorpus, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && match(path) {
			names = append(names, path)
		}
		return err
	}))
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(*benchSeed, 0))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(b, err)
		if codesearch.SkipReason(content) != "" {
			continue
		}
		files = append(files, sampled{name, content})
		if bytes += int64(len(content)); bytes > 10<<20 {
			break
		}
	}
	require.NotEmpty(b, files)
	return files, bytes
}

// BenchmarkAnalyse measures bytes per second of processor time, with one goroutine: the
// time of ctags, a process of its own, is in ns/op and B/s, and not in MB/CPU-s.
func BenchmarkAnalyse(b *testing.B) {
	isGo := func(name string) bool { return filepath.Ext(name) == ".go" }
	for _, c := range []struct {
		name  string
		ctags bool
		match func(string) bool
	}{
		{"go", false, isGo},
		{"others-rules", false, func(name string) bool { return !isGo(name) }},
		{"others-ctags", true, func(name string) bool { return !isGo(name) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			files, bytes := sampleCorpus(b, c.match)
			a := New("")
			if c.ctags {
				a = withCtags(b)
			}
			b.SetBytes(bytes)
			began := platform.ProcessorTime()
			for b.Loop() {
				for _, f := range files {
					_, err := a.Blob(b.Context(), f.name, "", f.content)
					require.NoError(b, err)
				}
			}
			b.ReportMetric(float64(bytes)*float64(b.N)/1e6/(platform.ProcessorTime()-began).Seconds(), "MB/CPU-s")
			b.ReportMetric(float64(len(files)), "files")
		})
	}
	b.Run("language", func(b *testing.B) {
		files, bytes := sampleCorpus(b, func(string) bool { return true })
		b.SetBytes(bytes)
		for b.Loop() {
			for _, f := range files {
				Language(f.name, f.content)
			}
		}
		b.ReportMetric(float64(len(files)*b.N)/b.Elapsed().Seconds(), "files/s")
	})
}
