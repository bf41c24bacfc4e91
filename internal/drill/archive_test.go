//go:build browser && linux

package drill

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	run "leasehold/internal/binary"
	"leasehold/models"
)

// archiveFaults returns the faults with their state as at the start.
func archiveFaults() []fault {
	return []fault{
		origins(models.CauseHostRests, []string{"/a.xml", "/b.xml"}, func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}),
		origins(models.CauseDisabled, []string{"/a.xml"}, func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone) }),
		episodes(),
		incompleteIndex(),
		{alone: true, cause: models.CauseNoManager, begin: func(r *rig) {
			r.run("origin", "add", filepath.Dir(r.write("clips/quiet.wav", wave(9000))), "--kind", "clips")
			pass(30 * time.Second) // so long a manager may be away
		}},
		{
			cause: models.CauseBadClips,
			begin: func(r *rig) {
				r.start(program, "manager")
				r.start(program, "worker")
				r.run("origin", "add", filepath.Dir(r.write("clips/quiet.wav", wave(0))), "--kind", "clips")
				run.Eventually(r.T, "the clip has a problem", func() bool { return strings.Contains(r.run("findings", "--problems"), "quiet") })
			},
			repair: func(r *rig) { r.write("clips/quiet.wav", wave(9000)) },
		},
	}
}

// incompleteIndex is the fault that a segment of the index is gone while its repository cannot be visited.
func incompleteIndex() fault {
	var folder string
	return fault{
		cause: models.CauseIndex,
		alone: true,
		begin: func(r *rig) {
			manager, worker := r.start(program, "manager"), r.start(program, "worker")
			folder = r.repository()
			r.run("origin", "add", folder)
			run.Eventually(r.T, "the repository is indexed", func() bool { return strings.Contains(r.try("search", "greeting"), "hello.go") })
			for _, p := range []*run.Process{manager, worker} { // in order, so that no session is lost
				p.Signal(syscall.SIGTERM)
				require.Equal(r, 0, p.Code())
			}
			r.coordinator.Kill()
			r.removeSegment()
			require.NoError(r, os.Rename(folder, folder+"-away"))
			r.startCoordinator()
			r.start(program, "manager")
			r.start(program, "worker")
		},
		repair: func(r *rig) { require.NoError(r, os.Rename(folder+"-away", folder)) },
	}
}

// origins is the fault that the server of feeds refuses their visits, until it is repaired.
func origins(cause models.Cause, paths []string, refuse func(http.ResponseWriter)) fault {
	var works atomic.Bool
	return fault{
		cause: cause,
		begin: func(r *rig) {
			asked := make(chan struct{}, 100)
			url := r.serve(func(w http.ResponseWriter, q *http.Request) {
				switch {
				case !strings.HasSuffix(q.URL.Path, ".xml"):
					w.WriteHeader(http.StatusNotFound)
				case works.Load():
					fmt.Fprint(w, `<rss version="2.0"><channel><title>Stories</title></channel></rss>`)
				default:
					refuse(w)
					asked <- struct{}{}
				}
			})
			r.start(program, "manager")
			for _, path := range paths {
				r.run("origin", "add", url+path, "--kind", "feed")
			}
			<-asked
		},
		repair: func(*rig) { works.Store(true) },
	}
}

// episodes is the fault that the server of a feed does not send its episode, until it is repaired.
func episodes() fault {
	var works atomic.Bool
	return fault{
		cause: models.CauseEpisodes,
		begin: func(r *rig) {
			var url string
			url = r.serve(func(w http.ResponseWriter, q *http.Request) {
				switch {
				case q.URL.Path == "/feed.xml":
					fmt.Fprintf(w, `<rss version="2.0"><channel><title>Stories</title><item><title>One</title><guid>1</guid><enclosure url="%s/one.wav" type="audio/wav"/></item></channel></rss>`, url)
				case q.URL.Path == "/one.wav" && works.Load():
					fmt.Fprint(w, wave(9000))
				default:
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			r.start(program, "manager")
			r.start(program, "worker")
			r.run("origin", "add", filepath.Dir(r.write("jingles/jingle.wav", wave(9000))), "--kind", "clips")
			r.run("origin", "add", url+"/feed.xml", "--kind", "feed")
			run.Eventually(r.T, "the episode has a problem", func() bool { return strings.Contains(r.run("findings", "--problems"), "One") })
		},
		repair: func(*rig) { works.Store(true) },
	}
}

// wave returns a WAV file of three seconds at 8 kHz, with noise of an amplitude.
func wave(amplitude int) string {
	const rate, seconds = 8000, 3
	samples := make([]byte, 0, 2*rate*seconds)
	seed := uint32(1)
	for range rate * seconds {
		seed = seed*1664525 + 1013904223
		samples = binary.LittleEndian.AppendUint16(samples, uint16(int16(int(seed>>16)%(2*amplitude+1)-amplitude)))
	}
	size := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	return "RIFF" + size(36+len(samples)) + "WAVEfmt " + size(16) + "\x01\x00\x01\x00" + size(rate) + size(2*rate) + "\x02\x00\x10\x00data" + size(len(samples)) + string(samples)
}

// repository makes a repository of one file.
func (r *rig) repository() (dir string) {
	r.Helper()
	dir = filepath.Dir(r.write("repository/hello.go", "package hello\n\nconst greeting = 1\n"))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "Greet"}} {
		said, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(r, err, "%s", said)
	}
	return dir
}

// removeSegment removes the segments of the code index.
func (r *rig) removeSegment() {
	r.Helper()
	segments, err := filepath.Glob(filepath.Join(r.data, "index", "*", "*"))
	require.NoError(r, err)
	require.NotEmpty(r, segments)
	for _, path := range segments {
		require.NoError(r, os.RemoveAll(path))
	}
}
