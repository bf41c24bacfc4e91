package clips_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/worker/clips"
)

// archive is a folder with episodes that a handler has researched, and clips of several kinds.
type archive struct {
	*folder
	dir     string // of the store
	store   *fingerprint.Store
	handler *clips.Handler
	known   []string
}

// newArchive has n episodes of a few seconds, in which some of the clips are played.
func newArchive(t testing.TB, n int) *archive {
	t.Helper()
	a := &archive{folder: show(t), dir: t.TempDir()}
	var err error
	a.store, err = fingerprint.Open(a.dir, 1<<30)
	require.NoError(t, err)
	a.handler = clips.New(a.folder, a.store, clips.Options{})
	one, two := noise(1, rate, .1), noise(2, rate*3/2, .1)
	for i := range n {
		sound := noise(uint64(100+i), (3+i)*rate, .02)
		for k, v := range one {
			if i%2 == 0 {
				sound[rate+k] += v
			}
		}
		for k, v := range two {
			if i%3 == 0 {
				sound[k+rate/2] += v / 2
			}
		}
		name := fmt.Sprintf("e%d.wav", i)
		a.write(t, name, wav(sound))
		require.NoError(t, a.handler.Handle(context.Background(), newJob(t, name, "other.wav")))
		a.known = append(a.known, name)
	}
	return a
}

// sweepJob is a task to find a clip in episodes.
func sweepJob(t testing.TB, clip string, episodes ...string) *job {
	t.Helper()
	j := newJob(t, "x", clip)
	var r models.Research
	require.NoError(t, json.Unmarshal(j.task.Data, &r))
	r.Episode = models.ResearchItem{}
	for _, e := range episodes {
		r.Episodes = append(r.Episodes, models.ResearchItem{ID: "id-" + e, Title: e, Media: models.MediaRef{URI: "file:///x/" + e, Version: "v1", Hash: "sha256:" + e}})
	}
	data, err := json.Marshal(r)
	require.NoError(t, err)
	j.task.Data = data
	return j
}

// each is the results that a job put, by episode.
func (j *job) each(t testing.TB) map[string]models.Researched {
	t.Helper()
	all := map[string]models.Researched{}
	for i, s := range j.swept {
		require.Equal(t, i == len(j.swept)-1, s.final)
		var parts []string
		for _, r := range s.Results() {
			require.NotContains(t, all, r.Episode)
			all[r.Episode] = r
			parts = append(parts, r.Episode)
		}
		if parts != nil {
			require.Equal(t, lease.JoinParts(parts), s.part)
		}
	}
	return all
}

func TestASweepFindsTheSameAsATaskOfEachEpisode(t *testing.T) {
	t.Parallel()
	const n = 9
	a := newArchive(t, n)
	for _, clip := range []string{"one.wav", "two.wav", "other.wav", "long.wav"} {
		sweep := sweepJob(t, clip, a.known...)
		require.NoError(t, a.handler.Handle(context.Background(), sweep))
		got := sweep.each(t)
		require.Len(t, got, n, clip)
		findings := 0
		for _, e := range a.known {
			alone := newJob(t, e, clip)
			require.NoError(t, a.handler.Handle(context.Background(), alone))
			require.Equal(t, alone.said[0].Researched, got["id-"+e], "%s in %s", clip, e)
			findings += len(alone.said[0].Findings)
		}
		if clip == "one.wav" {
			require.Equal(t, (n+1)/2, findings)
		}
		require.EqualValues(t, n, sweep.spent[0].Tasks)
		require.Equal(t, models.ResearchKnown, sweep.spent[0].How)
	}
}

func TestASweepLeavesEpisodesThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	a := newArchive(t, 3)
	fetched := 0
	a.onOpen = func(name string) {
		if name != "one.wav" {
			fetched++
		}
	}
	j := sweepJob(t, "one.wav", "e0.wav", "gone.wav", "e1.wav", "e2.wav")
	require.NoError(t, a.handler.Handle(context.Background(), j))
	require.Len(t, j.each(t), 3)
	require.False(t, j.swept[len(j.swept)-1].Less)
	none := sweepJob(t, "one.wav", "x", "y", "e1.wav")
	require.NoError(t, a.handler.Handle(context.Background(), none))
	require.Len(t, none.each(t), 1)
	require.True(t, none.swept[0].Less)
	require.Zero(t, fetched)
}

func TestASweepFetchesAnEpisodeOnlyWhereACandidateNeedsItsSound(t *testing.T) {
	t.Parallel()
	a := newArchive(t, 4)
	sounds, err := filepath.Glob(filepath.Join(a.dir, "*.pcm"))
	require.NoError(t, err)
	for _, path := range sounds {
		require.NoError(t, os.Remove(path))
	}
	fetched := map[string]int{}
	a.onOpen = func(name string) { fetched[name]++ }
	a.errors["e2.wav"] = fault.ErrUnavailable
	j := sweepJob(t, "one.wav", a.known...)
	require.NoError(t, a.handler.Handle(context.Background(), j))
	require.Equal(t, map[string]int{"one.wav": 1, "e0.wav": 1, "e2.wav": 1}, fetched)
	got := j.each(t)
	require.Len(t, got["id-e0.wav"].Findings, 1)
	require.Contains(t, got, "id-e1.wav")
	require.NotContains(t, got, "id-e2.wav", "its server does not answer, so a task of its own tries again")
}

func TestASweepOfABadClipIsOneProblem(t *testing.T) {
	t.Parallel()
	a := newArchive(t, 2)
	for clip, problem := range map[string]string{"silent.wav": "silent.wav: silent: nothing to look for", "missing.wav": "missing.wav: not found (worker w on m)"} {
		j := sweepJob(t, clip, a.known...)
		require.NoError(t, a.handler.Handle(context.Background(), j))
		require.Len(t, j.swept, 1)
		results := j.swept[0].Results()
		require.Len(t, results, 1)
		require.Equal(t, problem, results[0].Problem)
		require.Equal(t, models.ScopeClip, results[0].Scope)
	}
}

func TestADrainEndsASweepWithWhatItHas(t *testing.T) {
	t.Parallel()
	a := newArchive(t, 2)
	j := sweepJob(t, "one.wav", a.known...)
	close(j.draining)
	require.NoError(t, a.handler.Handle(context.Background(), j))
	require.Empty(t, j.each(t))
	require.False(t, j.swept[0].Less, "so that it is swept again")
}
