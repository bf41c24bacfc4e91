//go:build linux

package cmd

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// screenText collects what a program writes to a terminal.
type screenText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screenText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screenText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// terminalRun is a program whose input and output are a terminal.
type terminalRun struct {
	*testing.T
	program *exec.Cmd
	screen  *os.File // keys are written to it
	shows   screenText
	read    chan struct{} // closed when all that it showed was read
}

// runOnTerminal starts leasehold on a terminal without colours.
func runOnTerminal(t *testing.T, args ...string) *terminalRun {
	t.Helper()
	screen, terminal := openTerminal(t)
	c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = t.TempDir(), terminal, terminal, terminal
	c.Env = []string{"HOME=" + c.Dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "NO_COLOR=1"}
	require.NoError(t, c.Start())
	require.NoError(t, terminal.Close())
	r := &terminalRun{T: t, program: c, screen: screen, read: make(chan struct{})}
	go func() {
		defer close(r.read)
		_, _ = io.Copy(&r.shows, screen) // ends with EIO when the process has closed the terminal
	}()
	return r
}

// awaits waits until the terminal shows a text.
func (r *terminalRun) awaits(text string) {
	r.Helper()
	require.Eventually(r, func() bool { return strings.Contains(r.shows.String(), text) }, 30*time.Second, 20*time.Millisecond, "%s\n%q", text, &r.shows)
}

func (r *terminalRun) types(keys string) {
	r.Helper()
	_, err := io.WriteString(r.screen, keys)
	require.NoError(r, err)
}

// endsWell waits for the end of the program, which succeeds.
func (r *terminalRun) endsWell() {
	r.Helper()
	err := r.program.Wait()
	<-r.read
	require.NoError(r, err, "%q", &r.shows)
	require.NoError(r, r.screen.Close())
}

func TestTopShowsAndSteersOnATerminal(t *testing.T) {
	t.Parallel()
	h := startCoordinator(t, t.Cleanup)
	api, err := client.New(h.server.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, api.Close()) })
	_, err = api.CreateTask(t.Context(), types.NewTask{Action: "resize"})
	require.NoError(t, err)
	r := runOnTerminal(t, "top", "--host", "127.0.0.1", "--http", strings.TrimPrefix(h.server.URL, "http://"))
	r.awaits("no live worker")
	r.types("2/resize\rp")
	require.Eventually(t, func() bool {
		x, err := api.Action(t.Context(), "resize")
		return err == nil && x.Paused
	}, 30*time.Second, 20*time.Millisecond, "%q", &r.shows)
	r.types("\x03") // Ctrl-C
	r.endsWell()
	require.NotRegexp(t, `\x1b\[(3[0-9]|1;3)`, r.shows.String(), "NO_COLOR")
}

func TestAWatchedListIsDrawnInPlaceOnATerminal(t *testing.T) {
	t.Parallel()
	h := startCoordinator(t, t.Cleanup)
	api, err := client.New(h.server.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, api.Close()) })
	r := runOnTerminal(t, "task", "list", "--watch=1s", "--host", "127.0.0.1", "--http", strings.TrimPrefix(h.server.URL, "http://"))
	r.awaits("\x1b[2J\x1b[Hleasehold task list  every 1s  ")
	r.awaits("no tasks\x1b[K")
	_, err = api.CreateTask(t.Context(), types.NewTask{Action: "resize"})
	require.NoError(t, err)
	r.awaits("resize")
	h.server.Close()
	r.awaits("old, because the coordinator at")
	require.NoError(t, r.program.Process.Signal(os.Interrupt))
	r.endsWell()
}

func TestTheRowsOfDoctorFitTheTerminal(t *testing.T) {
	t.Parallel()
	h := startCoordinator(t, t.Cleanup)
	seen := onTerminal(t, t.TempDir(), "xterm", true, "doctor", "--host", "127.0.0.1", "--http", strings.TrimPrefix(h.server.URL, "http://"))
	require.Contains(t, seen, "attention")
	require.LessOrEqual(t, utf8.RuneCountInString(widestLine(seen)), terminalColumns, seen)
}
