package attention_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/models"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

// lose lets the session of a worker be lost, and waits for that.
func (f *fixture) lose(w *worker) {
	f.Helper()
	w.stop()
	f.wait(8 * time.Second)
}

func TestALostSessionIsShownWithItsTasksForTenMinutes(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		ids := f.create("resize", 1)
		w := f.worker("resize", 1)
		require.Equal(f, ids[0], f.claim(w, "resize").ID)
		require.Empty(f, f.items(models.CauseLost))
		f.lose(w)
		i := f.only(models.CauseLost)
		require.Equal(f, models.Degrades, i.Severity)
		require.Equal(f, int64(1), i.Count)
		require.Equal(f, ids[0], i.Example)
		require.Contains(f, i.Text, w.Session())
		require.Contains(f, i.Detail, "Held 1 task, which others can claim now: "+ids[0])
		f.wait(9 * time.Minute)
		f.only(models.CauseLost)
		f.wait(time.Minute)
		require.Empty(f, f.items(models.CauseLost))
	})
}

func TestATaskWhoseWorkerWasLostTwiceIsShownUntilItIsCancelled(t *testing.T) {
	t.Parallel()
	inBubble(t, func(c *coordinator.Config) { c.Work.Task.MaxAttempts = 9 }, func(f *fixture) {
		ids := f.create("resize", 1)
		for range 2 {
			require.Empty(f, f.items(models.CauseSuspect))
			w := f.worker("resize", 1)
			require.Equal(f, ids[0], f.claim(w, "resize").ID)
			f.lose(w)
			f.wait(2 * time.Second) // of back-off
		}
		i := f.only(models.CauseSuspect)
		require.Equal(f, ids[0], i.About)
		require.Equal(f, int64(2), i.Count)
		third := f.worker("resize", 1)
		require.Equal(f, ids[0], f.claim(third, "resize").ID)
		require.Contains(f, f.only(models.CauseSuspect).Detail, "has it alone")
		require.Equal(f, "cancelTask", i.Remedy.Operation)
		require.NoError(f, f.tasks.Cancel(f.Context(), i.Remedy.Params["task"], ""))
		require.Empty(f, f.items(models.CauseSuspect))
	})
}

func TestAWorkerThatCannotDoAnActionIsShownWithItsReason(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		f.create("resize", 1)
		w := f.worker("resize", 2)
		w.heartbeat.SetState("cannot do resize on mill-2 until 02:00:00Z: write /cache: no space left on device; idle")
		w.heartbeat.SetSlots("resize", 0)
		i := f.only(models.CauseOwnFault)
		require.Equal(f, w.Session(), i.About)
		require.Contains(f, i.Text, "cannot do resize now")
		require.Contains(f, i.Detail, "no space left on device")
		require.Equal(f, "drainSession", i.Remedy.Operation)
		require.Empty(f, f.items(models.CauseNoWorker), "it is a fault of the worker")
		require.NoError(f, status.Drain(f.Context(), f.admin, i.Remedy.Params["session"]))
		w.heartbeat.SetState("draining")
		require.Empty(f, f.items(models.CauseOwnFault))
	})
}

func TestOtherVersionsAreShown(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		open := func(id, mode, version string) engine.GateSession {
			s, err := f.c.Engine().OpenGateSession(f.Context(), engine.Opening{ID: id, Fleet: true, TTL: time.Minute, Process: space.Process{Mode: mode, Version: version}})
			require.NoError(f, err)
			return s
		}
		open("client-1", "client", "v0.0.1-old")
		require.Empty(f, f.items(models.CauseVersions))
		old := open("worker-1", "worker", "v0.0.1-old")
		i := f.only(models.CauseVersions)
		require.Equal(f, models.ToKnow, i.Severity)
		require.Equal(f, "worker-1", i.Example)
		require.NoError(f, space.Over(old).Close(f.Context()))
		require.Empty(f, f.items(models.CauseVersions))
	})
}

func TestAClockThatDiffersIsShownUntilItIsRight(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		w := f.worker("resize", 1)
		require.Empty(f, f.items(models.CauseClocks))
		tell := func(ahead time.Duration) {
			_, err := w.Repository.Call(f.Context(), space.OpID{}, "status.clock", tuple.New(time.Now().Add(ahead).UnixMilli()))
			require.NoError(f, err)
		}
		tell(-90 * time.Second)
		i := f.only(models.CauseClocks)
		require.Equal(f, "The clock of "+w.Session()+" is 1m30s behind the coordinator's", i.Text)
		tell(3 * time.Second)
		require.Contains(f, f.only(models.CauseClocks).Text, "3s ahead of")
		tell(time.Second)
		require.Empty(f, f.items(models.CauseClocks))
		tell(time.Hour)
		f.only(models.CauseClocks)
		f.wait(time.Minute) // the heartbeat reports the right time
		synctest.Wait()
		require.Empty(f, f.items(models.CauseClocks))
	})
}
