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
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

var seeds = flag.Int("seeds", 1, "runs of the archive, without and with restarts of the coordinator")

// protocols are the models that the system is held against.
var protocols = []string{"lease", "task", "capacity", "status"}

// checker returns a checker for the model and the map of a protocol.
func checker(t testing.TB, protocol string) *conform.Checker {
	t.Helper()
	path := filepath.Join("../../tup4fun/conform/models", protocol)
	source, err := os.ReadFile(path + ".map")
	require.NoError(t, err)
	m, err := conform.ParseMap(protocol+".map", string(source))
	require.NoError(t, err)
	source, err = os.ReadFile(path + ".tup")
	require.NoError(t, err)
	program, err := syntax.ParseWith(protocol+".tup", string(source), m.Constants)
	require.NoError(t, err)
	model, err := explore.Compile(program, 0)
	require.NoError(t, err)
	c, err := conform.New(model, m, conform.Options{})
	require.NoError(t, err)
	return c
}

func TestWhatTheArchiveLogsConforms(t *testing.T) {
	for seed := range uint64(*seeds) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint("seed ", seed, " restarts ", restarts), func(t *testing.T) {
				log := recorded(t, seed, 90*time.Minute, restarts)
				for _, p := range protocols {
					r, err := checker(t, p).Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
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
