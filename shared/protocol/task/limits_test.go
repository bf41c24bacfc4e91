package task_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
)

func TestALimitBoundsTheTasksThatRun(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "db", Max: 2}))
		o := models.TaskOptions{Limits: []string{"db", "unknown"}}
		var made []task.Item
		for range 5 {
			made = append(made, f.make(o))
		}
		other := f.make(models.TaskOptions{})
		one, two := f.claims(), f.claims()
		require.Equal(f, made[1].ID, two.ID)
		require.Equal(f, other.ID, f.claims().ID, "a full limit does not stop others")
		require.Empty(f, f.claims().ID)
		f.is(made[2].ID, task.Waiting, task.WhyLimit)
		limits, err := f.client.Limits(f.Context())
		require.NoError(f, err)
		require.Equal(f, []task.LimitState{{task.Limit{Name: "db", Max: 2}, 2, 3}}, limits)

		f.resolve(one, nil)
		require.Equal(f, made[2].ID, f.claims().ID)
		require.Empty(f, f.claims().ID)
		require.NoError(f, f.client.HandBack(f.Context(), two), "a slot is free however the hold ends")
		require.Equal(f, two.ID, f.claims().ID)
		<-time.After(61 * time.Second) // both time out
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "db", Max: 3}))
		claimed := map[string]bool{}
		for i := f.claims(); i.ID != ""; i = f.claims() {
			claimed[i.ID] = true
		}
		require.LessOrEqual(f, len(claimed), 3)
		require.NoError(f, f.client.RemoveLimit(f.Context(), "db"))
		require.ErrorIs(f, f.client.RemoveLimit(f.Context(), "db"), fault.ErrNotFound)
	})
}

func TestALimitedTaskOfAnActionWithoutWorkersDoesNotKeepItsSlot(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "db", Max: 1}))
		o := models.TaskOptions{Limits: []string{"db"}}
		f.make(o)
		running := f.claims()
		for range 3 {
			f.make(o, func(n *task.New) { n.Action, n.Priority = "unserved", 9 })
		}
		mine := f.make(o)
		f.resolve(running, nil)
		require.Equal(f, mine.ID, f.claims().ID)
	})
}

func TestALimitCanDropATaskOrCancelTheRunningOne(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "db", Max: 1}))
		first := f.make(models.TaskOptions{Limits: []string{"db"}})
		require.Equal(f, first.ID, f.claims().ID)
		dropped := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.Drop})
		f.ended(dropped.ID)
		favoured := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning})
		f.ended(first.ID)
		message, err := f.repo.Receive(f.Context())
		require.NoError(f, err)
		id, reason, _ := task.ParseStop(message)
		require.Equal(f, first.ID, id)
		require.Contains(f, reason, favoured.ID)
		require.Equal(f, favoured.ID, f.claims().ID)
	})
}

func TestOfTheTasksThatHaveALimitTheOneThatWasClaimedFirstIsCancelled(t *testing.T) {
	withFixture(t, func(f fixture) {
		const running = task.MaxClaims + 2
		f.limit("db", running)
		last := f.make(models.TaskOptions{Limits: []string{"db"}}) // created before the others, and claimed behind them
		var first task.Item
		for n := range running - 1 {
			f.make(models.TaskOptions{Limits: []string{"db"}}, func(w *task.New) { w.Priority = int64(1 + n) })
			i := f.claims()
			if n == 0 {
				first = i
			}
			<-time.After(time.Millisecond)
		}
		require.Equal(f, last.ID, f.claims().ID)
		f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning})
		f.ended(first.ID)
		f.is(last.ID, task.Claimed, "")
		f.limit("db", 1)
		urgent := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning}, func(w *task.New) { w.Priority = 99 })
		require.Equal(f, urgent.ID, f.claims().ID)
		f.ended(last.ID)
	})
}

func TestATaskThatIsDeadBecauseOfItsParentCancelsNoOther(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		running := f.make(models.TaskOptions{Limits: []string{"db"}})
		f.claims()
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		f.make(models.TaskOptions{After: []string{parent.ID}}) // so that the end of the parent is kept
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		for _, onLimit := range []string{models.CancelRunning, models.Drop} {
			child := f.make(models.TaskOptions{After: []string{parent.ID}, Limits: []string{"db"}, OnLimit: onLimit})
			l, err := f.client.DeadLetter(f.Context(), child.ID)
			require.NoError(f, err)
			require.Equal(f, "its parent "+parent.ID+" is dead", l.Reason)
		}
		f.is(running.ID, task.Claimed, "")
	})
}

