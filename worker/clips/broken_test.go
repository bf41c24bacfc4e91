package clips_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/worker/clips"
)

// broken is the show, whose episode breaks off after so many seconds.
func broken(t *testing.T, seconds float64) *folder {
	t.Helper()
	f := show(t)
	whole, err := os.ReadFile(filepath.Join(f.dir, "episode.wav"))
	require.NoError(t, err)
	f.write(t, "episode.wav", whole[:44+2*int(seconds*rate)])
	return f
}

func TestFindingsUpToTheBreakAreKeptWithAProblemThatNamesTheTime(t *testing.T) {
	t.Parallel()
	f, fetched := broken(t, 4.75), 0
	f.onOpen = func(name string) {
		if name == "episode.wav" {
			fetched++
		}
	}
	h := clips.New(f, store(t), clips.Options{})
	clips := []string{"silent.wav", "one.wav", "two.wav", "long.wav"}
	first := newJob(t, "episode.wav", clips...)
	require.NoError(t, h.Handle(t.Context(), first))
	require.Len(t, first.said, len(clips))
	require.Equal(t, models.ScopeClip, first.said[0].Scope)
	require.Equal(t, models.ScopePart, first.said[1].Scope, "the first result that has no problem of its own reports the break")
	require.Equal(t, "episode.wav: truncated: the sound breaks off at 0:04.75 of 0:08.00; searched up to 0:04.75", first.said[1].Problem)
	require.Empty(t, first.said[1].Fault(), "a task of a user does not fail")
	require.Empty(t, first.said[2].Problem)
	require.Len(t, findings(first), 2)
	require.True(t, near(first.said[1].Findings[0], 1))
	require.True(t, near(first.said[2].Findings[0], 3))
	require.Empty(t, first.said[3].Problem+string(first.said[3].Scope), "it may be longer than what is left, but not than the episode")

	again := known(t, "sha256:episode.wav", clips...)
	require.NoError(t, h.Handle(t.Context(), again))
	require.Equal(t, 1, fetched)
	require.Equal(t, first.said, again.said, "the store keeps the reason")
}

func TestAnEpisodeThatBreaksOffBeforeAnySoundIsAProblem(t *testing.T) {
	t.Parallel()
	j := newJob(t, "episode.wav", "one.wav")
	require.NoError(t, clips.New(broken(t, 0), store(t), clips.Options{}).Handle(t.Context(), j))
	require.Len(t, j.said, 1)
	require.Equal(t, models.ScopeEpisode, j.said[0].Scope)
	require.Equal(t, "episode.wav: truncated: the sound breaks off at 0:00.00 of 0:08.00", j.said[0].Problem)
}

func TestFindingsInTheFirstOfSeveralTracksAreKeptWithAProblemThatTellsSo(t *testing.T) {
	t.Parallel()
	f := show(t)
	episode, tracks := filepath.Join(f.dir, "episode.wav"), filepath.Join(f.dir, "tracks.mka")
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", episode, "-i", episode, "-map", "0", "-map", "1", "-c:a", "flac", tracks).CombinedOutput()
	require.NoError(t, err, "%s", out)
	whole, err := os.ReadFile(tracks)
	require.NoError(t, err)
	f.write(t, "episode.wav", whole)
	j := newJob(t, "episode.wav", "one.wav", "two.wav")
	require.NoError(t, clips.New(f, store(t), clips.Options{}).Handle(t.Context(), j))
	require.Len(t, findings(j), 3)
	require.Equal(t, models.ScopePart, j.said[0].Scope)
	require.Equal(t, "episode.wav: it has 2 audio tracks; only the first is searched", j.said[0].Problem)
}
