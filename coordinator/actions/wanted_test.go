package actions_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/actions"
	"leasehold/shared/protocol/task"
)

func TestTheWantedSlotsAreThoseOfTheQueueTheArrivalsAndTheTasksInWork(t *testing.T) {
	t.Parallel()
	now := time.Now()
	action := func(waiting, claimed, created int64, age, mean time.Duration) actions.Action {
		a := actions.Action{Rates: actions.Rates{Created: created}}
		a.Counts = task.Counts{task.Waiting: waiting, task.Claimed: claimed}
		if waiting > 0 {
			a.OldestSince = now.Add(-age)
		}
		if mean > 0 {
			a.Runs = actions.Runs{Number: 1, Mean: mean}
		}
		return a
	}
	for what, c := range map[string]struct {
		actions.Action
		target time.Duration
		want   int64
	}{
		"nothing":                                {action(0, 0, 0, 0, 2*time.Second), time.Minute, 0},
		"tasks in work only":                     {action(0, 3, 0, 0, time.Second), time.Minute, 3},
		"arrivals, two a second of 3 s":          {action(0, 0, 120, 0, 3*time.Second), time.Minute, 6},
		"a queue, within half of the target":     {action(90, 0, 0, 0, 2*time.Second), time.Minute, 6},
		"the queue is more than the arrivals":    {action(90, 5, 60, 0, 2*time.Second), time.Minute, 6},
		"a queue that has waited for 40 of 60 s": {action(90, 0, 0, 40*time.Second, 2*time.Second), time.Minute, 9},
		"a late queue, within a quarter":         {action(90, 0, 0, time.Hour, 2*time.Second), time.Minute, 12},
		"no attempt has ended":                   {action(7, 2, 7, time.Hour, 0), time.Minute, 9},
		"less than one slot":                     {action(1, 0, 1, 0, time.Millisecond), time.Minute, 1},
		"a target below the least":               {action(10, 0, 0, 0, time.Second), 0, 20},
		"a target above the most":                {action(2, 0, 0, 0, 24*time.Hour), 1000 * time.Hour, 4},
	} {
		require.Equal(t, c.want, c.Wanted(now, c.target), what)
	}
}

func TestMoreOrLongerTasksNeedNoFewerSlots(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	now := time.Now()
	for range 1000 {
		a := actions.Action{Rates: actions.Rates{Created: r.Int64N(1000)}, Runs: actions.Runs{Number: 1, Mean: time.Duration(r.Int64N(int64(time.Minute)))}}
		a.Counts = task.Counts{task.Waiting: r.Int64N(1000), task.Claimed: r.Int64N(100)}
		a.OldestSince = now.Add(-time.Duration(r.Int64N(int64(time.Minute))))
		target := time.Second + time.Duration(r.Int64N(int64(time.Hour)))
		before := a.Wanted(now, target)
		require.GreaterOrEqual(t, before, a.Counts[task.Claimed], "seed %d", seed)
		require.LessOrEqual(t, a.Wanted(now, 2*target), before, "seed %d: a longer target", seed)
		a.Counts[task.Waiting]++
		a.Created++
		a.Mean++
		a.OldestSince = a.OldestSince.Add(-time.Second)
		require.GreaterOrEqual(t, a.Wanted(now, target), before, "seed %d", seed)
	}
}
