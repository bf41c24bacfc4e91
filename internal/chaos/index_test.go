//go:build linux

package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

// largeRepository makes a repository whose files are more than one batch.
func largeRepository(t *testing.T) string {
	t.Helper()
	return repository(t, 3<<20/20)
}

// repository makes a repository of four files, each with a line of its own and so many others.
func repository(t *testing.T, lines int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 4 {
		text := fmt.Sprintf("needle%d\n%s", i, strings.Repeat("some text of a file\n", lines))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.txt", i)), []byte(text), 0o600))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		c := exec.Command("git", args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

// TestAnIndexWhoseManagersAndWorkersAreKilledIsCompleteAndConforms kills the manager and the
// worker at each step of a batch. The trace does what the models of the protocols allow, and all
// files are found.
func TestAnIndexWhoseManagersAndWorkersAreKilledIsCompleteAndConforms(t *testing.T) {
	t.Parallel()
	// A task must not become a dead letter, however often its worker is killed.
	h := newFixture(t, append([]string{"LEASEHOLD_MAX_ATTEMPTS=100"}, fastDetection...)...)
	h.mustStart()
	manager, worker := h.newMember("manager"), h.newMember("worker")
	killedAt := func(m *member, point string) {
		t.Helper()
		m.start(point)
		require.True(t, m.WaitEnd(binary.WaitLimit) && m.Killed(), "%s: %s", point, m.Output())
	}
	said, code := h.run("origin", "add", largeRepository(t))
	require.Zero(t, code, said)
	worker.start("")
	killedAt(manager, "index.issued:1")
	manager.start("")
	worker.Kill()
	killedAt(worker, "indexing.analysed:1")
	killedAt(worker, "indexing.put:1")
	manager.Kill()
	worker.start("")
	killedAt(manager, "index.ingest:1")
	manager.start("")
	binary.Eventually(t, "all files are found", func() bool {
		said, code := h.run("search", "--json", "/^needle[0-3]$/")
		return code == 0 && strings.Count(said, `"line":1`) == 4
	})
	binary.Eventually(t, "nothing is left", func() bool {
		for _, space := range []string{"task", "result", "visit"} {
			if said, code := h.run("space", "count", space, "--held"); code != 0 || said != "0" {
				return false
			}
		}
		return true
	})
	manager.Kill()
	worker.Kill()
	h.Kill()
	said, code = h.run("tup4fun", "conform", h.trace)
	require.Zero(t, code, said)
}
