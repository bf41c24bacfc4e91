package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

var seeds = flag.Int("seeds", 1, "runs of the archive, without and with restarts of the coordinator")

// checker returns a checker for a model and its map.
func checker(t testing.TB, folder, name string) *conform.Checker {
	t.Helper()
	return checkerWith(t, folder, name, conform.Options{})
}

func checkerWith(t testing.TB, folder, name string, o conform.Options) *conform.Checker {
	t.Helper()
	model, err := os.ReadFile(filepath.Join(folder, name+".tup"))
	require.NoError(t, err)
	mapping, err := os.ReadFile(filepath.Join(folder, name+".map"))
	require.NoError(t, err)
	c, err := conform.Load(name+".tup", string(model), name+".map", string(mapping), o)
	require.NoError(t, err)
	return c
}

func TestWhatTheArchiveLogsConforms(t *testing.T) {
	for seed := range uint64(*seeds) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint("seed ", seed, " restarts ", restarts), func(t *testing.T) {
				requireConforms(t, runLog(t, seed, restarts, false))
			})
		}
	}
}

// Users create tasks with all options, pause, limit, cancel and schedule them, their workers end them in
// all ways, and programs get results and leases, while the archive runs beside them.
func TestWhatUsersAndTheirWorkersLogConforms(t *testing.T) {
	for seed := range uint64(*seeds) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint("seed ", seed, " restarts ", restarts), func(t *testing.T) {
				requireConforms(t, runLog(t, seed, restarts, true))
			})
		}
	}
}

// A tour leads through the seldom procedures and steps.
func TestWhatATourLogsConforms(t *testing.T) { requireConforms(t, tourLog(t)) }

// requireConforms requires that a log conforms to all models of the system.
func requireConforms(t *testing.T, log []byte) (reports []*conform.Report) {
	t.Helper()
	system, err := conform.LoadSystem(conform.Options{})
	require.NoError(t, err)
	reports, err = system.Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
	require.NoError(t, err)
	require.Len(t, reports, len(conform.Protocols()), "a further report names procedures that no model knows")
	for _, r := range reports {
		var text bytes.Buffer
		require.NoError(t, r.Text(&text))
		require.Equal(t, conform.Conforms, r.Outcome, text.String())
		t.Logf("%s: %d events, %d explained, %d instances, %d states, %d reloads, %d operations never seen",
			r.Model, r.Events, r.Explained, r.Instances, r.States, r.Reloads, len(r.Unseen))
	}
	return reports
}
