package set_test

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/bench"
	"leasehold/shared/clips/bench/set"
	"leasehold/shared/fault"
)

// material makes sound files. Each is another noise that swells and fades.
func material(t *testing.T, r *rand.Rand, files int, seconds float64) string {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		x := make([]float32, int(seconds*44100))
		last := 0.0
		for k := range x {
			last = .6*last + r.NormFloat64()
			x[k] = float32(.1 * last * (1.2 + math.Sin(float64(k)/5000*float64(i+1))))
		}
		require.NoError(t, set.WriteWAV(filepath.Join(dir, fmt.Sprintf("%02d.wav", i)), x, 44100))
	}
	return dir
}

func small(t *testing.T) set.Recipe {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	return set.Recipe{
		Name: "small", Seed: 7, EpisodeS: 20, Kbps: []int{96}, PerCondition: 1, FreeS: 18,
		Clips: map[set.Kind]int{set.Speech: 4, set.Music: 2, set.Effect: 2},
		Materials: []set.Material{
			{Dir: material(t, r, 8, .7), Kind: set.Speech, Whole: true},
			{Dir: material(t, r, 2, 5), Kind: set.Music},
			{Dir: material(t, r, 2, .7), Kind: set.Effect, Whole: true},
		},
	}
}

func TestTheTruthIsWhatTheEpisodesHold(t *testing.T) {
	t.Parallel()
	log, recipe, work := slog.New(slog.NewTextHandler(io.Discard, nil)), small(t), t.TempDir()
	s, err := set.Build(t.Context(), recipe, work, log)
	require.NoError(t, err)

	played := 0
	for _, c := range s.Clips {
		if c.Played {
			played++
		}
		require.FileExists(t, s.Path(c.File))
	}
	require.Len(t, s.Clips, 8)
	require.Equal(t, 4, played, "half of the clips are never played")
	conditions := map[string]int{}
	for _, in := range s.Episodes[0].Played {
		conditions[in.Condition]++
	}
	require.Len(t, conditions, len(set.Conditions())-6, "no clip is long enough to be played in part, none as short as 0.5 s, none of 2 min")
	require.Equal(t, 2, conditions["twice in a row"])
	require.Equal(t, 2, conditions["overlapping"])
	require.Equal(t, 1, conditions["speed"])
	require.True(t, s.Episodes[1].Free)
	require.Empty(t, s.Episodes[1].Played)

	f, err := bench.Run(t.Context(), s, "exact", func() bench.Method { return &bench.Exact{} }, 1, log)
	require.NoError(t, err)
	for _, c := range []string{"clean", "gain", "mix +6 dB", "mix +0 dB", "one channel", "DC", "0.5 to 1 s", "twice in a row", "overlapping"} {
		g := f.Group("condition", c)
		require.Equal(t, g.Played, g.Hits, c)
		require.Less(t, g.ErrorMs(1), .5, c)
	}
	require.Zero(t, f.Group("all", bench.All).Wrong)
	require.InDelta(t, .005, f.FreeHours, 1e-9)

	again, err := set.Build(t.Context(), recipe, t.TempDir(), log)
	require.NoError(t, err)
	require.Equal(t, s.Episodes, again.Episodes, "the same seed gives the same set")
	there, err := set.Build(t.Context(), recipe, work, log)
	require.NoError(t, err)
	require.Equal(t, s, there, "what is built is not built again")
}

func TestTheSetsShareNothing(t *testing.T) {
	t.Parallel()
	dev, report := set.Development(1), set.Report(1)
	for _, a := range dev.Materials {
		for _, b := range report.Materials {
			require.NotEqual(t, a.Package, b.Package)
		}
	}
	for _, k := range dev.Kbps {
		require.NotContains(t, report.Kbps, k)
	}
}

func TestAFolderWithoutSoundIsNamed(t *testing.T) {
	t.Parallel()
	recipe := small(t)
	recipe.Materials[0].Dir = t.TempDir()
	_, err := set.Build(t.Context(), recipe, t.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, recipe.Materials[0].Dir)
	_, err = set.Load(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}
