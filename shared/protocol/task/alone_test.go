package task_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

// machineOf is a worker with several slots that can be lost.
type machineOf struct {
	task.Client
	f       fixture
	session engine.GateSession
}

// worker opens the session of a worker, which serves the actions, or a if none is given.
func (f fixture) worker(id string, slots int64, actions ...string) machineOf {
	f.Helper()
	s, err := f.engine.OpenGateSession(f.Context(), engine.Opening{ID: id, Fleet: true, Process: space.Process{Host: id, Name: id}})
	require.NoError(f, err)
	if len(actions) == 0 {
		actions = []string{"a"}
	}
	args := tuple.New("works", "2026-11-28T00:00:00Z")
	for _, a := range actions {
		args = append(args, tuple.New(a, slots))
	}
	m := machineOf{task.Client{Repo: space.Over(s)}, f, s}
	_, err = m.Repo.Call(f.Context(), space.OpID{}, "status.beat", args)
	require.NoError(f, err)
	return m
}

// tries claims up to n tasks that need not be waited for.
func (m machineOf) tries(n int, actions ...string) (ids []string) {
	m.f.Helper()
	for _, i := range m.items(n, actions...) {
		ids = append(ids, i.ID)
	}
	return ids
}

func (m machineOf) items(n int, actions ...string) []task.ClaimedTask {
	m.f.Helper()
	if len(actions) == 0 {
		actions = []string{"a"}
	}
	_, all, err := m.Next(m.f.Context(), nil, n, actions...)
	require.NoError(m.f, err)
	return all
}

// waits claims one task in the background.
func (m machineOf) waits() chan task.Item {
	claimed := make(chan task.Item, 1)
	go func() {
		if i, err := m.Claim(m.f.Context(), "a"); err == nil {
			claimed <- i
		}
	}()
	synctest.Wait()
	return claimed
}

func (f fixture) shown(id string) task.Shown {
	f.Helper()
	s, err := f.client.Show(f.Context(), id)
	require.NoError(f, err)
	return s
}

// suspect creates a task of priority 1, and loses two workers that hold it beside another task.
func (f fixture) suspect(o models.TaskOptions) string {
	f.Helper()
	high := func(n *task.New) { n.Priority = 1 }
	i := f.make(o, high)
	for n := range 2 {
		neighbour := f.make(models.TaskOptions{}, high)
		w := f.worker(fmt.Sprint("lost-", i.ID, n), 2)
		require.ElementsMatch(f, []string{i.ID, neighbour.ID}, w.tries(2))
		w.session.Lose()
		require.NoError(f, f.client.Cancel(f.Context(), neighbour.ID, ""))
	}
	return i.ID
}

func TestALostWorkerCountsNoAttemptOfTasksThatSharedIt(t *testing.T) {
	withFixture(t, func(f fixture) {
		one, two := f.make(models.TaskOptions{MaxAttempts: 1}), f.make(models.TaskOptions{MaxAttempts: 1})
		w := f.worker("w1", 4)
		require.Equal(f, []string{one.ID, two.ID}, w.tries(4))
		w.session.Lose()
		for _, id := range []string{one.ID, two.ID} {
			s := f.shown(id)
			require.Equal(f, task.Waiting, s.StateNow())
			require.EqualValues(f, 1, s.Lost)
			require.Zero(f, s.Attempts)
			require.Empty(f, s.Claimants)
			require.Equal(f, "w1: its worker was lost with 1 other tasks; not counted as an attempt", s.History[0].String())
			require.Greater(f, s.Token, one.Token)
		}
		again := f.worker("w1", 4)
		require.Equal(f, []string{one.ID, two.ID}, again.tries(4), "the same worker may try again, at once")
	})
}

func TestALostWorkerCountsAnAttemptOfTheOnlyTaskThatItHeld(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{MaxAttempts: 2, Backoff: 1})
		w := f.worker("w1", 4)
		require.Equal(f, []string{i.ID}, w.tries(4))
		w.session.Lose()
		s := f.shown(i.ID)
		require.EqualValues(f, 1, s.Lost)
		require.EqualValues(f, 1, s.Attempts)
		<-time.After(2 * time.Second)
		w = f.worker("w2", 4)
		require.Equal(f, []string{i.ID}, w.tries(4))
		w.session.Lose()
		require.Equal(f, task.StateDead, f.shown(i.ID).StateNow())
	})
}

