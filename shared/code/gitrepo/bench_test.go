package gitrepo

import (
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/gosource"
	"leasehold/shared/process/platform"
)

// BenchmarkCopy copies the sources of Go from a folder and over HTTP, lists and reads them. It
// measures the processor time of this process, git and the server, and the peak memory of this
// process.
func BenchmarkCopy(b *testing.B) {
	r := newRepo(b)
	out, err := exec.Command("cp", "-r", gosource.Folder(b), r.dir).CombinedOutput()
	require.NoError(b, err, "%s", out)
	r.commit(nil)
	r.git("repack", "-q", "-a", "-d")
	server := serveGit(b, r.dir, "", "").URL + "/.git"
	for _, lib := range []bool{false, true} {
		for from, uri := range map[string]string{"folder": r.dir, "http": server} {
			b.Run(map[bool]string{false: "git", true: "library"}[lib]+"/"+from, func(b *testing.B) {
				for range b.N {
					measureCopy(b, mirrorOf(b, openStore(b, Config{Library: lib}), uri))
				}
			})
		}
	}
}

func measureCopy(b *testing.B, m *Mirror) {
	stop := watchMemory(b)
	began := platform.ProcessorTime()
	branches, err := m.Fetch(b.Context(), Wanted{})
	require.NoError(b, err)
	b.ReportMetric((platform.ProcessorTime() - began).Seconds(), "fetch-cpu-s")
	began = platform.ProcessorTime()
	files, err := m.Files(b.Context(), branches[0].Commit)
	require.NoError(b, err)
	b.ReportMetric((platform.ProcessorTime() - began).Seconds(), "list-cpu-s")
	var oids []string
	for _, f := range files {
		oids = append(oids, f.OID)
	}
	began = platform.ProcessorTime()
	var bytes int
	require.NoError(b, m.Blobs(b.Context(), oids, 8<<20, func(_ string, content []byte, err error) error {
		bytes += len(content)
		return nil
	}))
	b.ReportMetric(float64(bytes)/1e6, "MB")
	b.ReportMetric(float64(bytes)/1e6/(platform.ProcessorTime()-began).Seconds(), "read-MB/cpu-s")
	b.ReportMetric(stop(), "peak-MB")
	b.ReportMetric(0, "ns/op")
}

// watchMemory samples the memory of this process, and returns the function that ends it and
// returns its growth.
func watchMemory(b *testing.B) (stop func() float64) {
	b.Helper()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	before := s.HeapInuse + s.StackInuse
	var peak atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				peak.Store(max(peak.Load(), s.HeapInuse+s.StackInuse))
			}
		}
	}()
	return func() float64 {
		close(done)
		<-ended
		return float64(max(peak.Load(), before)-before) / 1e6
	}
}
