package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

var seeds = flag.Int("seeds", 1, "runs of the archive, without and with restarts of the coordinator")

// systemModels is the folder of the models of the running system.
const systemModels = "../../tup4fun/conform/models"

var protocols = []string{"lease", "task", "capacity", "status"}

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
				log := recorded(t, seed, 90*time.Minute, restarts)
				for _, p := range protocols {
					r, err := checker(t, systemModels, p).Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
					require.NoError(t, err)
					var text bytes.Buffer
					require.NoError(t, r.Text(&text))
					require.Equal(t, conform.Conforms, r.Outcome, text.String())
					require.Equal(t, restarts, r.Reloads > 1)
					require.NotZero(t, r.Explained)
					t.Logf("%s: %d events, %d explained, %d instances, %d states, %d reloads, %d operations never seen",
						p, r.Events, r.Explained, r.Instances, r.States, r.Reloads, len(r.Unseen))
				}
			})
		}
	}
}