func TestASuspectIsClaimedAlone(t *testing.T) {
	withFixture(t, func(f fixture) {
		id := f.suspect(models.TaskOptions{})
		other := f.make(models.TaskOptions{})
		w := f.worker("w1", 4)
		require.Equal(f, []string{id}, w.tries(4), "and nothing beside it")
		require.Empty(f, w.tries(4))
		require.Equal(f, []string{other.ID}, f.worker("w2", 4).tries(4))
	})
}

func TestAWorkerThatHoldsATaskDoesNotGetASuspect(t *testing.T) {
	withFixture(t, func(f fixture) {
		w := f.worker("w1", 4)
		first := f.make(models.TaskOptions{})
		held := w.items(4)
		require.Equal(f, first.ID, held[0].ID)
		id := f.suspect(models.TaskOptions{})
		require.Empty(f, w.tries(4))
		f.is(id, task.Waiting, task.WhyAlone)
		other := f.make(models.TaskOptions{})
		require.Equal(f, []string{other.ID}, w.tries(1), "the others go on")
		waiting := w.waits()
		require.NoError(f, w.Report(f.Context(), held[0].Item, "", true, nil))
		synctest.Wait()
		require.Empty(f, waiting, "it still holds one")
		require.NoError(f, f.client.Cancel(f.Context(), other.ID, ""))
		require.Equal(f, id, (<-waiting).ID, "its waiting claim takes it when it holds nothing")
	})
}

func TestAWorkerGoesOnWithItsWaitingClaimsAfterASuspect(t *testing.T) {
	withFixture(t, func(f fixture) {
		id := f.suspect(models.TaskOptions{})
		other := f.make(models.TaskOptions{})
		w := f.worker("w1", 4)
		alone := w.items(4)
		require.Equal(f, id, alone[0].ID)
		waiting := w.waits()
		require.Empty(f, waiting)
		require.NoError(f, w.Report(f.Context(), alone[0].Item, "", true, nil))
		require.Equal(f, other.ID, (<-waiting).ID)
	})
}

func TestASuspectThatWaitsReservesAWorker(t *testing.T) {
	withFixture(t, func(f fixture) {
		w := f.worker("w1", 2)
		f.make(models.TaskOptions{})
		held := w.items(1)
		id := f.suspect(models.TaskOptions{})
		next := f.make(models.TaskOptions{})
		require.Equal(f, []string{next.ID}, w.tries(1), "it has waited for less than 10 s")
		<-time.After(10 * time.Second)
		last := f.make(models.TaskOptions{})
		require.Empty(f, w.tries(1), "reserved")
		require.Empty(f, w.tries(1))
		s := f.shown(id)
		require.Equal(f, task.WhyAlone, s.Why.Code)
		require.Contains(f, s.Why.Text, "w1 is reserved for it")
		waiting := w.waits()
		require.NoError(f, w.Report(f.Context(), held[0].Item, "", true, nil))
		synctest.Wait()
		require.Empty(f, waiting)
		require.NoError(f, f.client.Cancel(f.Context(), next.ID, ""))
		require.Equal(f, id, (<-waiting).ID)
		require.Empty(f, w.tries(1))
		require.Equal(f, []string{last.ID}, f.worker("w2", 1).tries(1), "another worker is free")
	})
}

