package task_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// gets claims a task of the action a with a client; its id is empty if there is none now.
func (f fixture) gets(c task.Client) task.Item {
	f.Helper()
	f.client = c
	return f.claims()
}

// The machine may be the reason for a failure, so another one tries first.
func TestATaskThatFailedOnOneMachineGoesToAnotherOneFirst(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{MaxAttempts: 9})
		mill, mill2, barn := f.workerOn("mill", "w1", ""), f.workerOn("mill", "w2", ""), f.workerOn("barn", "w3", "")
		i := f.gets(mill)
		require.NoError(f, mill.Release(f.Context(), i, "cannot"))
		require.Empty(f, f.gets(mill).ID)
		require.Empty(f, f.gets(mill2).ID, "the other machine serves the action")
		i = f.gets(barn)
		require.Equal(f, []string{"w1"}, i.Claimants)
		require.Equal(f, []string{"mill"}, i.Hosts)
		require.NoError(f, barn.Release(f.Context(), i, "cannot"))
		i = f.gets(mill2)
		require.Equal(f, []string{"mill", "barn"}, i.Hosts)
		require.NoError(f, mill2.Release(f.Context(), i, "cannot"))
		shown, err := f.client.Show(f.Context(), i.ID)
		require.NoError(f, err)
		require.Equal(f, []string{"w1", "w3", "w2"}, shown.Claimants)
		require.Equal(f, []string{"mill", "barn"}, shown.Hosts, "each once")
		require.Equal(f, "every worker gave it back; they may try again after the back-off", shown.State)
		<-time.After(backoff)
		i = f.gets(mill)
		require.Equal(f, []string{"w1", "w3", "w2"}, i.Claimants, "they are kept, and may try again")
		require.Empty(f, i.Hosts)
		require.EqualValues(f, 3, i.Attempts)
		require.NoError(f, mill.Release(f.Context(), i, "cannot"))
		require.Empty(f, f.gets(mill).ID)
		i = f.gets(barn)
		require.Equal(f, []string{"w3", "w2", "w1"}, i.Claimants, "the last one gave it back last")
	})
}

// Workers of machines without a name count as ones on machines of their own.
func TestATaskThatFailedOnAMachineWithoutANameGoesToAnyOtherWorker(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{MaxAttempts: 9})
		one, two, mill, mill2 := f.workerOn("", "w1", ""), f.workerOn("", "w2", ""), f.workerOn("mill", "w3", ""), f.workerOn("mill", "w4", "")
		i := f.gets(one)
		require.NoError(f, one.Release(f.Context(), i, "cannot"))
		require.Empty(f, f.gets(one).ID)
		i = f.gets(mill)
		require.Empty(f, i.Hosts)
		require.NoError(f, mill.Release(f.Context(), i, "cannot"))
		require.Empty(f, f.gets(mill2).ID)
		require.Equal(f, i.ID, f.gets(two).ID)
	})
}

func TestAWorkerIsKnownByItsNameInALaterSession(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{MaxAttempts: 9})
		before, after, other := f.workerOn("", "w1", "digger"), f.workerOn("", "w2", "digger"), f.workerOn("", "w3", "")
		i := f.gets(before)
		require.Equal(f, "digger", i.CurrentClaimant)
		require.NoError(f, before.Release(f.Context(), i, "cannot"))
		require.Empty(f, f.gets(after).ID)
		i = f.gets(other)
		require.Equal(f, []string{"digger"}, i.Claimants)
		require.Equal(f, "w3", i.CurrentClaimant)
	})
}

