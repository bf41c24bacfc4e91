package binary

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// WaitLimit bounds each wait for a process. It is long enough for a machine with twenty times the load that it can
// handle.
const WaitLimit = 3 * time.Minute

// Process is a process that a test started. It ends with the test.
type Process struct {
	t    testing.TB
	cmd  *exec.Cmd
	file string        // with its output
	done chan struct{} // closed when it has ended, after err is set
	err  error
}

// Start starts a program with further environment variables, KEY=VALUE. If the test fails, its output is logged.
func Start(t testing.TB, env []string, program string, args ...string) *Process {
	t.Helper()
	said, err := os.CreateTemp(t.TempDir(), filepath.Base(program)+"-*.log")
	require.NoError(t, err)
	p := &Process{t: t, cmd: exec.Command(program, args...), file: said.Name(), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = said, said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that strace and its child end together
	require.NoError(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		_ = said.Close() // an error of closing does not matter, because the output is already written
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		if said := p.Output(); t.Failed() && strings.Count(said, "\n") > 1 {
			t.Logf("%s %s: %v\n%s", env, p.cmd, p.err, said)
		}
	})
	return p
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Text returns the whole output so far.
func (p *Process) Text() string {
	data, err := os.ReadFile(p.file)
	require.NoError(p.t, err)
	return string(data)
}

// Output returns the end of the output so far.
func (p *Process) Output() string {
	const most = 4 << 10
	text := p.Text()
	return text[max(0, len(text)-most):]
}

// Printed reports whether the output contains text.
func (p *Process) Printed(text string) bool { return strings.Contains(p.Text(), text) }

// Kill sends SIGKILL and waits for the end.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Signal sends a signal to the process and all processes that it started.
func (p *Process) Signal(s syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have ended
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended, as exec.Cmd.Wait does. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// WaitEnd waits up to d for the end of the process, and reports whether it has ended.
func (p *Process) WaitEnd(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// Killed reports whether the process was ended by SIGKILL.
func (p *Process) Killed() bool {
	var exit *exec.ExitError
	if !p.Ended() || !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Stopped reports whether the process is stopped by SIGSTOP.
func (p *Process) Stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return false // it has ended
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "T")
}

// Code waits for the process to end by itself and returns its exit code.
func (p *Process) Code() int {
	p.t.Helper()
	require.True(p.t, p.WaitEnd(WaitLimit), "the process does not end")
	return p.cmd.ProcessState.ExitCode()
}

// Eventually waits until ok returns true, and fails the test after WaitLimit.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(WaitLimit); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(t, "timed out: "+what)
		}
	}
}