func TestARateBoundsTheTasksThatStart(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Rate: 2}))
		for range 7 {
			f.make(models.TaskOptions{Limits: []string{"api"}})
		}
		began := time.Now()
		for range 7 {
			i, err := f.client.Claim(f.Context(), "a")
			require.NoError(f, err)
			f.resolve(i, nil)
		}
		require.InDelta(f, 2.5, time.Since(began).Seconds(), 0.6, "2 at once, and then 2 a second")
	})
}

// A tenant with many tasks does not starve one with few.
func TestGroupsOfEqualPriorityTakeTurns(t *testing.T) {
	withFixture(t, func(f fixture) {
		make := func(group string, n int, priority int64) {
			for n > 0 {
				some := make([]task.New, min(n, 1000))
				for k := range some {
					some[k] = task.New{Priority: priority, Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{Group: group}}}
				}
				_, err := f.client.CreateAll(f.Context(), some...)
				require.NoError(f, err)
				n -= len(some)
			}
		}
		make("large", 20_000, 0)
		make("", 300, 0)
		for range 100 {
			f.resolve(f.claims(), nil)
		}
		make("small", 10, 0)
		turns := map[string]int{}
		for turns["small"] < 10 {
			i := f.claims()
			turns[i.Group]++
			f.resolve(i, nil)
		}
		require.LessOrEqual(f, turns["large"], 12)
		require.LessOrEqual(f, turns[""], 12)
		make("urgent", 1, 5)
		require.Equal(f, "urgent", f.claims().Group, "priority comes first")
	})
}

func (f fixture) limit(name string, maximum int64) {
	f.Helper()
	require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: name, Max: maximum}))
}

func TestATaskThatIsHandedBackDoesNotMeetItsOwnLimit(t *testing.T) {
	for _, onLimit := range []string{models.CancelRunning, models.Drop, models.WaitForLimit} {
		t.Run(onLimit, func(t *testing.T) {
			withFixture(t, func(f fixture) {
				f.limit("db", 1)
				i := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: onLimit})
				for range 2 {
					require.NoError(f, f.client.HandBack(f.Context(), f.claims()))
					f.is(i.ID, task.Waiting, task.WhyNoWorker)
				}
				f.claims()
				<-time.After(time.Minute + backoff + time.Second) // it times out, and waits for its back-off
				f.is(i.ID, task.Waiting, task.WhyNoWorker)
			})
		})
	}
}

func TestASlotGoesToATaskThatCanUseIt(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		f.limit("api", 1)
		f.make(models.TaskOptions{Limits: []string{"api"}})
		f.claims()
		f.make(models.TaskOptions{Limits: []string{"db"}})
		running := f.claims()
		both := f.make(models.TaskOptions{Limits: []string{"db", "api"}})
		one := f.make(models.TaskOptions{Limits: []string{"db"}})
		f.resolve(running, nil)
		f.is(both.ID, task.Waiting, task.WhyLimit)
		require.Equal(f, one.ID, f.claims().ID)
	})
}

func TestATaskThatIsCancelledForAnotherOneFreesItsOtherSlots(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		f.limit("api", 1)
		f.make(models.TaskOptions{Limits: []string{"db", "api"}})
		f.claims()
		waits := f.make(models.TaskOptions{Limits: []string{"api"}})
		f.is(waits.ID, task.Waiting, task.WhyLimit)
		f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning})
		f.is(waits.ID, task.Waiting, task.WhyNoWorker)
	})
}

func TestATaskThatIsReplacedByALaterOneFreesItsSlot(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		f.make(models.TaskOptions{Limits: []string{"db"}})
		running := f.claims()
		o := models.TaskOptions{Limits: []string{"db"}, UniqueKey: "k"}
		first, second := f.make(o), f.make(models.TaskOptions{Limits: []string{"db"}})
		f.resolve(running, nil)
		f.is(first.ID, task.Waiting, task.WhyNoWorker)
		f.is(second.ID, task.Waiting, task.WhyLimit)
		o.NotBefore = time.Now().Add(time.Hour)
		require.Equal(f, first.ID, f.make(o, func(n *task.New) { n.OnConflict = task.Replace }).ID)
		f.is(second.ID, task.Waiting, task.WhyNoWorker)
	})
}

