//go:build browser && linux

package drill

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/models"
	"leasehold/shared/api/client"
)

// quickly are settings under which lost sessions are detected, and origins are visited, within seconds.
var quickly = []string{
	"LEASEHOLD_HEARTBEAT=200ms", "LEASEHOLD_SESSION_LOST=1s", "LEASEHOLD_RELEASE_BACKOFF=200ms", "LEASEHOLD_CAPACITY_LOOK=200ms",
	"LEASEHOLD_ALLOW_PRIVATE=127.0.0.0/8",
}

// A rig is a coordinator and the processes that a fault needs. They end with the test.
type rig struct {
	*testing.T
	dir         string // empty at first, for files of the fault
	data        string
	gate, http  string
	coordinator *binary.Process
	other       *binary.Process // a program that disturbs the coordinator; nil: none
	api         *client.Client
	more        []string // of the environment of further processes
}

// newRig starts a coordinator with flags of the fault. Its data folder is data, or one of the test.
func newRig(t *testing.T, data string, flags func(*rig) []string) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), data: data, gate: freeAddress(t), http: freeAddress(t)}
	if data == "" {
		r.data = filepath.Join(r.dir, "data")
	}
	var err error
	r.api, err = client.New("http://" + r.http)
	require.NoError(t, err)
	if flags == nil {
		r.startCoordinator()
	} else {
		r.startCoordinator(flags(r)...)
	}
	return r
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := binary.FreeAddress()
	require.NoError(t, err)
	return address
}

// env is the environment of a process with its own data folder.
func (r *rig) env(data string) []string {
	return slices.Concat([]string{"LEASEHOLD_DATA=" + data, "LEASEHOLD_HOST=" + r.gate, "LEASEHOLD_HTTP=" + r.http}, quickly, r.more)
}

func (r *rig) startCoordinator(flags ...string) {
	r.Helper()
	if len(flags) == 0 {
		flags = []string{"--listen", r.gate, "--http", r.http}
	}
	r.coordinator = binary.Start(r.T, r.env(r.data), program, append([]string{"coordinator"}, flags...)...)
	binary.Eventually(r.T, "the coordinator answers", func() bool {
		_, err := r.api.Status(r.Context())
		return err == nil || r.coordinator.Ended()
	})
	require.False(r, r.coordinator.Ended(), r.coordinator.Output())
}

// run runs a command to its end, and returns what it printed.
func (r *rig) run(args ...string) string {
	r.Helper()
	p := binary.Start(r.T, r.env(r.data), program, args...)
	require.Zero(r, p.Code(), "%v: %s", args, p.Text())
	return strings.TrimSpace(p.Text())
}

// try runs a command that may fail to its end, and returns what it printed.
func (r *rig) try(args ...string) string {
	r.Helper()
	p := binary.Start(r.T, r.env(r.data), program, args...)
	p.Code()
	return p.Text()
}

// create creates a task with flags, and returns its id.
func (r *rig) create(action string, flags ...string) string {
	r.Helper()
	var made struct{ ID string }
	said := r.run(append([]string{"task", "create", action, "--json"}, flags...)...)
	require.NoError(r, json.Unmarshal([]byte(said), &made), said)
	return made.ID
}

// start starts a process of the fleet with a folder of its own.
func (r *rig) start(command, mode string, args ...string) *binary.Process {
	r.Helper()
	data, err := os.MkdirTemp(r.dir, mode)
	require.NoError(r, err)
	return binary.Start(r.T, r.env(data), command, append([]string{mode}, args...)...)
}

// worker starts a worker that runs a shell script for each task of an action, and waits until it serves the action.
func (r *rig) worker(action, script string, args ...string) *binary.Process {
	r.Helper()
	before := r.workers(action)
	p := r.start(program, "worker", append([]string{"--actions", "", "--slots", "1", "--exec", action + "=" + r.script(action, script)}, args...)...)
	binary.Eventually(r.T, "the worker serves "+action, func() bool { return r.workers(action) > before })
	return p
}

// script writes a shell script for an action and returns its path.
func (r *rig) script(action, text string) string {
	r.Helper()
	f, err := os.CreateTemp(r.dir, action+"-*.sh")
	require.NoError(r, err)
	_, err = fmt.Fprintln(f, "#!/bin/sh\n"+text)
	require.NoError(r, err)
	require.NoError(r, f.Close())
	require.NoError(r, os.Chmod(f.Name(), 0o755))
	return f.Name()
}

// workers counts the sessions that serve an action.
func (r *rig) workers(action string) (n int) {
	r.Helper()
	s, err := r.api.Status(r.Context())
	require.NoError(r, err)
	for _, one := range s.Sessions {
		for _, served := range one.Serves {
			if served.Action == action {
				n++
			}
		}
	}
	return n
}

// awaitState waits until a task has a state.
func (r *rig) awaitState(id, state string) {
	r.Helper()
	binary.Eventually(r.T, "task "+id+" is "+state, func() bool {
		return strings.Contains(r.run("task", "show", id, "-o", "jsonl"), `"state":"`+state+`"`)
	})
}

// serve serves HTTP on this machine until the test ends.
func (r *rig) serve(handler http.HandlerFunc) (url string) {
	server := httptest.NewServer(handler)
	r.Cleanup(server.Close)
	return server.URL
}

// report reads the attention items.
func (r *rig) report() []models.Attention {
	r.Helper()
	s, err := r.api.Status(r.Context())
	require.NoError(r, err)
	return s.Attention
}

// write writes a file of the fault.
func (r *rig) write(name, text string) (path string) {
	r.Helper()
	path = filepath.Join(r.dir, name)
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// pass waits while time passes for a cause that needs some, such as an attempt that runs for a minute.
func pass(d time.Duration) { <-time.After(d) }
