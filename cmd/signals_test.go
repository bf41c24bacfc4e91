package cmd

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var anyPorts = []string{"--data", "c", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}

func TestFault43ASignalToHangUpReadsTheSettingsAgain(t *testing.T) {
	t.Parallel()
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	settings := filepath.Join(dir, "leasehold.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(settings, []byte(text), 0o600)) }
	write("log-level: error\n")
	h := startCoordinatorProcess(t, dir, leasehold, append([]string{"coordinator"}, anyPorts...)...)
	write("log-level: debug\nmax-attempts: 7\n")
	h.signal(syscall.SIGHUP)
	h.awaitText(`msg="the settings were reloaded" log-level=DEBUG`)
	h.awaitText(`msg="a changed setting takes effect at the next start" key=max-attempts from=3 to=7`)
	worker := start(t, dir, leasehold, "worker", "--data", "w", "--host", h.at.Gate)
	worker.awaitText("worker: session")
	write("nonsense: 1\n")
	h.signal(syscall.SIGHUP)
	h.awaitText(`msg="the settings are invalid and stay unchanged"`)
	worker.signal(syscall.SIGHUP)
	worker.awaitText("stay unchanged")
	worker.signal(syscall.SIGTERM)
	require.Zero(t, worker.end().ExitCode())
	h.awaitText("gate: connection ended") // logged at debug only
	h.signal(syscall.SIGTERM)
	require.Zero(t, h.end().ExitCode())
}

func TestFault43ASignalToEndDrainsAndASecondEndsAtOnce(t *testing.T) {
	t.Parallel()
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	h := startCoordinatorProcess(t, dir, leasehold, append([]string{"coordinator"}, anyPorts...)...)
	media := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer media.Close()
	h.put("/api/v1/episodes", `{"items":[{"name":"e","uri":"`+media.URL+`/e.wav"}]}`)
	h.put("/api/v1/clips", `{"items":[{"name":"c","uri":"`+media.URL+`/c.wav"}]}`)
	start(t, dir, leasehold, "manager", "--data", "m", "--host", h.at.Gate, "--capacity-look", "200ms")
	worker := func(drain string) *process {
		w := start(t, dir, leasehold, "worker", "--data", "w", "--host", h.at.Gate, "--slots", "1", "--allow-private", "127.0.0.1", "--drain", drain)
		h.awaitAnswer("/api/v1/tasks", `"state":"claimed"`)
		h.awaitAnswer("/api/v1/status", `"state":"Working on`) // a worker that has not begun hands the task back at once
		return w
	}
	first := worker("100ms")
	first.signal(syscall.SIGTERM)
	require.Zero(t, first.end().ExitCode(), first.text())
	h.awaitAnswer("/api/v1/tasks", `"state":"waiting"`)
	h.awaitAnswer("/api/v1/tasks", `"attempts":0`)

	second := worker("10m")
	second.signal(syscall.SIGTERM)
	second.signal(syscall.SIGTERM) // repeats the first one
	h.awaitAnswer("/api/v1/status", `"state":"draining"`)
	<-time.After(2 * repeatedSignal) // its own timer may be late
	second.signal(syscall.SIGTERM)
	ended, ok := second.end().Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGTERM, ended.Signal())
}

// signalTwiceEnv makes the binary of the tests run signalTwice.
const signalTwiceEnv = "LEASEHOLD_TEST_SIGNAL_TWICE"

// signalTwice sends a signal to its process, and the second one as soon as the context has ended. A SIGTERM
// between them repeats the first. It returns at the end of the standard input if the second has no effect.
func signalTwice() {
	ctx, stop := untilSignal()
	defer stop()
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Signal(syscall.SIGTERM)
	<-ctx.Done()
	_ = self.Signal(syscall.SIGTERM)
	_ = self.Signal(os.Interrupt)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestASecondSignalEndsTheProcessAsSoonAsTheContextHasEnded(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		run := exec.CommandContext(ctx, self)
		run.Env = append(os.Environ(), signalTwiceEnv+"=1")
		_, err := run.StdinPipe()
		require.NoError(t, err)
		_ = run.Run()
		cancel()
		ended, ok := run.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		require.Equal(t, syscall.SIGINT, ended.Signal())
	}
}

// Row 40: the API answers health checks also when clients have taken all connections of the
// gate.
func TestFault40WithoutFileDescriptorsHealthIsAnswered(t *testing.T) {
	t.Parallel()
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	args := append([]string{"-c", `ulimit -n 200; exec "$0" "$@"`, leasehold, "coordinator"}, anyPorts...)
	h := startCoordinatorProcess(t, dir, "sh", args...)
	var clients []net.Conn
	for range 300 {
		c, err := net.Dial("tcp", h.at.Gate)
		require.NoError(t, err)
		clients = append(clients, c)
	}
	for range 20 {
		require.Equal(t, "ok\n", h.ask("/healthz"))
	}
	for _, c := range clients {
		require.NoError(t, c.Close())
	}
	worker := start(t, dir, leasehold, "worker", "--data", "w", "--host", h.at.Gate)
	worker.awaitText("worker: session")
	h.signal(syscall.SIGTERM)
	require.Zero(t, h.end().ExitCode())
}
