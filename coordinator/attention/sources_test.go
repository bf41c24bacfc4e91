package attention_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/visit"
)

// origins adds n feeds of one host.
func (f *fixture) origins(n int) {
	f.Helper()
	var all []visits.Named
	for i := range n {
		all = append(all, visits.Named{Origin: models.Origin{ID: fmt.Sprintf("o%d", i), Kind: models.Feed, URI: fmt.Sprintf("https://feeds.example/%d", i), AddedAt: time.Now()}})
	}
	require.NoError(f, f.db.Visits.List(f.Context(), time.Now(), visits.Listing{Origins: all}))
}

// visited records an outcome of each visit that the coordinator has asked for.
func (f *fixture) visited(o models.Outcome) {
	f.Helper()
	underWay, err := f.db.Visits.Claimed(f.Context())
	require.NoError(f, err)
	require.NotEmpty(f, underWay)
	for _, v := range underWay {
		o.Visit, o.Origin, o.At = v.ID, v.Origin.ID, time.Now()
		_, err := f.db.Visits.Record(f.Context(), time.Now(), []models.Outcome{o})
		require.NoError(f, err)
	}
}

// steer performs a remedy that is operation steerOrigin.
func (f *fixture) steer(i models.Attention) {
	f.Helper()
	require.Equal(f, "steerOrigin", i.Remedy.Operation)
	var body struct{ Action string }
	require.NoError(f, json.Unmarshal(i.Remedy.Body, &body))
	require.NoError(f, f.db.Visits.Steer(f.Context(), time.Now(), i.Remedy.Params["origin"], body.Action))
	f.wait(5 * time.Second)
}

func TestOriginsThatAreDueNeedAManager(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.wait(time.Minute)
		require.Empty(f, f.items(models.CauseNoManager), "nothing is to be visited")
		f.origins(1)
		f.wait(5 * time.Second)
		i := f.only(models.CauseNoManager)
		require.Equal(f, models.StopsWork, i.Severity)

		manager, err := f.c.Connect(f.Context(), "manager", 0)
		require.NoError(f, err)
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseNoManager))
		require.NoError(f, manager.Close(f.Context()))
		f.wait(20 * time.Second)
		require.Empty(f, f.items(models.CauseNoManager), "it may start again")
		f.wait(20 * time.Second)
		f.only(models.CauseNoManager)
	})
}

func TestAVisitThatAManagerLeftBehindNeedsAnother(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.origins(1)
		manager, err := f.c.Connect(f.Context(), "manager", 0)
		require.NoError(f, err)
		require.NoError(f, status.NewHeartbeat(manager, time.Hour, map[string]int{visit.Action: 1}).Beat(f.Context()))
		f.wait(5 * time.Second)
		underWay, err := f.db.Visits.Claimed(f.Context())
		require.NoError(f, err)
		require.Len(f, underWay, 1)
		require.NoError(f, manager.Close(f.Context()))
		f.wait(time.Minute)
		f.only(models.CauseNoManager)
	})
}

func TestOriginsOfAProgramNeedNoManager(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		require.NoError(f, f.db.Visits.Register(f.Context(), "shelf"))
		require.NoError(f, f.db.Visits.List(f.Context(), time.Now(), visits.Listing{Origins: []visits.Named{
			{Origin: models.Origin{ID: "o", Kind: "shelf", URI: "shelf://a/1", AddedAt: time.Now()}}}}))
		f.wait(time.Minute)
		require.Empty(f, f.items(models.CauseNoManager))
	})
}

func TestAHostThatRestsIsShownUntilItIsTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.origins(3)
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseHostRests))
		began := time.Now()
		f.visited(models.Outcome{Status: models.Failed, Fault: models.HostFault, Error: "dial: refused"})
		f.wait(5 * time.Second)
		i := f.only(models.CauseHostRests)
		require.Equal(f, models.Degrades, i.Severity)
		require.Equal(f, "feeds.example", i.About)
		require.Equal(f, int64(2), i.Count, "the one that was visited rests longer than its host")
		require.WithinDuration(f, began, i.Since, time.Second)
		require.Regexp(f, `^feeds.example rests until 2000-01-01 00:\d\d:\d\d UTC, and 2 origins wait$`, i.Text)
		require.Equal(f, "1 visit in a row could not connect.", i.Detail)
		require.Equal(f, "leasehold origin save-now --force "+i.Example, i.Command)
		f.steer(i)
		require.Empty(f, f.items(models.CauseHostRests))
	})
}

