package clips_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/clips/fingerprint"
	"leasehold/worker/clips"
)

// known is a job about an episode that was researched before, so that its hash is known.
func known(t *testing.T, hash string, clips ...string) *job {
	t.Helper()
	j := newJob(t, "episode.wav", clips...)
	var r models.Research
	require.NoError(t, json.Unmarshal(j.task.Data, &r))
	r.Episode.Media.Hash = hash
	data, err := json.Marshal(r)
	require.NoError(t, err)
	j.task.Data = data
	return j
}

func findings(j *job) (all []models.Finding) {
	for _, s := range j.said {
		all = append(all, s.Findings...)
	}
	return all
}

func TestANewClipIsFoundInAKnownEpisodeWithoutFetchingIt(t *testing.T) {
	t.Parallel()
	f, fetched := show(t), 0
	f.onOpen = func(name string) {
		if name == "episode.wav" {
			fetched++
		}
	}
	h := clips.New(f, store(t), clips.Options{})
	first := newJob(t, "episode.wav", "one.wav", "two.wav")
	require.NoError(t, h.Handle(context.Background(), first))
	again := known(t, "sha256:episode.wav", "one.wav", "two.wav")
	require.NoError(t, os.Remove(filepath.Join(f.dir, "episode.wav")))
	require.NoError(t, h.Handle(context.Background(), again))
	require.Equal(t, 1, fetched)
	require.Equal(t, first.said, again.said)
	for how, j := range map[string]*job{models.ResearchDecoded: first, models.ResearchKnown: again} {
		require.Len(t, j.spent, 1)
		c := j.spent[0]
		require.Equal(t, how, c.How)
		require.EqualValues(t, 1, c.Tasks)
		require.Positive(t, c.Wall)
		require.GreaterOrEqual(t, c.Windows, int64(3), "one at least for each place that is verified")
	}
}

func TestAKnownEpisodeWhoseSoundIsGoneIsFetchedOnlyWhenItMatters(t *testing.T) {
	t.Parallel()
	f, fetched := show(t), 0
	f.onOpen = func(name string) {
		if name == "episode.wav" {
			fetched++
		}
	}
	dir := t.TempDir()
	s, err := fingerprint.Open(dir, 1<<30)
	require.NoError(t, err)
	h := clips.New(f, s, clips.Options{})
	first := newJob(t, "episode.wav", "one.wav", "two.wav")
	require.NoError(t, h.Handle(context.Background(), first))
	sounds, err := filepath.Glob(filepath.Join(dir, "*.pcm"))
	require.NoError(t, err)
	require.Len(t, sounds, 1)
	require.NoError(t, os.Remove(sounds[0]))

	none := known(t, "sha256:episode.wav", "other.wav")
	require.NoError(t, h.Handle(context.Background(), none))
	require.Equal(t, 1, fetched, "a clip that is not there needs no sound")
	require.Equal(t, models.ResearchKnown, none.spent[0].How)
	require.Zero(t, none.spent[0].Windows)
	again := known(t, "sha256:episode.wav", "one.wav", "two.wav")
	require.NoError(t, h.Handle(context.Background(), again))
	require.Equal(t, 2, fetched)
	require.Equal(t, first.said, again.said)
	require.Equal(t, models.ResearchDecoded, again.spent[0].How, "one that must be fetched again is no longer known")
}

func TestARecordingThatChangedIsSearchedAsItIsNow(t *testing.T) {
	t.Parallel()
	f, dir := show(t), t.TempDir()
	s, err := fingerprint.Open(dir, 1<<30)
	require.NoError(t, err)
	e, err := s.Put("sha256:before", func(push func([]float32) error) error {
		var wave []float32
		for _, v := range noise(1, rate, .1) {
			wave = append(wave, float32(v))
		}
		return push(append(wave, make([]float32, rate)...))
	})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	sounds, err := filepath.Glob(filepath.Join(dir, "*.pcm"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(sounds[0]))
	j := known(t, "sha256:before", "one.wav")
	require.NoError(t, clips.New(f, s, clips.Options{}).Handle(context.Background(), j))
	require.Len(t, findings(j), 2)
	require.Equal(t, "sha256:episode.wav", j.said[0].EpisodeMedia.Hash)
}
