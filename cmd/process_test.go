package cmd

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/lockedbuffer"
	"leasehold/shared/process/datadir"
)

// process is the real binary, started by a test.
type process struct {
	testing.TB
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended

	stderr lockedbuffer.Buffer
}

func (p *process) text() string { return p.stderr.String() }

// start starts a program in a folder; it is killed when the test ends.
func start(t testing.TB, dir, program string, args ...string) *process {
	t.Helper()
	p := &process{TB: t, cmd: exec.Command(program, args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.WaitDelay = dir, &p.stderr, time.Second
	p.cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	require.NoError(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

func (p *process) signal(s syscall.Signal) { require.NoError(p, p.cmd.Process.Signal(s)) }

// end waits until the process has ended.
func (p *process) end() *os.ProcessState {
	p.Helper()
	select {
	case <-p.done:
	case <-time.After(processTimeout):
		require.Fail(p, "the process does not end", p.text())
	}
	return p.cmd.ProcessState
}

// awaitText waits until standard error contains text.
func (p *process) awaitText(text string) {
	p.Helper()
	p.await(func() (string, bool) { return p.text(), strings.Contains(p.text(), text) }, text)
}

func (p *process) await(look func() (seen string, ok bool), wanted string) {
	p.Helper()
	seen, ok := "", false
	for deadline := time.Now().Add(processTimeout); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		seen, ok = look()
		if ok {
			return
		}
	}
	require.Fail(p, "no "+wanted, seen)
}

// coordinatorProcess is a coordinator in its own process.
type coordinatorProcess struct {
	*process
	at datadir.Addresses
}

func startCoordinatorProcess(t testing.TB, dir, program string, args ...string) *coordinatorProcess {
	t.Helper()
	h := &coordinatorProcess{process: start(t, dir, program, args...)}
	file := filepath.Join(dir, "c", datadir.AddressFile)
	h.await(func() (string, bool) {
		data, err := os.ReadFile(file)
		return h.text(), err == nil && json.Unmarshal(data, &h.at) == nil
	}, file)
	return h
}

// ask returns the answer of the API; empty if it does not answer.
func (h *coordinatorProcess) ask(path string) string {
	answer, err := http.Get("http://" + h.at.HTTP + path)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(data)
}

func (h *coordinatorProcess) awaitAnswer(path, text string) {
	h.Helper()
	h.await(func() (string, bool) { seen := h.ask(path); return seen, strings.Contains(seen, text) }, text)
}

// put sends a document to the API.
func (h *coordinatorProcess) put(path, doc string) {
	h.Helper()
	h.send("PUT", path, doc, http.StatusOK)
}

// send sends a request to the API, whose answer must have a status.
func (h *coordinatorProcess) send(method, path, doc string, status int) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, "http://"+h.at.HTTP+path, strings.NewReader(doc))
	require.NoError(h, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(h, err)
	defer answer.Body.Close()
	require.Equal(h, status, answer.StatusCode)
}
