package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/apiclient"
)

// house is a data folder, and the coordinator that runs on it, one after the
// other.
type house struct {
	t          *testing.T
	dir        string
	gate, http string
	env        []string
	wrapper    []string // a program that runs the coordinator, such as strace
	*process
}

// newHouse makes an empty data folder. The settings are KEY=VALUE, of the
// environment.
func newHouse(t *testing.T, settings ...string) *house {
	t.Helper()
	return houseAt(t, filepath.Join(t.TempDir(), "data"), settings...)
}

func houseAt(t *testing.T, dir string, settings ...string) *house {
	t.Helper()
	return &house{t: t, dir: dir, gate: freeAddress(t), http: freeAddress(t), env: append([]string{"LEASEHOLD_DATA=" + dir}, settings...)}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := binary.FreeAddress()
	require.NoError(t, err)
	return address
}

func (h *house) addressFile() string { return filepath.Join(h.dir, "coordinator.json") }

// start runs a coordinator, and waits until it is open, or has ended. It ends at a
// failpoint, unless that is empty.
func (h *house) start(failpoint string) {
	h.t.Helper()
	if err := os.Remove(h.addressFile()); err != nil {
		require.ErrorIs(h.t, err, os.ErrNotExist)
	}
	h.begin(failpoint)
	h.awaitOpen()
}

// begin runs a coordinator and does not wait.
func (h *house) begin(failpoint string) {
	h.t.Helper()
	command := append(append([]string{}, h.wrapper...), program, "coordinator", "--listen", h.gate, "--http", h.http)
	h.process = launch(h.t, append([]string{"FAILPOINT=" + failpoint}, h.env...), command[0], command[1:]...)
}

func (h *house) awaitOpen() {
	h.t.Helper()
	eventually(h.t, "the coordinator is open", func() bool { return h.ended() || h.open() })
}

func (h *house) open() bool {
	data, err := os.ReadFile(h.addressFile())
	var at struct{ Gate string }
	return err == nil && json.Unmarshal(data, &at) == nil && at.Gate == h.gate
}

// mustStart is start of a coordinator that has no reason to end.
func (h *house) mustStart() {
	h.t.Helper()
	h.start("")
	if h.ended() {
		require.FailNow(h.t, "the coordinator does not start", h.output())
	}
}

// api returns a client of the coordinator's API.
func (h *house) api() *apiclient.Client {
	h.t.Helper()
	c, err := apiclient.New("http://" + h.http)
	require.NoError(h.t, err)
	return c
}

// run runs a command of the binary to its end, and returns what it says.
func (h *house) run(args ...string) (string, int) {
	h.t.Helper()
	p := launch(h.t, h.env, program, args...)
	code := p.code()
	data, err := os.ReadFile(p.said)
	require.NoError(h.t, err)
	return strings.TrimSpace(string(data)), code
}

// quick are settings with which what is left behind is found within seconds.
var quick = []string{
	"LEASEHOLD_HEARTBEAT=200ms", "LEASEHOLD_SESSION_LOST=1s", "LEASEHOLD_RELEASE_BACKOFF=200ms", "LEASEHOLD_CAPACITY_LOOK=200ms",
}

// after waits, for faults that come at some time.
func after(d time.Duration) { <-time.After(d) }
