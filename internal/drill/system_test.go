//go:build browser && linux

package drill

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/models"
)

var systemFaults = []fault{
	{
		cause: models.CauseNotWritable,
		alone: true,
		begin: func(r *rig) {
			lock := "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(600)"
			r.other = binary.Start(r.T, nil, "python3", "-c", lock, filepath.Join(r.data, "catalog.db"))
			binary.Eventually(r.T, "another program has locked the catalog", func() bool { return r.other.Printed("locked") })
			r.refuses("/api/v1/origins", `{"uri": "https://archive.example/feed.xml", "kind": "feed"}`)
		},
		repair: func(r *rig) { r.other.Kill() },
	},
	{
		cause: models.CauseRefused,
		alone: true,
		disk:  true,
		begin: func(r *rig) {
			fill(r.T, filepath.Join(filepath.Dir(r.data), "filler"))
			r.refuses("/api/v1/origins", `{"uri": "https://archive.example/feed.xml", "kind": "feed"}`)
		},
		repair: func(r *rig) { require.NoError(r, os.Remove(filepath.Join(filepath.Dir(r.data), "filler"))) },
	},
	{cause: models.CauseRefused, begin: func(r *rig) { r.fillSpace("letters", 10) }},
	{cause: models.CauseNearBound, begin: func(r *rig) { r.fillSpace("notes", 8) }},
	{cause: models.CauseSuspended, begin: func(r *rig) {
		r.coordinator.Signal(syscall.SIGSTOP)
		pass(6 * time.Second)
		r.coordinator.Signal(syscall.SIGCONT)
	}},
	{
		cause: models.CauseDeviates,
		alone: true,
		flags: func(r *rig) []string { return []string{"--conform", "--listen", r.gate, "--http", r.http} },
		begin: func(r *rig) { // the log tells that a cancelled task was held
			check := 0
			binary.Eventually(r.T, "the trace is checked", func() bool {
				check = r.coordinator.Child("--live")
				return check != 0 && len(r.report()) == 0 // until it has begun, that is an item
			})
			require.NoError(r, syscall.Kill(check, syscall.SIGSTOP))
			r.run("task", "cancel", r.create("resize"))
			r.coordinator.Damage(filepath.Join(r.data, "trace.jsonl"), `"procedure":"task.cancel","operation":"take"`, `"procedure":"task.cancel","operation":"hold"`)
			require.NoError(r, syscall.Kill(check, syscall.SIGCONT))
		},
	},
	{
		cause: models.CauseUnchecked,
		alone: true,
		flags: func(r *rig) []string { return []string{"--conform", "--listen", r.gate, "--http", r.http} },
		begin: func(r *rig) { // the process that checks is killed, and started again after 10 s
			binary.Eventually(r.T, "the trace is checked", func() bool { return r.coordinator.Child("--live") != 0 && len(r.report()) == 0 })
			require.NoError(r, syscall.Kill(r.coordinator.Child("--live"), syscall.SIGKILL))
		},
	},
	{
		cause: models.CauseOpen,
		alone: true,
		flags: func(r *rig) []string {
			return []string{"--insecure", "--listen", "0.0.0.0" + port(r.gate), "--http", "0.0.0.0" + port(r.http)}
		},
		begin: func(*rig) {},
	},
}

// refuses requires that the coordinator refuses a request that writes.
func (r *rig) refuses(path, body string) {
	r.Helper()
	answer, err := http.Post("http://"+r.http+path, "application/json", strings.NewReader(body))
	require.NoError(r, err)
	require.NoError(r, answer.Body.Close())
	require.GreaterOrEqual(r, answer.StatusCode, 500)
}

// port returns the port of an address, with its colon.
func port(address string) string { return address[len("127.0.0.1"):] }

// fillSpace makes a space of ten tuples and puts n.
func (r *rig) fillSpace(name string, n int) {
	r.Helper()
	r.run("space", "create", name, "--capacity", "10")
	for i := range n {
		r.run("space", "put", name, "note", fmt.Sprint(i))
	}
}

// smallDisk mounts a small file system, which needs root.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", 32<<20)), "a small disk is mounted by root only")
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fill fills the disk of a file.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for block := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(block)
	}
	require.True(t, errors.Is(err, syscall.ENOSPC), err)
}
