package conformance

import (
	"bytes"
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

// protocols are the models that the system is held against.
var protocols = []string{"lease", "task", "capacity", "status"}

// checked returns what a model says of a log.
func checked(t testing.TB, protocol string, log []byte) *conform.Report {
	t.Helper()
	r, err := judged(t, protocol, log)
	require.NoError(t, err)
	return r
}

func judged(t testing.TB, protocol string, log []byte) (*conform.Report, error) {
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
	return c.Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
}

func TestWhatTheArchiveLogsConforms(t *testing.T) {
	for seed := range uint64(3) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint("seed ", seed, " restarts ", restarts), func(t *testing.T) {
				log := recorded(t, seed, 4*time.Hour, restarts)
				if dir := os.Getenv("KEEP"); dir != "" {
					require.NoError(t, os.WriteFile(fmt.Sprint(dir, "/", seed, restarts, ".jsonl"), log, 0o600))
				}
				for _, p := range protocols {
					r := checked(t, p, log)
					var text bytes.Buffer
					require.NoError(t, r.Text(&text))
					require.Equal(t, conform.Conforms, r.Outcome, text.String())
					t.Logf("%s: %d events, %d explained, %d instances, %d states, %d unseen %d reloads", p, r.Events, r.Explained, r.Instances, r.States, len(r.Unseen), r.Reloads)
				}
			})
		}
	}
}