func TestAReservationEndsWhenTheSuspectGoes(t *testing.T) {
	for name, goes := range map[string]func(f fixture, id string){
		"to another worker": func(f fixture, id string) { require.Equal(f, []string{id}, f.worker("w2", 1).tries(1)) },
		"because it is cancelled": func(f fixture, id string) {
			require.NoError(f, f.client.Cancel(f.Context(), id, ""))
		},
		"because its action is paused": func(f fixture, id string) {
			require.NoError(f, f.client.Pause(f.Context(), "a"))
			require.NoError(f, f.client.Resume(f.Context(), "a"))
			require.Equal(f, []string{id}, f.worker("w2", 1).tries(1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f fixture) {
				w := f.worker("w1", 3)
				f.make(models.TaskOptions{})
				w.items(1)
				id := f.suspect(models.TaskOptions{})
				<-time.After(10 * time.Second)
				other := f.make(models.TaskOptions{})
				waiting := w.waits()
				require.Empty(f, waiting)
				goes(f, id)
				require.Equal(f, other.ID, (<-waiting).ID)
			})
		})
	}
}

func TestAReservedWorkerThatIsLostIsReplaced(t *testing.T) {
	withFixture(t, func(f fixture) {
		busy, other := f.worker("w1", 3), f.worker("w2", 3)
		f.make(models.TaskOptions{})
		f.make(models.TaskOptions{})
		busy.items(1)
		held := other.items(1)
		id := f.suspect(models.TaskOptions{})
		<-time.After(10 * time.Second)
		f.make(models.TaskOptions{})
		require.Empty(f, busy.tries(1))
		require.Len(f, other.tries(1), 1, "one is reserved, and no other")
		f.make(models.TaskOptions{})
		busy.session.Lose()
		require.Empty(f, other.tries(1))
		require.Contains(f, f.shown(id).Why.Text, "w2 is reserved")
		require.NotEmpty(f, held)
	})
}

func TestASuspectDiesOfLossesWhileItWasAlone(t *testing.T) {
	withFixture(t, func(f fixture) {
		id := f.suspect(models.TaskOptions{MaxAttempts: 2, Backoff: 1})
		for n := range 2 {
			w := f.worker(fmt.Sprint("w", n), 4)
			require.Equal(f, []string{id}, w.tries(4))
			w.session.Lose()
			<-time.After(2 * time.Second)
		}
		s := f.shown(id)
		require.Equal(f, task.StateDead, s.StateNow())
		require.EqualValues(f, 4, s.Lost)
		require.EqualValues(f, 2, s.Attempts)
		_, err := f.client.Requeue(f.Context(), id, true)
		require.NoError(f, err)
		require.Equal(f, []string{id}, f.worker("w9", 4).tries(4), "it is a suspect still")
	})
}

// The space task is open to programs that take by templates.
func TestAGetFromTheSpaceTaskTakesASuspectAlone(t *testing.T) {
	withFixture(t, func(f fixture) {
		id := f.suspect(models.TaskOptions{})
		other := f.make(models.TaskOptions{})
		w := f.worker("w1", 4)
		tasks := w.Repo.Space(task.Space)
		got, ok, err := tasks.GetP(f.Context(), task.Any())
		require.NoError(f, err)
		require.True(f, ok)
		require.Equal(f, id, got.Str(2))
		_, ok, err = tasks.GetP(f.Context(), task.Any())
		require.NoError(f, err)
		require.False(f, ok)
		_, ok, err = tasks.GetP(f.Context(), task.WithID(other.ID))
		require.NoError(f, err)
		require.False(f, ok)
	})
}

// A pool of own slots claims one action only.
func TestAReservedWorkerClaimsNoOtherActionEither(t *testing.T) {
	withFixture(t, func(f fixture) {
		w := f.worker("w1", 2, "a", "b")
		f.make(models.TaskOptions{})
		held := w.items(1)
		id := f.suspect(models.TaskOptions{})
		<-time.After(10 * time.Second)
		f.make(models.TaskOptions{})
		require.Empty(f, w.tries(1))
		other := f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "b" })
		require.Empty(f, w.tries(1, "b"))
		waiting := w.waits()
		require.NoError(f, w.Report(f.Context(), held[0].Item, "", true, nil))
		suspect := <-waiting
		require.Equal(f, id, suspect.ID)
		require.Empty(f, w.tries(1, "b"))
		require.NoError(f, w.Release(f.Context(), suspect, "cannot"))
		require.Equal(f, []string{other.ID}, w.tries(1, "b"))
	})
}
