package worktest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var claimScenarios = []scenario{
	{"ClaimTakesTheHighestPriorityThenTheOldest", claimOrder},
	{"ClaimWaitsForATask", claimWaits},
	{"AClaimIsShownWhileItLasts", claimIsShown},
	{"ReportsAndExtendsMoveTheTimeout", reportsMoveTimeout},
	{"ClaimRefusesWhatIsNoAction", claimRefuses},
	{"ClaimOfTwoActionsLeavesAThird", claimLeavesOthers},
	{"OneCallEndsAttemptsAndClaimsTheNextTasks", endsAndClaims},
}

// claimOrder checks that claims take the highest priority first and then the oldest task, over
// several actions too.
func claimOrder(f *fixture) {
	w, m := f.session("worker-1", map[string]int{dig: 9, fill: 9}), f.manager("manager-1")
	put := func(action, subject string, priority int64) {
		t := toDig(subject)
		t.Action = action
		m.issue(t, priority)
	}
	put(dig, "low", 1)
	put(fill, "middle", 5)
	put(dig, "high", 9)
	put(dig, "middle-2", 5)
	put(fill, "middle-3", 5)
	put(dig, "lowest", -1<<63)

	require.Equal(f, "high", w.claim(dig, fill).Subject)
	require.Equal(f, "middle", w.claim(fill).Subject)
	require.Equal(f, "middle-2", w.claim(dig, fill).Subject)
	require.Equal(f, "middle-3", w.claim(dig, fill).Subject)
	require.Equal(f, "low", w.claim(dig).Subject)
	require.Equal(f, "lowest", w.claim(dig).Subject)
	_, more := w.tryClaim(dig, fill)
	require.False(f, more)
}

// claimWaits checks that claims wait for a task, and that the one that waits longest gets it.
func claimWaits(f *fixture) {
	m := f.manager("manager-1")
	claimed := make(chan string, 2)
	for _, id := range []string{"worker-1", "worker-2"} {
		w := f.worker(id, 1)
		go func() {
			if _, err := w.task.Claim(f.Context(), fill, dig); err == nil {
				claimed <- id
			}
		}()
		f.pass(time.Second)
	}
	m.issue(toDig("site-1"), 0)
	require.Equal(f, "worker-1", receive(f, claimed), "who waits longest")
	m.issue(toDig("site-2"), 0)
	require.Equal(f, "worker-2", receive(f, claimed))
}

// claimIsShown checks that the claim in the space "lease" is there exactly while the worker holds
// the task, with the time at which its hold ends.
func claimIsShown(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	require.Zero(f, f.count(lease.Space, task.AnyClaim()))
	i := w.claim()
	require.Equal(f, "worker-1", i.CurrentClaimant)
	shown := func(due time.Time) {
		f.Helper()
		claims, err := f.admin.Space(lease.Space).QueryAll(f.Context(), task.AnyClaim())
		require.NoError(f, err)
		require.Equal(f, []tuple.Tuple{tuple.New("claim", i.ID, "worker-1", due.UnixMilli(), i.Token)}, claims)
	}
	shown(i.ClaimedAt.Add(taskTimeout))
	f.pass(time.Minute)
	require.NoError(f, w.task.Extend(f.Context(), i))
	shown(time.Now().Add(taskTimeout))
	f.pass(time.Minute)
	require.NoError(f, w.report(i, "a", false))
	shown(time.Now().Add(taskTimeout))
	require.NoError(f, w.report(i, "b", true))
	require.Zero(f, f.count(lease.Space, task.AnyClaim()))
}

// reportsMoveTimeout checks that reports and extensions restart the timeout of a task, and that
// it ends without them.
func reportsMoveTimeout(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	i := w.claim()
	for range 10 {
		f.pass(taskTimeout - time.Second)
		require.NoError(f, w.task.Extend(f.Context(), i))
		f.pass(taskTimeout - time.Second)
		require.NoError(f, w.report(i, "a", false))
	}
	f.pass(taskTimeout)
	require.ErrorIs(f, w.task.Extend(f.Context(), i), fault.ErrStaleToken)
}

// claimRefuses checks that a claim of anything but actions fails with fault.ErrInvalid. Its timeout bounds the wait
// if a claim is accepted.
func claimRefuses(f *fixture) {
	w := f.worker("worker-1", 1)
	for _, args := range []tuple.Tuple{nil, tuple.New(""), tuple.New("a b"), tuple.New(dig, int64(1)), tuple.New(tuple.New(dig))} {
		ctx, cancel := context.WithTimeout(f.Context(), time.Second)
		_, err := w.repo.Call(ctx, space.OpID{}, "task.claim", args)
		cancel()
		require.ErrorIs(f, err, fault.ErrInvalid, args)
	}
}

// claimLeavesOthers checks that a claim of two actions does not take the tasks of a third action,
// although they have a higher priority.
func claimLeavesOthers(f *fixture) {
	const plant = "plant"
	w, m := f.session("worker-1", map[string]int{dig: 9, fill: 9, plant: 9}), f.manager("manager-1")
	for action, priority := range map[string]int64{plant: 9, dig: 5, fill: 1} {
		t := toDig("site-" + action)
		t.Action = action
		m.issue(t, priority)
	}
	require.Equal(f, dig, w.claim(dig, fill).Action, "though another has a higher priority")
	require.Equal(f, fill, w.claim(dig, fill).Action)
	_, more := w.tryClaim(dig, fill)
	require.False(f, more)
	require.Equal(f, plant, w.claim(plant).Action)
}

// endsAndClaims checks one call that ends three attempts and claims the next tasks: an outcome
// with a stale token is refused alone, and a task that the caller still has is not claimed again.
func endsAndClaims(f *fixture) {
	w, m := f.worker("worker-1", 3), f.manager("manager-1")
	other := f.worker("worker-2", 1)
	for _, subject := range []string{"site-1", "site-2", "site-3", "site-4"} {
		m.issue(toDig(subject, "a"), 0)
	}
	resolved, released, late := w.claim(), w.claim(), w.claim()
	f.pass(time.Minute)
	require.NoError(f, w.task.Extend(f.Context(), resolved))
	require.NoError(f, w.task.Extend(f.Context(), released))
	f.pass(taskTimeout - time.Minute)
	require.Equal(f, late.ID, other.claim().ID)
	ends, claimed, err := w.task.Next(f.Context(), []task.Outcome{
		task.ToResolve(late, "a", "bones"), task.ToResolve(resolved, "a", "a coin"), task.ToRelease(released, task.Failure{Reason: "rock"}),
	}, 3, dig)
	require.NoError(f, err)
	require.ErrorIs(f, ends[0].Err, fault.ErrStaleToken)
	require.Equal(f, []task.Ended{{}, {}}, ends[1:])
	require.Len(f, claimed, 1)
	require.Equal(f, "site-4", claimed[0].Subject)
	require.Equal(f, released.ID, other.claim().ID, "another worker may try")
	found := []string{m.ingestResult().Body, m.ingestResult().Body}
	require.ElementsMatch(f, []string{`"bones"`, `"a coin"`}, found, "a late result is true too")
	require.Equal(f, 1, f.total(lease.Revoked))
}
