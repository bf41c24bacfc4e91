package clips_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/worker"
	"leasehold/worker/clips"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// show is an episode of eight seconds in which one.wav is played at 1 s and 5 s,
// and two.wav at 3 s.
func show(t testing.TB) *folder {
	t.Helper()
	f := &folder{dir: t.TempDir(), errors: map[string]error{}}
	one, two, episode := noise(1, rate, .1), noise(2, rate*3/2, .1), noise(3, 8*rate, .02)
	for at, clip := range map[int][]float64{rate: one, 3 * rate: two, 5 * rate: one} {
		for i, v := range clip {
			episode[at+i] += v
		}
	}
	f.write(t, "episode.wav", wav(episode))
	f.write(t, "one.wav", wav(one))
	f.write(t, "same.wav", wav(one))
	f.write(t, "two.wav", wav(two))
	f.write(t, "other.wav", wav(noise(4, rate, .1)))
	f.write(t, "silent.wav", wav(make([]float64, rate)))
	f.write(t, "short.wav", wav(noise(5, rate/10, .1)))
	f.write(t, "long.wav", wav(noise(6, 9*rate, .1)))
	f.write(t, "endless.wav", wav(noise(6, 121*rate, .1)))
	f.write(t, "empty.wav", nil)
	f.write(t, "page.wav", []byte("<html>gone</html>"))
	f.write(t, "cut.wav", wav(one)[:9000])
	return f
}

// store is a new one.
func store(t testing.TB) *fingerprint.Store {
	t.Helper()
	s, err := fingerprint.Open(t.TempDir(), 1<<30)
	require.NoError(t, err)
	return s
}

func TestEachClipGetsItsOwnResultAndTheLastIsFinal(t *testing.T) {
	t.Parallel()
	h := clips.New(show(t), store(t), clips.Options{Group: 3})
	want := []struct {
		clip    string
		offsets []float64
		scope   models.Scope
		problem string
	}{
		{"one.wav", []float64{1, 5}, "", ""},
		{"silent.wav", nil, models.ScopeClip, "silent.wav: silent: nothing to look for"},
		{"two.wav", []float64{3}, "", ""},
		{"short.wav", nil, models.ScopeClip, "short.wav: too short: expected at least 250ms"},
		{"long.wav", nil, models.ScopePair, "long.wav: longer than the episode"},
		{"endless.wav", nil, models.ScopeClip, "endless.wav: longer than 2m0s"},
		{"page.wav", nil, models.ScopeClip, "page.wav: looks like an HTML page, not audio"},
		{"empty.wav", nil, models.ScopeClip, "empty.wav: empty: 0 bytes"},
		{"cut.wav", nil, models.ScopeClip, "cut.wav: truncated: the sound breaks off at 0:00.56 of 0:01.00"},
		{"missing.wav", nil, models.ScopeClip, "missing.wav: not found (worker w on m)"},
		{"same.wav", []float64{1, 5}, "", ""},
		{"other.wav", nil, "", ""},
	}
	clips := []string{}
	for _, w := range want {
		clips = append(clips, w.clip)
	}
	j := newJob(t, "episode.wav", clips...)
	if err := h.Handle(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	if len(j.said) != len(want) {
		t.Fatalf("%d results instead of %d", len(j.said), len(want))
	}
	for i, w := range want {
		got, id := j.said[i], "id-"+w.clip
		if got.part != id || !slices.Equal(got.Clips, []string{id}) || got.final != (i == len(want)-1) || got.Episode != "id-episode.wav" {
			t.Errorf("result %d: %+v, want one of %s", i, got, w.clip)
		}
		if got.Problem != w.problem || got.Scope != w.scope || !slices.EqualFunc(got.Findings, w.offsets, near) {
			t.Errorf("%s: %q (%s), findings %v; want %q (%s), %v", w.clip, got.Problem, got.Scope, got.Findings, w.problem, w.scope, w.offsets)
		}
		if got.EpisodeMedia.Hash != "sha256:episode.wav" || got.EpisodeMedia.Version != "v1" ||
			len(got.ClipMedia) != 1 || w.clip != "missing.wav" && got.ClipMedia[id].Hash != "sha256:"+w.clip {
			t.Errorf("%s: media %+v, %+v", w.clip, got.EpisodeMedia, got.ClipMedia)
		}
	}
}

func near(f models.Finding, want float64) bool {
	return math.Abs(float64(f.Offset)-want) < .001 && f.Duration > .9 && f.Score > .8 && f.Score <= 1 &&
		f.Coverage > .9 && f.Coverage <= 1 && f.Speed == 1 && f.PartFrom == 0 && math.Abs(float64(f.PartTo-f.Duration)) < .001 &&
		f.Episode == "id-episode.wav" && strings.HasPrefix(f.Clip, "id-")
}

func TestTheFirstResultHasTheWaveformThatTheTaskAsksFor(t *testing.T) {
	t.Parallel()
	s := store(t)
	h := clips.New(show(t), s, clips.Options{})
	for _, wanted := range []bool{true, false} {
		j := newJob(t, "episode.wav", "silent.wav", "one.wav", "two.wav")
		var r models.Research
		require.NoError(t, json.Unmarshal(j.task.Data, &r))
		r.Waveform = wanted
		var err error
		j.task.Data, err = json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, h.Handle(t.Context(), j))
		for i, s := range j.said {
			require.Equal(t, wanted && i == 0, s.Waveform != nil, "result %d", i)
		}
		if w := j.said[0].Waveform; wanted {
			require.EqualValues(t, 8, w.Duration)
			require.Len(t, w.Peaks, models.MaxPeaks)
			loud := func(second int) (sum int) { // the clips are louder than the rest
				for _, p := range w.Peaks[second*250 : second*250+250] {
					sum += int(p)
				}
				return sum
			}
			require.Greater(t, loud(1), 2*loud(0))
			require.Greater(t, loud(5), 2*loud(7))
		}
	}
}