// If only machines from which it was given back are left, their other workers may claim it.
func TestATaskIsOfferedToOtherWorkersOfAMachineWhenNoOtherMachineIsLeft(t *testing.T) {
	for name, revive := range map[string]func(f fixture) error{
		"of an action": func(f fixture) error { return f.client.ReviveStuck(f.Context(), "a") },
		"of all":       func(f fixture) error { _, err := f.client.Sweep(f.Context(), nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f fixture) {
				untouched := f.make(models.TaskOptions{}, func(n *task.New) { n.Priority = -1 })
				f.make(models.TaskOptions{MaxAttempts: 9})
				mill, mill2, barn := f.workerOn("mill", "w1", ""), f.workerOn("mill", "w2", ""), f.workerOn("barn", "w3", "")
				i := f.gets(mill)
				require.NoError(f, mill.Release(f.Context(), i, "cannot"))
				require.NoError(f, revive(f))
				shown, err := f.client.Show(f.Context(), i.ID)
				require.NoError(f, err)
				require.Equal(f, []string{"mill"}, shown.Hosts, "a worker of the other machine could do it")
				require.NoError(f, barn.Repo.Close(f.Context()))
				claimed := make(chan task.Item, 1)
				go func() {
					got, err := mill2.Claim(f.Context(), "a")
					require.NoError(f, err)
					claimed <- got
				}()
				require.Equal(f, untouched.ID, (<-claimed).ID)
				_, err = f.repo.Space("status").GetAll(f.Context(), tuple.Match("serves", "w3", tuple.AnyString, tuple.AnyInt64))
				require.NoError(f, err)
				require.NoError(f, revive(f))
				shown, err = f.client.Show(f.Context(), i.ID)
				require.NoError(f, err)
				require.Empty(f, shown.Hosts)
				require.Equal(f, []string{"w1"}, shown.Claimants)
				require.Equal(f, i.ID, f.gets(mill2).ID)
			})
		})
	}
}

func TestATaskWhoseLastOtherWorkerLeavesIsRevivedAfterABackOff(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		i := f.make(models.TaskOptions{MaxAttempts: 9, Limits: []string{"db"}})
		one := f.workerOn("", "w1", "")
		f.workerOn("", "w2", "")
		require.NoError(f, one.Release(f.Context(), f.gets(one), "cannot"))
		f.is(i.ID, task.Waiting, task.WhyNextInLine)
		f.make(models.TaskOptions{Limits: []string{"db"}, MaxAttempts: 9})
		_, err := f.repo.Space("status").GetAll(f.Context(), tuple.Match("serves", "w2", tuple.AnyString, tuple.AnyInt64))
		require.NoError(f, err)
		require.NoError(f, f.client.ReviveStuck(f.Context(), "a"))
		f.is(i.ID, task.Waiting, task.WhyBackOff)
		other := f.gets(one)
		require.NotEmpty(f, other.ID)
		require.NoError(f, one.Report(f.Context(), other, "", true, nil))
		<-time.After(backoff)
		again := f.gets(one)
		require.Equal(f, i.ID, again.ID)
		require.EqualValues(f, 1, again.Attempts)
	})
}

func TestATaskOfAnotherSessionIsStaleAlsoWithTheCurrentToken(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{})
		i, other := f.claims(), f.workerOn("mill", "w1", "")
		for name, call := range map[string]func(c task.Client, i task.Item) error{
			"extend":    func(c task.Client, i task.Item) error { return c.Extend(f.Context(), i) },
			"release":   func(c task.Client, i task.Item) error { return c.Release(f.Context(), i, "") },
			"hand back": func(c task.Client, i task.Item) error { return c.HandBack(f.Context(), i) },
			"report":    func(c task.Client, i task.Item) error { return c.Report(f.Context(), i, "", true, 1) },
		} {
			stale := i
			stale.Token++
			require.ErrorContains(f, call(other, i), "stale token", name)
			require.ErrorContains(f, call(f.client, stale), "stale token", name)
		}
		f.is(i.ID, task.Claimed, "")
		_, err := f.repo.Call(f.Context(), space.OpID{}, "task.release", tuple.New(i.ID, i.Token, "short"))
		require.NoError(f, err)
		f.is(i.ID, task.Waiting, task.WhyNextInLine)
		require.Equal(f, "short", f.gets(other).History[0].Error)
	})
}
