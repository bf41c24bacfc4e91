package task_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func ExampleClient_Next() {
	tasks, ctx, stop := open()
	defer stop()
	first, _ := tasks.Claim(ctx, "dig")
	ends, claimed, err := tasks.Next(ctx, []task.Outcome{task.ToResolve(first, "", "a coin")}, 1, "dig")
	fmt.Println(ends[0].Err, len(claimed), err)
	// The first task has ended already; the second is handed back.
	ends, claimed, _ = tasks.Next(ctx, []task.Outcome{task.ToResolve(first, "", "a coin"), task.ToHandBack(claimed[0].Item, 0)}, 0)
	fmt.Println(errors.Is(ends[0].Err, fault.ErrStaleToken), ends[1].Err, len(claimed))
	// Output:
	// <nil> 1 <nil>
	// true <nil> 0
}

func TestEachOutcomeOfACallTakesEffectByItself(t *testing.T) {
	withFixture(t, func(f fixture) {
		for range 9 {
			f.make(models.TaskOptions{})
		}
		resolved, large, handedBack, over := f.claims(), f.claims(), f.claims(), f.claims()
		require.NoError(f, f.client.HandBack(f.Context(), over))
		failed := f.claims()
		require.Equal(f, over.ID, failed.ID)
		outcomes := []task.Outcome{
			task.ToResolve(over, "", 0), task.ToResolve(resolved, "", 1), task.ToResolve(large, "", strings.Repeat("x", 970<<10)),
			task.ToHandBack(handedBack, 0), task.ToHandBack(handedBack, -1), task.ToRelease(failed, task.Failure{Reason: "broken", GiveUp: true}),
		}
		ends, claimed, err := f.client.Next(f.Context(), outcomes, 6, "a")
		require.NoError(f, err)
		for n, kind := range []error{fault.ErrStaleToken, nil, fault.ErrTooLarge, nil, fault.ErrStaleToken, nil} {
			require.ErrorIs(f, ends[n].Err, kind)
		}
		require.EqualError(f, ends[0].Err, fmt.Sprintf("report of task %q: stale token", over.ID))
		f.is(resolved.ID, task.Resolved, "")
		f.is(large.ID, task.Claimed, "")
		f.is(failed.ID, task.StateDead, "")
		require.Len(f, claimed, 5, "one less than asked for, because the caller still has a task")
		require.Equal(f, handedBack.ID, claimed[0].ID, "it is at its old place")
	})
}

func TestARepeatedCallForTheNextTasksHasOneEffect(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{})
		f.make(models.TaskOptions{})
		f.make(models.TaskOptions{})
		i := f.claims()
		client := f.client
		client.Op = space.OpID{Session: f.repo.Session(), Seq: 1}
		for range 3 {
			ends, claimed, err := client.Next(f.Context(), []task.Outcome{task.ToResolve(i, "", 1)}, 1, "a")
			require.NoError(f, err)
			require.Equal(f, []task.Ended{{}}, ends)
			require.Equal(f, "t2", claimed[0].ID)
		}
		require.Len(f, f.waiting(), 1)
	})
}

func TestACallForTheNextTasksThatIsRefusedHasNoEffect(t *testing.T) {
	withFullSpace(t, task.Result, func(f fixture) {
		f.make(models.TaskOptions{})
		f.make(models.TaskOptions{ResultTuple: true, ResultTTL: 60})
		one, two := f.claims(), f.claims()
		outcomes := []task.Outcome{task.ToResolve(one, "", 1), task.ToResolve(two, "", 2)}
		_, _, err := f.client.Next(f.Context(), outcomes, 1, "a")
		require.ErrorIs(f, err, fault.ErrOverloaded, "no space takes the result, so the caller repeats all")
		f.is(one.ID, task.Claimed, "")
		_, err = f.repo.Space(task.Result).Get(f.Context(), tuple.Match("full"))
		require.NoError(f, err)
		ends, _, err := f.client.Next(f.Context(), outcomes, 1, "a")
		require.NoError(f, err)
		require.Equal(f, []task.Ended{{}, {}}, ends)

		for _, args := range []tuple.Tuple{
			nil, tuple.New("a", int64(1)), tuple.New([]byte("x"), int64(1), "a"), tuple.New([]byte{}, int64(65), "a"), tuple.New([]byte{}, int64(1)),
			tuple.New(tuple.New("task.cancel", tuple.New("t1", "")).Append(nil), int64(0)), tuple.New([]byte{}, int64(-1), "a"), tuple.New([]byte{}, int64(0), "a b"),
		} {
			_, err := f.repo.Call(f.Context(), space.OpID{}, "task.next", args)
			require.ErrorIs(f, err, fault.ErrInvalid, args)
		}
		_, _, err = f.client.Next(f.Context(), []task.Outcome{task.ToResolve(one, "", make(chan int))}, 1, "a")
		require.ErrorIs(f, err, fault.ErrInvalid)
		_, _, err = f.client.Next(f.Context(), []task.Outcome{task.ToResolve(one, "", strings.Repeat("x", 1<<20))}, 1, "a")
		require.ErrorIs(f, err, fault.ErrTooLarge)
		_, _, err = f.client.Next(f.Context(), make([]task.Outcome, task.MaxOutcomes+1), 0)
		require.ErrorIs(f, err, fault.ErrInvalid)
	})
}