func TestABadEpisodeIsToldOnceForAllClips(t *testing.T) {
	t.Parallel()
	f := show(t)
	f.errors["huge.wav"] = fault.ErrTooLarge
	h := clips.New(f, store(t), clips.Options{})
	for episode, says := range map[string]string{
		"page.wav":    "page.wav: looks like an HTML page, not audio",
		"empty.wav":   "empty.wav: empty: 0 bytes",
		"missing.wav": "missing.wav: not found (worker w on m)",
		"huge.wav":    "huge.wav: too large",
	} {
		j := newJob(t, episode, "two.wav", "one.wav")
		if err := h.Handle(context.Background(), j); err != nil {
			t.Errorf("%s: %v", episode, err)
			continue
		}
		if len(j.said) != 1 || !j.said[0].final || j.said[0].Problem != says || j.said[0].Scope != models.ScopeEpisode ||
			!slices.Equal(j.said[0].Clips, []string{"id-one.wav", "id-two.wav"}) || len(j.said[0].ClipMedia) != 2 {
			t.Errorf("%s: %+v", episode, j.said)
		}
	}
}

func TestARecordingThatCannotBeFetchedIsAProblemThatIsTriedAgainAndHidesNothing(t *testing.T) {
	t.Parallel()
	f := show(t)
	f.errors["far.wav"] = fmt.Errorf("the server answered 404: %w", fault.ErrNotFound)
	h := clips.New(f, store(t), clips.Options{})
	for name, clips := range map[string][]string{"first": {"far.wav", "one.wav", "two.wav"}, "last": {"one.wav", "two.wav", "far.wav"}} {
		j := newJob(t, "episode.wav", clips...)
		require.NoError(t, h.Handle(t.Context(), j), name)
		require.Len(t, j.said, 3, name)
		for _, s := range j.said {
			if s.part == "id-far.wav" {
				require.Contains(t, s.Problem, "far.wav: the server answered 404: not found")
				require.Equal(t, models.ScopeClip, s.Scope)
				require.Equal(t, models.RetryLater, s.Retry)
			} else {
				require.Empty(t, string(s.Retry)+s.Problem)
			}
		}
	}
}

// The content is what the bytes are; everything else about a recording may change.
func TestOnlyTheContentOfARecordingIsALastingProblem(t *testing.T) {
	t.Parallel()
	f := show(t)
	kinds := map[string]error{
		"404": fault.ErrNotFound, "403": fault.ErrInvalid, "503": fault.ErrUnavailable, "tls": errors.New("certificate has expired"),
		"hash": fault.ErrCorrupt, "huge": fault.ErrTooLarge,
	}
	want := map[string]models.Retry{"page.wav": models.RetryNever, "empty.wav": models.RetryNever, "missing.wav": models.RetryLater, "private": models.RetryChanged, "huge": models.RetryChanged}
	for name, err := range kinds {
		f.errors[name] = err
		if want[name] == "" {
			want[name] = models.RetryLater
		}
	}
	guarded, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer guarded.Close()
	_, f.errors["private"] = guarded.Fetch(t.Context(), models.MediaRef{URI: "http://10.0.0.1/a.mp3"})
	require.Error(t, f.errors["private"])
	h := clips.New(f, store(t), clips.Options{})
	for name, retry := range want {
		j := newJob(t, name, "one.wav")
		require.NoError(t, h.Handle(t.Context(), j), name)
		require.Len(t, j.said, 1, name)
		require.Equal(t, models.ScopeEpisode, j.said[0].Scope, name)
		require.Equal(t, retry, j.said[0].Retry, name)
	}
}

