//go:build linux

package chaos

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
	"leasehold/shared/api/client"
	"leasehold/shared/process/datadir"
	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// fixture is a data folder and the coordinator that currently runs on it.
type fixture struct {
	t          *testing.T
	dir        string
	gate, http string
	env        []string
	trace      string   // file
	wrapper    []string // a program that runs the coordinator, such as strace
	// consumerTTL is the TTL of the sessions that get tuples; 0: shortTTL.
	consumerTTL time.Duration
	refused     *atomic.Int64 // if not nil, clients repeat calls for which the disk is too full, and count them here
	version     string        // path of another version of leasehold; empty: program
	*binary.Process
}

// onBoth runs a test with a coordinator on a data folder, and with one on a realm of a database.
func onBoth(t *testing.T, settings []string, test func(t *testing.T, h *fixture)) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		test(t, newFixture(t, settings...))
	})
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		test(t, fixtureOnDatabase(t, pgserver.Database(t), settings...))
	})
}

// fixtureOnDatabase is newFixture with a coordinator that is the only one on a realm of a database. Each of its starts is
// an epoch.
func fixtureOnDatabase(t *testing.T, url string, settings ...string) *fixture {
	t.Helper()
	h := &fixture{t: t, dir: filepath.Join(t.TempDir(), "data"), gate: freeAddress(t), http: freeAddress(t), trace: filepath.Join(t.TempDir(), "trace")}
	h.env = append([]string{"LEASEHOLD_DATA=" + h.dir, "LEASEHOLD_SESSION_MAX_TTL=" + longTTL.String(), "LEASEHOLD_TRACE=" + h.trace,
		"LEASEHOLD_JOURNAL=postgres", "LEASEHOLD_DATABASE=" + url}, settings...)
	t.Cleanup(func() { requireConforms(t, joinTraces(t, h.trace)) })
	return h
}

// newFixture makes an empty data folder, whose trace must conform to all models at the end of the test. The
// settings are environment variables, KEY=VALUE.
func newFixture(t *testing.T, settings ...string) *fixture {
	t.Helper()
	return fixtureAt(t, filepath.Join(t.TempDir(), "data"), settings...)
}

// requireConforms requires that the trace of a coordinator conforms to all models, as far as the search after a crash
// can decide it. Without a trace, no coordinator was started. One without an event that a model covers is of spaces of
// the test.
func requireConforms(t *testing.T, path string) {
	t.Helper()
	log, err := trace.OpenAll(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	require.NoError(t, err)
	defer log.Close()                                                  // only read
	system, err := conform.LoadSystem(conform.Options{Search: 50_000}) // many crashes leave much undecided
	require.NoError(t, err)
	reports, err := system.Check(context.Background(), path, log)
	if errors.Is(err, conform.ErrNoLog) && !t.Failed() {
		info, statErr := os.Stat(path)
		require.NoError(t, statErr)
		require.Zero(t, info.Size(), err)
		return
	}
	require.NoError(t, err)
	for _, r := range reports {
		var text bytes.Buffer
		require.NoError(t, r.Text(&text))
		require.NotEqual(t, conform.Violates, r.Outcome, text.String())
		require.Empty(t, r.Unknown, text.String())
		if r.Explained > 0 && r.Outcome != conform.Conforms { // what the log left open after a crash has too many states
			t.Logf("left out: the rest of a trace for the model %s: %s", r.Model, r.Reason)
		}
		t.Logf("%s: %s, %d of %d events, %d reloads", r.Model, r.Outcome, r.Explained, r.Events, r.Reloads)
	}
}

// fixtureAt is newFixture with a data folder of the test. The trace is in another folder.
func fixtureAt(t *testing.T, dir string, settings ...string) *fixture {
	t.Helper()
	h := &fixture{t: t, dir: dir, gate: freeAddress(t), http: freeAddress(t), trace: filepath.Join(t.TempDir(), "trace.jsonl")}
	h.env = append([]string{"LEASEHOLD_DATA=" + dir, "LEASEHOLD_SESSION_MAX_TTL=" + longTTL.String(), "LEASEHOLD_TRACE=" + h.trace}, settings...)
	t.Cleanup(func() { requireConforms(t, h.trace) }) // after the processes were killed, whose cleanups are later ones
	return h
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := binary.FreeAddress()
	require.NoError(t, err)
	return address
}

func (h *fixture) addressFile() string { return filepath.Join(h.dir, "coordinator.json") }

// start runs a coordinator and waits until it is open or has ended. It ends at failpoint if one is given.
func (h *fixture) start(failpoint string) {
	h.t.Helper()
	if err := os.Remove(h.addressFile()); err != nil {
		require.ErrorIs(h.t, err, os.ErrNotExist)
	}
	h.begin(failpoint)
	h.awaitOpen()
}

// begin runs a coordinator without waiting.
func (h *fixture) begin(failpoint string) {
	h.t.Helper()
	command := append(append([]string{}, h.wrapper...), cmp.Or(h.version, program), "coordinator", "--listen", h.gate, "--http", h.http)
	h.Process = binary.Start(h.t, append([]string{"FAILPOINT=" + failpoint}, h.env...), command[0], command[1:]...)
}

func (h *fixture) awaitOpen() {
	h.t.Helper()
	binary.Eventually(h.t, "the coordinator is open", func() bool { return h.Ended() || h.open() })
}

func (h *fixture) open() bool {
	data, err := os.ReadFile(h.addressFile())
	var at datadir.Addresses
	return err == nil && json.Unmarshal(data, &at) == nil && at.Gate == h.gate && !at.Standby
}

// mustStart starts a coordinator and fails the test if it ends.
func (h *fixture) mustStart() {
	h.t.Helper()
	h.start("")
	if h.Ended() {
		require.FailNow(h.t, "the coordinator does not start", h.Output())
	}
}

// api returns a client of the coordinator's API.
func (h *fixture) api() *client.Client {
	h.t.Helper()
	c, err := client.New("http://" + h.http)
	require.NoError(h.t, err)
	return c
}

// run runs a command of the binary to its end, and returns its output and exit code.
func (h *fixture) run(args ...string) (string, int) {
	h.t.Helper()
	p := binary.Start(h.t, h.env, cmp.Or(h.version, program), args...)
	code := p.Code()
	return strings.TrimSpace(p.Text()), code
}

// fastDetection are settings under which lost sessions and their tuples are detected
// within seconds.
var fastDetection = []string{
	"LEASEHOLD_HEARTBEAT=200ms", "LEASEHOLD_SESSION_LOST=1s", "LEASEHOLD_RELEASE_BACKOFF=200ms", "LEASEHOLD_CAPACITY_LOOK=200ms",
}

// after waits, for faults at a random time.
func after(d time.Duration) { <-time.After(d) }
