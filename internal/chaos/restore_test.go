//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

// TestABackupOrARestoreThatIsKilledIsThereWholeOrNotAtAll kills both commands at each step. Afterwards the
// target is as it was, and the command can be repeated; or it is complete, and refuses to
// be written again.
func TestABackupOrARestoreThatIsKilledIsThereWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	unmarkedFolder(t, h.dir)
	h.mustStart()
	h.Signal(15)
	require.True(t, h.WaitEnd(binary.WaitLimit))
	kept := filepath.Join(t.TempDir(), "kept")
	command := func(failpoint string, args ...string) *binary.Process {
		p := binary.Start(t, append([]string{"FAILPOINT=" + failpoint}, h.env...), program, args...)
		require.True(t, p.WaitEnd(binary.WaitLimit), p.Output())
		return p
	}
	for i, kill := range points(t, "node/backup/make.go") {
		path := fmt.Sprint(kept, i)
		require.True(t, command(kill+":1", "backup", path).Killed(), kill)
		if _, err := os.Stat(path); os.IsNotExist(err) {
			require.Zero(t, command("", "backup", path).Code(), kill)
		}
		require.NotZero(t, command("", "backup", path).Code(), "%s: it is complete, and is not overwritten", kill)
		kept = path
	}
	for _, kill := range append(points(t, "node/backup/restore.go"), "publish.before", "publish.after") {
		h.restoreKilled(kept, kill, false)
		h.restoreKilled(kept, kill, true)
	}
}

// restoreKilled kills a restore into an empty or missing folder, repeats it, and starts a coordinator on the
// folder.
func (h *fixture) restoreKilled(kept, kill string, exists bool) {
	t := h.t
	target := fixtureAt(t, filepath.Join(t.TempDir(), "data"), fastDetection...)
	if exists {
		require.NoError(t, os.Mkdir(target.dir, 0o700))
	}
	p := binary.Start(t, append([]string{"FAILPOINT=" + kill + ":1"}, target.env...), program, "restore", kept)
	require.True(t, p.WaitEnd(binary.WaitLimit) && p.Killed(), "%s: %s", kill, p.Output())
	if text, code := target.run("restore", kept); code != 0 {
		require.Equal(t, "publish.after", kill, text)
		require.Contains(t, text, "it is not empty")
	}
	target.mustStart()
	require.Equal(t, 1, target.notes(), kill)
	origins, code := target.run("origin", "list", "--json")
	require.Zero(t, code, origins)
	require.Contains(t, origins, `"o-1"`, kill)
	target.Kill()
}
