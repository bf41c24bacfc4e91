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
	seedFlag = flag.Uint64("chaos.seed", 0, "seed of what happens; 0 is a new one")
	timeFlag = flag.Duration("chaos.time", 3*time.Second, "how long each kind of chaos reigns")
)

// patience bounds what must happen sooner or later, also on a machine that has twenty
// times as much to do as it can.
const patience = 3 * time.Minute

// program is leasehold, built with failpoints.
var program string

func TestMain(m *testing.M) {
	if coordinator := os.Getenv(victimOf); coordinator != "" {
		fmt.Fprintln(os.Stderr, beVictim(coordinator))
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

// newSeed returns the seed of a test, which is printed.
func newSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./internal/chaos -run '^%s$' -chaos.seed %d", t.Name(), seed)
	return seed
}

// process is one that a test has started; it ends with the test.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said string        // file of what it says
	done chan struct{} // closed when it has ended, after err is set
	err  error
}

// launch starts a program. What it said is in the test's log if the test fails.
func launch(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	said, err := os.CreateTemp(t.TempDir(), filepath.Base(name)+"-*.log")
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.Command(name, args...), said: said.Name(), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = said, said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // strace and what it traces end together
	require.NoError(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		_ = said.Close() // it was only written to
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

// output is what the process has said so far, or the end of it.
func (p *process) output() string {
	const most = 4 << 10
	data, err := os.ReadFile(p.said)
	require.NoError(p.t, err)
	return string(data[max(0, len(data)-most):])
}

// says reports whether the process has said a text.
func (p *process) says(text string) bool {
	data, err := os.ReadFile(p.said)
	require.NoError(p.t, err)
	return strings.Contains(string(data), text)
}

// kill ends the process as kill -9 does, and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal sends a signal to the process and all that it started.
func (p *process) signal(s syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have ended
}

// ended says that the process has.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// endsIn waits for the end of the process, at most so long.
func (p *process) endsIn(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// killed says that the process has ended by SIGKILL.
func (p *process) killed() bool {
	var exit *exec.ExitError
	if !p.ended() || !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// stopped says that the process is, by SIGSTOP.
func (p *process) stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return false // it has ended
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "T")
}

// code is the exit code of a process that must end by itself.
func (p *process) code() int {
	p.t.Helper()
	require.True(p.t, p.endsIn(patience), "it goes on")
	return p.cmd.ProcessState.ExitCode()
}

// eventually waits until ok is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(t, "it does not happen: "+what)
		}
	}
}