func TestDisabledOriginsAreShownUntilTheyAreEnabled(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.origins(1)
		f.wait(time.Minute)
		f.visited(models.Outcome{Status: models.NotFound, Fault: models.GoneFault})
		f.wait(5 * time.Second)
		i := f.only(models.CauseDisabled)
		require.Equal(f, "1 origin not visited any more: their servers answered that they are gone", i.Text)
		require.Equal(f, "Such as https://feeds.example/0", i.Detail)
		require.Equal(f, "leasehold origin enable o0", i.Command)
		f.steer(i)
		require.Empty(f, f.items(models.CauseDisabled))
	})
}

// recordings adds two episodes and three clips, and returns their ids by name.
func (f *fixture) recordings() map[string]string {
	f.Helper()
	_, err := f.db.Catalog.AddOrigin(f.Context(), models.Origin{ID: "o", Kind: models.API, URI: "api:", AddedAt: time.Now()})
	require.NoError(f, err)
	ids := map[string]string{}
	var l catalog.Listing
	for _, name := range []string{"monday", "tuesday"} {
		l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: name, Title: "The " + name}})
		ids[name] = models.NewID("o", name)
	}
	for _, name := range []string{"jingle", "spot", "theme"} {
		l.Clips = append(l.Clips, models.Clip{Recording: models.Recording{Name: name, Title: "The " + name}})
		ids[name] = models.NewID("o", name)
	}
	_, err = f.db.Catalog.Curate(f.Context(), "o", time.Now(), l)
	require.NoError(f, err)
	return ids
}

// research stores a result of an episode and clips without a version.
func (f *fixture) research(r models.Researched) {
	f.Helper()
	r.ClipMedia = map[string]models.MediaRef{}
	for _, c := range r.Clips {
		r.ClipMedia[c] = models.MediaRef{}
	}
	require.NoError(f, f.db.Catalog.Ingest(f.Context(), r, time.Now()))
}

// retry performs a remedy that is operation retryProblems.
func (f *fixture) retry(i models.Attention) {
	f.Helper()
	require.Equal(f, "retryProblems", i.Remedy.Operation)
	var body struct {
		Clip    string
		Lasting bool
	}
	require.NoError(f, json.Unmarshal(i.Remedy.Body, &body))
	n, err := f.db.Catalog.Retry(f.Context(), catalog.About{Clip: body.Clip}, body.Lasting)
	require.NoError(f, err)
	require.Positive(f, n)
	f.wait(5 * time.Second)
}

func TestAFileOfAFolderOfClipsThatIsNoneIsShown(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		for id, kind := range map[string]models.OriginKind{"c": models.Clips, "m": models.Media} {
			_, err := f.db.Catalog.AddOrigin(f.Context(), models.Origin{ID: id, Kind: kind, URI: "/srv/" + id, AddedAt: time.Now()})
			require.NoError(f, err)
			_, err = f.db.Catalog.Curate(f.Context(), id, time.Now(), catalog.Listing{Problems: []models.Problem{{Origin: id, Item: "quiet.wav", Reason: "silent: nothing to look for"}}})
			require.NoError(f, err)
		}
		f.wait(5 * time.Second)
		i := f.only(models.CauseBadClips)
		require.Equal(f, "1 clip cannot be used: quiet.wav: silent: nothing to look for", i.Text)
		require.Equal(f, "leasehold origin save-now c", i.Command)
		require.Equal(f, "requestVisit", i.Remedy.Operation)
		require.JSONEq(f, `{"origin": "c"}`, string(i.Remedy.Body))
		_, err := f.db.Catalog.Curate(f.Context(), "c", time.Now(), catalog.Listing{
			Clips: []models.Clip{{Recording: models.Recording{Name: "quiet.wav"}}}, Problems: []models.Problem{{Origin: "c", Item: "quiet.wav", Reason: "noise-like"}},
		})
		require.NoError(f, err)
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseBadClips))
	})
}

