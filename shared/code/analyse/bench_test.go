package analyse

import (
	"cmp"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/gosource"
	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/process/platform"
)

var (
	benchSeed   = flag.Uint64("bench.seed", 1, "seed of the choice of files")
	benchCorpus = flag.String("bench.corpus", "", "folder with the files of the benchmark; default: Go's own sources")
)

// sampled is a file of the corpus.
type sampled struct {
	name    string
	content []byte
}

// sampleCorpus returns about 32 MB of random files of the corpus whose names match.
func sampleCorpus(b *testing.B, match func(name string) bool) (files []sampled, bytes int64) {
	b.Helper()
	var names []string
	require.NoError(b, filepath.WalkDir(cmp.Or(*benchCorpus, gosource.Folder(b)), func(path string, e fs.DirEntry, err error) error {
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
		if code.SkipReason(content) != "" {
			continue
		}
		files = append(files, sampled{name, content})
		bytes += int64(len(content))
		if bytes > 32<<20 {
			break
		}
	}
	require.NotEmpty(b, files)
	return files, bytes
}

// BenchmarkIndex measures bytes per second of processor time, including ctags, from the content of
// files to segments on disk. The first case detects languages only; the others find symbols and
// count lines and complexity too.
func BenchmarkIndex(b *testing.B) {
	isGo := func(name string) bool { return filepath.Ext(name) == ".go" }
	isOther := func(name string) bool { return !isGo(name) }
	for _, c := range []struct {
		name  string
		match func(string) bool
		open  func() *Analyser // nil: languages only
	}{
		{"all-languages-only", func(string) bool { return true }, nil},
		{"go-symbols", isGo, func() *Analyser { return New("") }},
		{"others-rules", isOther, func() *Analyser { return New("") }},
		{"others-ctags", isOther, func() *Analyser { return withCtags(b) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			files, bytes := sampleCorpus(b, c.match)
			var spent time.Duration
			for b.Loop() {
				began := platform.ProcessorTime()
				indexFiles(b, files, c.open)
				spent += platform.ProcessorTime() - began
			}
			b.ReportMetric(float64(bytes)*float64(b.N)/1e6/spent.Seconds(), "MB/CPU-s")
			b.ReportMetric(float64(len(files)), "files")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// indexFiles writes segments of the files, in batches as workers do. The processes of ctags
// have ended when it returns, because only then is their processor time known.
func indexFiles(b *testing.B, files []sampled, open func() *Analyser) {
	dir := b.TempDir()
	var a *Analyser
	if open != nil {
		a = open()
	}
	var batch []code.Blob
	bytes := 0
	for i, f := range files {
		blob := code.Blob{OID: code.OIDOf(f.content), BlobInfo: code.BlobInfo{Size: int64(len(f.content))}, Content: f.content}
		if a == nil {
			blob.Lang = Language(f.name, f.content)
		} else {
			var err error
			blob, err = a.Blob(b.Context(), f.name, blob.OID, f.content)
			require.NoError(b, err)
		}
		batch, bytes = append(batch, blob), bytes+len(f.content)
		if bytes >= 8<<20 || len(batch) == 2000 || i == len(files)-1 {
			_, err := segment.Write(b.Context(), dir, batch, segment.Options{})
			require.NoError(b, err)
			batch, bytes = nil, 0
		}
	}
	if a != nil {
		require.NoError(b, a.Close())
	}
}
