//go:build linux

package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/models"
	"leasehold/shared/api/client"
)

// liveRig is a coordinator that checks its own trace.
type liveRig struct {
	*testing.T
	*binary.Process
	api   *client.Client
	trace string
	run   func(args ...string) string
}

func newLiveRig(t *testing.T) *liveRig {
	dir := t.TempDir()
	program := filepath.Join(dir, "leasehold")
	require.NoError(t, binary.Build(program))
	gate, err := binary.FreeAddress()
	require.NoError(t, err)
	http, err := binary.FreeAddress()
	require.NoError(t, err)
	env := []string{"LEASEHOLD_DATA=" + filepath.Join(dir, "data"), "LEASEHOLD_HTTP=" + http}
	r := &liveRig{T: t, trace: filepath.Join(dir, "data", "trace.jsonl")}
	r.run = func(args ...string) string {
		t.Helper()
		p := binary.Start(t, env, program, args...)
		require.Zero(t, p.Code(), "%v: %s", args, p.Text())
		return p.Text()
	}
	r.api, err = client.New("http://" + http)
	require.NoError(t, err)
	r.Process = binary.Start(t, append(env, "LEASEHOLD_CONFORM=true"), program, "coordinator", "--listen", gate)
	return r
}

// has reports whether the coordinator has an item of a cause.
func (r *liveRig) has(c models.Cause) bool {
	s, err := r.api.Status(r.Context())
	return err == nil && slices.ContainsFunc(s.Attention, func(i models.Attention) bool { return i.Cause == c })
}

// checks waits until a process checks the trace, and returns its number.
func (r *liveRig) checks(other int) (pid int) {
	r.Helper()
	binary.Eventually(r.T, "the trace is checked", func() bool {
		pid = r.Child("--live")
		return pid != 0 && pid != other && !r.has(models.CauseUnchecked)
	})
	return pid
}

func TestACoordinatorChecksItsOwnTrace(t *testing.T) {
	t.Parallel()
	r := newLiveRig(t)
	pid := r.checks(0)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, fields, _ := strings.Cut(string(stat), ") ")
	require.Equal(t, "19", strings.Fields(fields)[16], "it has the lowest priority")

	// A deviation: the log tells that a cancelled task was held.
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	r.cancel()
	r.Damage(r.trace, `"procedure":"task.cancel","operation":"take"`, `"procedure":"task.cancel","operation":"hold"`)
	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	binary.Eventually(t, "the deviation is found", func() bool { return r.has(models.CauseDeviates) })
	shown := r.run("status")
	require.Contains(t, shown, "The coordinator did what its model task forbids, at event ")
	require.Contains(t, r.Text(), "hold task")

	// It goes on at the next quiet point, and when its process ends.
	require.Equal(t, pid, r.checks(0))
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	binary.Eventually(t, "the end of the process is shown", func() bool { return r.has(models.CauseUnchecked) })
	next := r.checks(pid)
	require.Contains(t, r.Text(), "the check of the trace ended; it is started again")
	r.cancel()
	require.False(t, r.has(models.CauseUnchecked))

	r.Signal(syscall.SIGTERM)
	require.Zero(t, r.Code(), r.Text())
	require.ErrorIs(t, syscall.Kill(next, 0), syscall.ESRCH, "it ends with the coordinator")
}

// cancel creates a task and cancels it.
func (r *liveRig) cancel() {
	r.Helper()
	var made struct{ ID string }
	require.NoError(r, json.Unmarshal([]byte(r.run("task", "create", "resize", "--json")), &made))
	r.run("task", "cancel", made.ID)
}