func TestATaskThatIsReplacedMayBeDropped(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		f.make(models.TaskOptions{Limits: []string{"db"}})
		f.claims()
		o := models.TaskOptions{Limits: []string{"db"}, UniqueKey: "k", OnLimit: models.Drop, NotBefore: time.Now().Add(time.Hour)}
		i := f.make(o)
		o.NotBefore = time.Time{}
		require.Equal(f, i.ID, f.make(o, func(n *task.New) { n.OnConflict = task.Replace }).ID)
		f.ended(i.ID)
	})
}

// serves makes the session one of a worker that serves an action.
func (f fixture) serves(action string) {
	f.Helper()
	require.NoError(f, status.NewHeartbeat(f.repo, time.Second, map[string]int{action: 1}).Beat(f.Context()))
}

func TestASlotOfACancelledTaskIsOfferedToOthersWhileNoWorkerServesTheFavouredOne(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		f.make(models.TaskOptions{Limits: []string{"db"}})
		f.claims()
		waits := f.make(models.TaskOptions{Limits: []string{"db"}})
		urgent := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning}, func(n *task.New) { n.Action = "urgent" })
		require.Equal(f, waits.ID, f.claims().ID)
		i, err := f.client.Claim(f.Context(), "urgent")
		require.NoError(f, err)
		require.Equal(f, urgent.ID, i.ID)
		require.Contains(f, f.end(waits.ID).End.Note, "in favour of task "+urgent.ID)
	})
}

func TestAPauseGivesTheSlotsOfItsTasksToOthers(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.serves("urgent")
		f.limit("db", 1)
		f.make(models.TaskOptions{Limits: []string{"db"}})
		f.claims()
		waits := f.make(models.TaskOptions{Limits: []string{"db"}})
		f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning}, func(n *task.New) { n.Action = "urgent" })
		f.is(waits.ID, task.Waiting, task.WhyLimit)
		require.NoError(f, f.client.Pause(f.Context(), "urgent"))
		require.Equal(f, waits.ID, f.claims().ID)
	})
}

// The end of the cancelled task offers its other slot to the task being placed.
func TestATaskThatWaitsForARateAndCancelsTheRunningOneBecomesVisible(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Rate: 1}))
		running := f.make(models.TaskOptions{Limits: []string{"db", "api"}})
		require.Equal(f, running.ID, f.claims().ID)
		waits := f.make(models.TaskOptions{Limits: []string{"api", "db"}, OnLimit: models.CancelRunning})
		f.is(waits.ID, task.Waiting, task.WhyLimit)
		f.is(running.ID, task.Claimed, "")
		<-time.After(1100 * time.Millisecond)
		f.ended(running.ID)
		require.Equal(f, waits.ID, f.claims().ID)
	})
}

func TestATaskThatMayCancelRunningOnesWaitsIfTheRateIsTheReason(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Rate: 1, Max: 1}))
		o := models.TaskOptions{Limits: []string{"api"}, OnLimit: models.CancelRunning}
		first := f.make(o)
		running := f.claims()
		second := f.make(o)
		f.is(first.ID, task.Claimed, "")
		f.is(second.ID, task.Waiting, task.WhyLimit)
		f.resolve(running, nil)
		<-time.After(1100 * time.Millisecond)
		require.Equal(f, second.ID, f.claims().ID)
	})
}

// With a lower maximum, a task handed back may meet a limit that it has a slot of.
func TestATaskThatIsHandedBackCancelsAnotherOneAndNotItself(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 2)
		o := models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning}
		f.make(o)
		f.make(o)
		first := f.claims()
		<-time.After(time.Second)
		second := f.claims()
		f.limit("db", 1)
		require.NoError(f, f.client.HandBack(f.Context(), first))
		f.ended(second.ID)
		f.is(first.ID, task.Waiting, task.WhyNoWorker)
		require.Equal(f, first.ID, f.claims().ID)
	})
}

