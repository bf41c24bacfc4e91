// Package podcast_test checks that the example's true offsets are found in its
// sound, by the same code that a worker runs, and nothing else is.
//
// truth.json is written by make.sh while it mixes, so that it is true of the
// sound before MP3. The recordings are the ones that are committed; the test
// makes nothing.
package podcast_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio"
	"leasehold/shared/audio/match"
)

const toleranceS = 0.020

type played struct {
	Episode   string  `json:"episode"`
	Clip      string  `json:"clip"`
	OffsetS   float64 `json:"offset_s"`
	DurationS float64 `json:"duration_s"`
}

func TestWhatIsPlayedIsFoundWhereItIsPlayedAndNothingElseIs(t *testing.T) {
	t.Parallel()
	var truth []played
	data, err := os.ReadFile("truth.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &truth))
	for _, name := range []string{"one.mp3", "two.mp3", "three.flac"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := slices.DeleteFunc(slices.Clone(truth), func(p played) bool { return p.Episode != name })
			require.NotEmpty(t, want)
			got := find(t, name)
			for _, w := range want {
				i := slices.IndexFunc(got, func(g played) bool {
					return g.Clip == w.Clip && math.Abs(g.OffsetS-w.OffsetS) < toleranceS && math.Abs(g.DurationS-w.DurationS) < toleranceS
				})
				require.GreaterOrEqual(t, i, 0, "%+v is not among %+v", w, got)
				got = slices.Delete(got, i, i+1)
			}
			require.Empty(t, got, "found where nothing is")
		})
	}
}

// find looks for every clip of the example in one episode.
func find(t *testing.T, name string) []played {
	t.Helper()
	episode, err := audio.Spool(t.Context(), filepath.Join("episodes", name), t.TempDir())
	require.NoError(t, err)
	defer episode.Close()
	files, err := filepath.Glob("clips/*")
	require.NoError(t, err)
	require.Len(t, files, 8)
	var clips []match.Clip
	for _, f := range files {
		clips = append(clips, match.Clip{
			ID:   strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)),
			Load: func(ctx context.Context) ([]float32, error) { return audio.Load(ctx, f, match.MaxClip) },
		})
	}
	var found []played
	err = match.Find(t.Context(), episode, clips, match.Options{}, func(r match.Result) error {
		require.NoError(t, r.Err)
		for _, m := range r.Matches {
			found = append(found, played{name, r.ID, m.Start().Seconds(), m.Duration().Seconds()})
		}
		return nil
	})
	require.NoError(t, err)
	return found
}