func TestClipsThatCannotBeUsedAreShownUntilTheyAreTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		ids := f.recordings()
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseBadClips))
		began := time.Now()
		f.research(models.Researched{Episode: ids["monday"], Clips: []string{ids["spot"]}, Problem: "the clip is silent", Scope: models.ScopeClip})
		f.wait(5 * time.Second)
		f.research(models.Researched{Episode: ids["monday"], Clips: []string{ids["jingle"]}, Problem: "404 Not Found", Scope: models.ScopeClip, Retry: models.RetryLater})
		f.wait(5 * time.Second)
		i := f.only(models.CauseBadClips)
		require.Equal(f, models.Degrades, i.Severity)
		require.Equal(f, int64(2), i.Count)
		require.Equal(f, ids["spot"], i.Example)
		require.Equal(f, "2 clips cannot be used: The spot: the clip is silent", i.Text)
		require.WithinDuration(f, began, i.Since, time.Second)
		require.Equal(f, "leasehold clips retry "+ids["spot"], i.Command)
		require.Empty(f, f.items(models.CauseEpisodes))
		f.retry(i)
		i = f.only(models.CauseBadClips)
		require.Equal(f, ids["jingle"], i.Example)
		require.Contains(f, i.Text, "404 Not Found")
		require.JSONEq(f, `{"clip":"`+ids["jingle"]+`"}`, string(i.Remedy.Body), "it is fetched again anyway")
		f.retry(i)
		require.Empty(f, f.items(models.CauseBadClips))
	})
}

func TestADuplicateClipIsNotABadClip(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		ids := f.recordings()
		same := models.MediaRef{Hash: "1111111111111111111111111111111111111111111111111111111111111111"}
		require.NoError(f, f.db.Catalog.Ingest(f.Context(), models.Researched{
			Episode: ids["monday"], Clips: []string{ids["spot"], ids["theme"]},
			ClipMedia: map[string]models.MediaRef{ids["spot"]: same, ids["theme"]: same},
		}, time.Now()))
		problems, err := f.db.Catalog.Problems(f.Context())
		require.NoError(f, err)
		require.Len(f, problems, 1, "the duplicate")
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseBadClips))
	})
}

func TestEpisodesThatFailedForAPassingReasonAreShownUntilTheyAreTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		ids := f.recordings()
		for _, name := range []string{"monday", "tuesday"} {
			f.research(models.Researched{Episode: ids[name], Clips: []string{ids["spot"]}, Problem: "503 Service Unavailable", Scope: models.ScopeEpisode, Retry: models.RetryLater})
		}
		f.wait(5 * time.Second)
		i := f.only(models.CauseEpisodes)
		require.Equal(f, models.Degrades, i.Severity)
		require.Equal(f, int64(2), i.Count)
		require.Equal(f, ids["monday"], i.Example)
		require.Equal(f, "2 episodes failed for a reason that may pass: The monday: 503 Service Unavailable", i.Text)
		require.Regexp(f, `^It is tried again at 2000-01-01 \d\d:\d\d:\d\d UTC\.$`, i.Detail)
		require.Equal(f, "leasehold episode retry --problems", i.Command)
		f.retry(i)
		require.Empty(f, f.items(models.CauseEpisodes))

		f.research(models.Researched{Episode: ids["monday"], Clips: []string{ids["spot"]}, Problem: "no audio", Scope: models.ScopeEpisode})
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseEpisodes), "its content is the reason, so that it does not pass")
	})
}

func TestAScheduleThatLeavesOutRunsIsShownOnceWithTheirNumber(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		schedules := schedule.Client{Repo: f.admin}
		_, _, err := schedules.Set(f.Context(), "nightly", models.Schedule{Task: models.ScheduledTask{Action: "import", Timeout: 36_000}, Every: 60})
		require.NoError(f, err)
		w := f.worker("import", 1)
		f.wait(61 * time.Second)
		held := f.claim(w, "import")
		require.Empty(f, f.items(models.CauseRunsLeft))
		f.wait(time.Minute)
		i := f.only(models.CauseRunsLeft)
		require.Equal(f, models.Degrades, i.Severity)
		require.Equal(f, "Schedule nightly has left out 1 run", i.Text)
		require.Contains(f, i.Detail, held.ID)
		require.Equal(f, held.ID, i.Example)
		require.Equal(f, "leasehold schedule show nightly", i.Command)
		f.wait(2 * time.Minute)
		again := f.only(models.CauseRunsLeft)
		require.Equal(f, "Schedule nightly has left out 3 runs", again.Text)
		require.Equal(f, i.ID, again.ID)
		require.Equal(f, i.Since, again.Since)
		require.Equal(f, "pauseSchedule", again.Remedy.Operation)
		_, err = schedules.Pause(f.Context(), again.Remedy.Params["schedule"])
		require.NoError(f, err)
		require.Empty(f, f.items(models.CauseRunsLeft))
		_, err = schedules.Resume(f.Context(), "nightly")
		require.NoError(f, err)
		require.NoError(f, w.Report(f.Context(), held, "", true, nil))
		f.wait(time.Minute)
		synctest.Wait()
		require.Empty(f, f.items(models.CauseRunsLeft), "a run was made")
	})
}
