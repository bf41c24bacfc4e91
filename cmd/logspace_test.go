package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The log of a fleet of three processes has the sessions that join, drain, end and are lost,
// visits, curations, problems, and the warnings of each process; each line names its session.
func TestTheLogOfAFleetTellsWhatHappenedToWhom(t *testing.T) {
	t.Parallel()
	leasehold, dir := filepath.Join(realBinary(t), "leasehold"), t.TempDir()
	media := filepath.Join(dir, "media")
	for _, name := range []string{"clips/page.wav", "episodes/page.mp3"} {
		require.NoError(t, os.MkdirAll(filepath.Join(media, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(media, name), []byte("<html>gone</html>"), 0o600))
	}
	h := startCoordinatorProcess(t, dir, leasehold, append([]string{"coordinator"}, anyPorts...)...)
	run := func(args ...string) string {
		c := exec.Command(leasehold, append(args, "--data", "other", "--host", h.at.Gate)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	logged := func(parts ...string) {
		t.Helper()
		h.await(func() (string, bool) {
			all := run("log")
			for line := range strings.Lines(all) {
				found := true
				for _, part := range parts {
					found = found && strings.Contains(line, part)
				}
				if found {
					return all, true
				}
			}
			return all, false
		}, strings.Join(parts, " … "))
	}
	quick := []string{"--heartbeat", "200ms", "--session-lost", "1s", "--host", h.at.Gate}
	session := func(p *process, mode string) string {
		p.await(func() (string, bool) { return p.text(), strings.Contains(p.text(), "session "+mode+"-") }, "session")
		_, rest, _ := strings.Cut(p.text(), "session "+mode)
		id, _, _ := strings.Cut(mode+rest, " ")
		return id
	}
	m := start(t, dir, leasehold, append([]string{"manager", "--data", "m"}, quick...)...)
	w := start(t, dir, leasehold, append([]string{"worker", "--data", "w"}, quick...)...)
	manager, worker := session(m, "manager"), session(w, "worker")
	logged("info", "coordinator-", "coordinator started")
	logged("info", manager, "session joined")
	logged("info", worker, "session joined")

	run("origin", "add", "--kind", "clips", filepath.Join(media, "clips"))
	run("origin", "add", "--kind", "media", filepath.Join(media, "episodes"))
	logged("info", manager, "curated "+media+"/clips: 1 new")
	logged("info", manager, "visited media "+media+"/episodes: eventful, 1 items")
	logged("warn", worker, "research of episode", "looks like an HTML page")
	run("origin", "add", "--kind", "feed", "http://127.0.0.1:9/feed.xml")
	logged("warn", manager, "visit of feed http://127.0.0.1:9/feed.xml failed", "connection refused")

	run("drain", worker)
	logged("info", worker, "asked to drain")
	logged("info", worker, "session ended")
	w.end()
	other := start(t, dir, leasehold, append([]string{"worker", "--data", "w"}, quick...)...)
	lost := session(other, "worker")
	logged("info", lost, "session joined")
	other.signal(syscall.SIGKILL)
	other.end()
	logged("warn", lost, "session lost")
	require.Contains(t, h.text(), "session lost", "the coordinator's own log keeps it over a restart")
	m.signal(syscall.SIGTERM)
	m.end()
	logged("info", manager, "session ended")

	warnings := run("log", "--level", "warn", "-o", "jsonl")
	require.NotContains(t, warnings, "session joined")
	require.Contains(t, warnings, "session lost")
	for line := range strings.Lines(run("log", "--session", lost, "-o", "jsonl")) {
		require.Contains(t, line, `"session":"`+lost+`"`)
	}
}
