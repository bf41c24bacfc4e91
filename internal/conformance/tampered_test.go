package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

// modelOf are the models of the twins whose protocol has another name.
var modelOf = map[string]string{"update-status": "status", "task-delay": "task", "task-lost": "task"}

// TestTamperedLogsOfBrokenTwinsDoNotConform checks logs of one instance from testdata/tampered. A file with the name
// of a broken twin in tup4fun/protocols is such a log in which the system does what the twin does; the others are as
// they were logged.
func TestTamperedLogsOfBrokenTwinsDoNotConform(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/tampered/*.jsonl")
	require.NoError(t, err)
	broken := 0
	for _, file := range files {
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		protocol, _, isBroken := strings.Cut(name, ".broken-")
		if !isBroken {
			requireConforms(t, log)
			continue
		}
		broken++
		require.FileExists(t, filepath.Join("../../tup4fun/protocols", name+".tup"))
		model := protocol
		if other := modelOf[protocol]; other != "" {
			model = other
		}
		c, err := conform.LoadProtocol(model, conform.Options{})
		require.NoError(t, err)
		r, err := c.Check(t.Context(), file, bytes.NewReader(log))
		require.NoError(t, err)
		require.Equal(t, conform.Violates, r.Outcome, "%s: %s", file, r.Reason)
	}
	require.Equal(t, 8, broken)
}
