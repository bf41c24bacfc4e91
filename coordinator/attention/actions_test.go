package attention_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestTasksWithoutAWorkerStopWorkUntilOneComes(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		require.Empty(f, f.items(models.CauseNoWorker))
		ids := f.create("transcode", 3)
		began := time.Now()
		i := f.only(models.CauseNoWorker)
		require.Equal(f, models.StopsWork, i.Severity)
		require.Equal(f, "transcode", i.About)
		require.Equal(f, int64(3), i.Count)
		require.Equal(f, ids[0], i.Example)
		require.Equal(f, "No worker serves transcode, and 3 tasks wait", i.Text)
		require.Equal(f, "leasehold worker --exec transcode=PROGRAM", i.Command)
		f.wait(time.Minute)
		again := f.only(models.CauseNoWorker)
		require.Equal(f, i.ID, again.ID)
		require.WithinDuration(f, began, again.Since, 2*time.Second, "the item is as old as its cause")

		require.Equal(f, "cancelSelected", again.Remedy.Operation)
		require.True(f, again.Remedy.Lasting)
		require.Equal(f, int64(3), again.Remedy.Count)
		require.JSONEq(f, `{"action":"transcode","state":"waiting","count":3,"reason":"no worker serves transcode"}`, string(again.Remedy.Body))

		f.worker("transcode", 1)
		require.Empty(f, f.items(models.CauseNoWorker))
	})
}

func TestAnActionWithoutAWorkerTellsWhoServedItLast(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.create("transcode", 1)
		f.create("mail", 1)
		lost, left := f.worker("transcode", 1), f.worker("mail", 1)
		require.Empty(f, f.items(models.CauseNoWorker))
		lost.stop()
		left.stop()
		require.NoError(f, left.Close(f.Context()))
		f.wait(10 * time.Second)
		details := map[string]string{}
		for _, i := range f.items(models.CauseNoWorker) {
			details[i.About] = i.Detail
		}
		require.Contains(f, details["transcode"], "Last served by "+lost.Session()+" of ")
		require.Contains(f, details["transcode"], "whose heartbeats stopped; lost at 2000-01-01 00:00:0")
		require.Contains(f, details["mail"], "Last served by "+left.Session()+" until 2000-01-01 00:00:0")
	})
}

func TestATaskThatIsNotDueNeedsNoWorkerYet(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		_, err := f.tasks.Create(f.Context(), delayed("later", time.Hour), 0)
		require.NoError(f, err)
		require.Empty(f, f.items(models.CauseNoWorker))
		f.wait(time.Hour)
		f.only(models.CauseNoWorker)
	})
}

func TestAPausedActionStopsWorkUntilItIsResumed(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.worker("mail", 1)
		require.NoError(f, f.tasks.Pause(f.Context(), "mail"))
		require.Empty(f, f.items(models.CausePaused), "no task waits")
		since := time.Now().Add(-time.Second)
		ids := f.create("mail", 2)
		f.wait(10 * time.Minute)
		i := f.only(models.CausePaused)
		require.Equal(f, int64(2), i.Count)
		require.Equal(f, ids[0], i.Example)
		require.WithinDuration(f, since, i.Since, time.Second)
		require.Contains(f, i.Text, "mail is paused since 2000-01-01 00:00:0")
		require.Equal(f, "leasehold task resume mail", i.Command)
		require.Equal(f, "resumeAction", i.Remedy.Operation)
		require.Equal(f, map[string]string{"action": "mail"}, i.Remedy.Params)
		require.NoError(f, f.tasks.Resume(f.Context(), i.Remedy.Params["action"]))
		require.Empty(f, f.items(models.CausePaused))
	})
}

func TestADismissedItemComesBackWhenItsCountGrows(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.create("transcode", 1)
		i := f.only(models.CauseNoWorker)
		require.NoError(f, f.c.Watcher().Dismiss(i.ID))
		require.Empty(f, f.items(models.CauseNoWorker))
		require.ErrorContains(f, f.c.Watcher().Dismiss(i.ID), "not found")
		f.create("transcode", 1)
		f.only(models.CauseNoWorker)
	})
}
