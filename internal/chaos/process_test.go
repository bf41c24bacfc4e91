//go:build linux

package chaos

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/internal/binary"
)

var (
	seedFlag = flag.Uint64("chaos.seed", 0, "seed of the random choices; 0: a new one")
	timeFlag = flag.Duration("chaos.time", 3*time.Second, "duration of each test with random faults")
)

// waitLimit bounds each wait. It is long enough for a machine with twenty times the load
// that it can handle.
const waitLimit = 3 * time.Minute

// program is the path of leasehold, built with failpoints.
var program string

func TestMain(m *testing.M) {
	if coordinator := os.Getenv(killedClientOf); coordinator != "" {
		fmt.Fprintln(os.Stderr, runKilledClient(coordinator))
		os.Exit(1)
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "chaos")
	if err == nil {
		program = filepath.Join(dir, "leasehold")
		err = binary.Build(program, "-tags", "failpoints")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { _ = os.RemoveAll(dir); os.Exit(code) }))
}

// newSeed returns the seed of a test and logs it.
func newSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./internal/chaos -run '^%s$' -chaos.seed %d", t.Name(), seed)
	return seed
}

// process is a process that a test started. It ends with the test.
type process struct {
	t          *testing.T
	cmd        *exec.Cmd
	outputFile string        // file with its output
	done       chan struct{} // closed when it has ended, after err is set
	err        error
}

// launch starts a program. If the test fails, its output is logged.
func launch(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	said, err := os.CreateTemp(t.TempDir(), filepath.Base(name)+"-*.log")
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.Command(name, args...), outputFile: said.Name(), done: make(chan struct{})}
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
		p.kill()
		if said := p.output(); t.Failed() && strings.Count(said, "\n") > 1 {
			t.Logf("%s %s: %v\n%s", env, p.cmd, p.err, said)
		}
	})
	return p
}

// output returns the end of the process's output so far.
func (p *process) output() string {
	const most = 4 << 10
	data, err := os.ReadFile(p.outputFile)
	require.NoError(p.t, err)
	return string(data[max(0, len(data)-most):])
}

// printed reports whether the output contains text.
func (p *process) printed(text string) bool {
	data, err := os.ReadFile(p.outputFile)
	require.NoError(p.t, err)
	return strings.Contains(string(data), text)
}

// kill sends SIGKILL and waits for the end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal sends a signal to the process and all processes that it started.
func (p *process) signal(s syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have ended
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// waitEnd waits up to d for the end of the process, and reports whether it has ended.
func (p *process) waitEnd(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// killed reports whether the process was ended by SIGKILL.
func (p *process) killed() bool {
	var exit *exec.ExitError
	if !p.ended() || !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// stopped reports whether the process is stopped by SIGSTOP.
func (p *process) stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return false // it has ended
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "T")
}

// code waits for the process to end by itself and returns its exit code.
func (p *process) code() int {
	p.t.Helper()
	require.True(p.t, p.waitEnd(waitLimit), "the process does not end")
	return p.cmd.ProcessState.ExitCode()
}

// eventually waits until ok returns true, and fails the test after waitLimit.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(t, "timed out: "+what)
		}
	}
}