func TestALimitThatIsRemovedBringsItsTasksBack(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		for range 3 {
			f.make(models.TaskOptions{Limits: []string{"db"}})
		}
		f.claims()
		require.Empty(f, f.claims().ID)
		require.NoError(f, f.client.RemoveLimit(f.Context(), "db"))
		require.Len(f, f.waiting(), 2)
		require.NotEmpty(f, f.claims().ID)
		limits, err := f.client.Limits(f.Context())
		require.NoError(f, err)
		require.Empty(f, limits)
	})
}

func TestATaskThatItsLimitDropsIsNamedDroppedInTheAnswer(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		f.make(models.TaskOptions{Limits: []string{"db"}})
		f.claims()
		dropped := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.Drop})
		require.Equal(f, task.Cancelled, dropped.StateNow())
		require.Equal(f, "dropped, because the limit db was reached", dropped.State)
		o := models.TaskOptions{Limits: []string{"db"}, UniqueKey: "k", OnLimit: models.Drop, NotBefore: time.Now().Add(time.Hour)}
		later := f.make(o)
		require.Empty(f, later.State)
		o.NotBefore = time.Time{}
		replaced := f.make(o, func(n *task.New) { n.OnConflict = task.Replace })
		require.Equal(f, []any{later.ID, task.Cancelled, true}, []any{replaced.ID, replaced.StateNow(), replaced.Existing})
	})
}

func TestTheReasonOfATaskThatWaitsForALimitNamesTenHolders(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 12)
		for range 13 {
			f.make(models.TaskOptions{Limits: []string{"db"}})
		}
		running, err := f.client.ClaimUpTo(f.Context(), 13, "a")
		require.NoError(f, err)
		require.Len(f, running, 12)
		waits, _, err := f.client.List(f.Context(), task.Filter{State: task.Waiting}, nil, 2)
		require.NoError(f, err)
		require.Len(f, waits, 1)
		shown, err := f.client.Show(f.Context(), waits[0].ID)
		require.NoError(f, err)
		require.Equal(f, waits[0].Why, shown.Why)
		require.Len(f, strings.Split(shown.Why.Text, ", "), 10)
	})
}

func TestTheReasonOfATaskThatWaitsForALimitTellsTheMaximumFromTheRate(t *testing.T) {
	withFixture(t, func(f fixture) {
		says := func(id, text string) {
			f.Helper()
			shown, err := f.client.Show(f.Context(), id)
			require.NoError(f, err)
			require.Equal(f, text, shown.Why.Text)
		}
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Max: 9, Rate: 0.01}))
		f.make(models.TaskOptions{Limits: []string{"api"}})
		late := f.make(models.TaskOptions{Limits: []string{"api"}})
		require.NotEmpty(f, f.claims().ID)
		require.Empty(f, f.claims().ID)
		says(late.ID, "the rate of limit api is reached")

		f.limit("db", 1)
		first := f.make(models.TaskOptions{Limits: []string{"db"}})
		require.Equal(f, first.ID, f.claims().ID)
		waits := f.make(models.TaskOptions{Limits: []string{"db"}})
		require.Empty(f, f.claims().ID)
		says(waits.ID, "limit db is reached by "+first.ID)
		f.workerOn("", "w1", "")
		f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.CancelRunning})
		f.ended(first.ID)
		says(waits.ID, "the free slots of limit db are offered to other tasks")
	})
}

// While no space takes its dead letter, a task that has expired must not keep its slot from others.
func TestATaskThatExpiresOffersItsSlotAlsoIfItsDeadLetterCannotBePut(t *testing.T) {
	withFullSpace(t, task.Dead, func(f fixture) {
		f.limit("db", 1)
		f.make(models.TaskOptions{Limits: []string{"db"}})
		running := f.claims()
		expires := f.make(models.TaskOptions{Limits: []string{"db"}, ExpiresAt: time.Now().Add(30 * time.Second)})
		waits := f.make(models.TaskOptions{Limits: []string{"db"}})
		f.resolve(running, nil)
		f.is(expires.ID, task.Waiting, task.WhyNoWorker)
		f.is(waits.ID, task.Waiting, task.WhyLimit)
		<-time.After(31 * time.Second)
		f.is(waits.ID, task.Waiting, task.WhyNoWorker)
		require.Equal(f, waits.ID, f.claims().ID)
	})
}
