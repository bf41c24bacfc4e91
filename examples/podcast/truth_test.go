// Package podcast_test checks that the real binary finds exactly the clips of truth.json
// in the example.
//
// make.sh writes truth.json while it mixes, so it has the offsets before MP3 encoding. The
// test uses the committed recordings and generates none.
package podcast_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

const toleranceS = 0.020

// played is a line of truth.json, and the compared part of a finding.
type played struct {
	Episode   string  `json:"episode"`
	Clip      string  `json:"clip"`
	OffsetS   float64 `json:"offset_s"`
	DurationS float64 `json:"duration_s"`
	URI       string  `json:"episode_uri"`
}

func TestWhatIsPlayedIsFoundWhereItIsPlayedAndNothingElseIs(t *testing.T) {
	t.Parallel()
	var truth []played
	data, err := os.ReadFile("truth.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &truth))
	got := find(t)
	for _, w := range truth {
		i := slices.IndexFunc(got, func(g played) bool {
			return path.Base(g.URI) == w.Episode && g.Clip == w.Clip &&
				math.Abs(g.OffsetS-w.OffsetS) < toleranceS && math.Abs(g.DurationS-w.DurationS) < toleranceS
		})
		require.GreaterOrEqual(t, i, 0, "%+v is not among %+v", w, got)
		got = slices.Delete(got, i, i+1)
	}
	require.Empty(t, got, "found where nothing is")
}

// find runs the example, and returns its findings.
func find(t *testing.T) []played {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "leasehold")
	require.NoError(t, binary.Build(program))
	command(t, program, "run", ".", "--until-idle", "--data", dir+"/data")
	lines := json.NewDecoder(bytes.NewReader(command(t, program, "findings", "--json", "--data", dir+"/data")))
	var all []played
	for lines.More() {
		var p played
		require.NoError(t, lines.Decode(&p))
		all = append(all, p)
	}
	return all
}

func command(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	require.NoError(t, err, "%s %v", name, args)
	return out
}