// Another machine may have the file, or the program that decodes it.
func TestATaskWhoseFileIsMissingHereGoesToAnotherWorker(t *testing.T) {
	t.Parallel()
	h := clips.New(show(t), store(t), clips.Options{})
	for _, names := range [][]string{{"missing.wav", "one.wav"}, {"episode.wav", "one.wav", "missing.wav"}} {
		j := newJob(t, names[0], names[1:]...)
		j.elsewhere = true
		require.NoError(t, h.Handle(t.Context(), j), names)
		require.Len(t, j.passed, 1)
		require.ErrorIs(t, j.passed[0], fault.ErrNotFound)
		require.Empty(t, j.said, names)
	}
	j := newJob(t, "episode.wav", "missing.wav", "gone.wav", "one.wav")
	require.NoError(t, h.Handle(t.Context(), j))
	require.Len(t, j.passed, 1, "the others are asked once")
	require.Len(t, j.said, 3)
	require.Equal(t, models.RetryLater, j.said[1].Retry)
	swept := newJob(t, "", "missing.wav")
	swept.elsewhere = true
	swept.task.Data = []byte(`{"clips": [{"id": "c", "media": {"uri": "file:///x/missing.wav"}}], "episodes": [{"id": "e", "media": {"uri": "file:///x/episode.wav"}}]}`)
	require.NoError(t, h.Handle(t.Context(), swept))
	require.Len(t, swept.passed, 1)
	require.Empty(t, swept.swept)
}

func TestAStoreThatFailsIsNoFaultOfTheTask(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	kept, err := fingerprint.Open(dir, 1<<30)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	j := newJob(t, "episode.wav", "one.wav")
	err = clips.New(show(t), kept, clips.Options{}).Handle(t.Context(), j)
	var f *worker.Failure
	require.ErrorAs(t, err, &f)
	require.True(t, f.Unable)
	require.Empty(t, j.said)
}

func TestWhatTheRecordingDoesNotCauseIsAnError(t *testing.T) {
	t.Parallel()
	f := show(t)
	h := clips.New(f, store(t), clips.Options{})
	for _, full := range []error{fault.ErrClosed, syscall.ENOSPC, syscall.EROFS, syscall.EMFILE} {
		f.errors["far.wav"] = full
		j := newJob(t, "far.wav", "one.wav")
		require.ErrorIs(t, h.Handle(t.Context(), j), full)
		require.Empty(t, j.said)
		j = newJob(t, "episode.wav", "far.wav", "one.wav", "two.wav")
		require.ErrorIs(t, h.Handle(t.Context(), j), full)
		require.Len(t, j.said, 2)
		require.False(t, j.said[0].final || j.said[1].final)
	}
	j := newJob(t, "episode.wav", "one.wav", "two.wav")
	j.refuse = fault.ErrStaleToken
	if err := h.Handle(context.Background(), j); !errors.Is(err, fault.ErrStaleToken) {
		t.Error(err)
	}
	dir := t.TempDir()
	lost, err := fingerprint.Open(filepath.Join(dir, "gone"), 1<<30)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "gone")))
	h = clips.New(f, lost, clips.Options{})
	j = newJob(t, "episode.wav", "one.wav")
	if err := h.Handle(context.Background(), j); err == nil || len(j.said) != 0 {
		t.Errorf("no folder to keep it in: %v, %+v", err, j.said)
	}
}

func TestADrainFinishesTheGroupInHand(t *testing.T) {
	t.Parallel()
	h := clips.New(show(t), store(t), clips.Options{Group: 2})
	j := newJob(t, "episode.wav", "one.wav", "two.wav", "same.wav", "other.wav", "silent.wav")
	j.onSay = func(n int) {
		if n == 3 {
			close(j.draining)
		}
	}
	if err := h.Handle(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	if len(j.said) != 4 || !j.said[3].final || j.said[2].final || j.said[3].part != "id-other.wav" {
		t.Errorf("%+v", j.said)
	}
}

func TestTheEndOfTheContextIsAnError(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"episode.wav", "two.wav"} {
		f := show(t)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(context.Background())
		f.onOpen = func(name string) {
			if name == at {
				cancel(gone)
			}
		}
		j := newJob(t, "episode.wav", "one.wav", "two.wav")
		if err := clips.New(f, store(t), clips.Options{}).Handle(ctx, j); !errors.Is(err, gone) || len(j.said) != 0 {
			t.Errorf("%s: %v, %+v", at, err, j.said)
		}
	}
}

func TestATaskThatIsNotResearchIsRefused(t *testing.T) {
	t.Parallel()
	j := newJob(t, "episode.wav")
	for _, data := range []string{`{"episode": 7}`, `{"no": "research"}`, `{"episode": {"id": "e"}}`} {
		j.task.Data = []byte(data)
		err := clips.New(show(t), store(t), clips.Options{}).Handle(context.Background(), j)
		if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), "task t1: ") || len(j.said) > 0 {
			t.Errorf("%s: %v", data, err)
		}
	}
}
