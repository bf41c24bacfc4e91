package task_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// withJumps is withFixture with a wall clock that jumps: the engine's clock differs from it by
// the jumps.
func withJumps(t *testing.T, run func(f fixture, jump func(time.Duration))) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64 // of the wall clock
		now := func() time.Time { return time.Now().Add(-time.Duration(ahead.Load())) }
		inBubble(t, "", now, func(f fixture, _ func(string) space.Repository) {
			run(f, func(by time.Duration) {
				ahead.Add(int64(by))
				if by > 0 {
					<-time.After(by)
				}
			})
		})
	})
}

func TestAClockThatIsSetForwardMovesNoTask(t *testing.T) {
	withJumps(t, func(f fixture, jump func(time.Duration)) {
		delayed := f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Hour)})
		f.make(models.TaskOptions{})
		require.NoError(f, f.client.Fail(f.Context(), f.claims(), task.Failure{Reason: "busy", Delay: 30 * time.Minute}))
		f.make(models.TaskOptions{})
		running := f.claims()
		waits := f.make(models.TaskOptions{ExpiresAt: time.Now().Add(2 * time.Hour)}, func(n *task.New) { n.Action = "other" })
		jump(48 * time.Hour)
		require.Empty(f, f.claims().ID, "neither the delay nor the back-off is over")
		f.is(delayed.ID, task.StateDelayed, task.WhyNotDue)
		f.is(waits.ID, task.Waiting, task.WhyNoWorker)
		f.resolve(running, nil)
		<-time.After(time.Hour + time.Second)
		f.forgive()
		require.NotEmpty(f, f.claims().ID)
		require.NotEmpty(f, f.claims().ID)
		<-time.After(time.Hour)
		synctest.Wait()
		_, err := f.client.DeadLetter(f.Context(), waits.ID)
		require.NoError(f, err)
	})
}

func TestAClockThatIsSetBackHoldsNoTaskBack(t *testing.T) {
	withJumps(t, func(f fixture, jump func(time.Duration)) {
		delayed := f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Hour)})
		f.make(models.TaskOptions{})
		running := f.claims()
		jump(-48 * time.Hour) // the delay and the timeout are over, in spite of the wall clock
		// The engine takes the jump for a pause, and may count the time since it looked last, at most
		// a second, as a part of it.
		<-time.After(time.Hour + time.Second)
		require.Equal(f, delayed.ID, f.claims().ID)
		shown, err := f.client.Show(f.Context(), running.ID)
		require.NoError(f, err)
		require.EqualValues(f, 1, shown.Attempts)
	})
}

// The clock of the engine decides when a delay is over, also if it is faster than the wall clock.
func TestADelayThatIsOverForTheEngineIsNotBegunAgainByTheWallClock(t *testing.T) {
	withJumps(t, func(f fixture, jump func(time.Duration)) {
		at := time.Now().Add(time.Minute)
		delayed := f.make(models.TaskOptions{NotBefore: at})
		f.make(models.TaskOptions{MaxAttempts: 9})
		require.NoError(f, f.client.HandBackFor(f.Context(), f.claims(), time.Minute))
		waits := f.make(models.TaskOptions{NotBefore: at, After: []string{delayed.ID}})
		for range 45 {
			jump(-time.Second / 2) // less than a pause of the process
			<-time.After(time.Second)
		}
		require.True(f, time.Now().Before(at.Add(-10*time.Second)))
		require.NotEmpty(f, f.claims().ID)
		require.NotEmpty(f, f.claims().ID)
		shown, err := f.client.Show(f.Context(), waits.ID)
		require.NoError(f, err)
		require.Equal(f, at.UTC(), shown.NotBefore, "its delay has not begun")
	})
}
