package worktest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

var claimScenarios = []scenario{
	{"ClaimTakesTheHighestPriorityThenTheOldest", claimOrder},
	{"ClaimWaitsForATask", claimWaits},
	{"AClaimIsShownWhileItLasts", claimIsShown},
	{"ReportsAndExtendsMoveTheTimeout", reportsMoveTimeout},
	{"ClaimRefusesWhatIsNoAction", claimRefuses},
}

func claimOrder(h *house) {
	w, m := h.actor("worker-1", map[string]int{dig: 9, fill: 9}), h.manager("manager-1")
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

	require.Equal(h, "high", w.claim(dig, fill).Subject)
	require.Equal(h, "middle", w.claim(fill).Subject)
	require.Equal(h, "middle-2", w.claim(dig, fill).Subject)
	require.Equal(h, "middle-3", w.claim(dig, fill).Subject)
	require.Equal(h, "low", w.claim(dig).Subject)
	require.Equal(h, "lowest", w.claim(dig).Subject)
	_, more := w.claims(dig, fill)
	require.False(h, more)
}

func claimWaits(h *house) {
	m := h.manager("manager-1")
	claimed := make(chan string, 2)
	for _, id := range []string{"worker-1", "worker-2"} {
		w := h.worker(id, 1)
		go func() {
			if _, err := w.task.Claim(h.Context(), fill, dig); err == nil {
				claimed <- id
			}
		}()
		h.pass(time.Second)
	}
	m.issue(toDig("site-1"), 0)
	require.Equal(h, "worker-1", receive(h, claimed), "who waits longest")
	m.issue(toDig("site-2"), 0)
	require.Equal(h, "worker-2", receive(h, claimed))
}

func claimIsShown(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	require.Zero(h, h.count(lease.Space, task.AnyClaim()))
	i := w.claim()
	require.Equal(h, "worker-1", i.CurrentClaimant)
	shown := func(due time.Time) {
		h.Helper()
		claims, err := h.admin.Space(lease.Space).QueryAll(h.Context(), task.AnyClaim())
		require.NoError(h, err)
		require.Equal(h, []tuple.Tuple{tuple.New("claim", i.ID, "worker-1", due.UnixMilli(), i.Token)}, claims)
	}
	shown(i.ClaimedAt.Add(taskTimeout))
	h.pass(time.Minute)
	require.NoError(h, w.task.Extend(h.Context(), i))
	shown(time.Now().Add(taskTimeout))
	h.pass(time.Minute)
	require.NoError(h, w.report(i, "a", false))
	shown(time.Now().Add(taskTimeout))
	require.NoError(h, w.report(i, "b", true))
	require.Zero(h, h.count(lease.Space, task.AnyClaim()))
}

func reportsMoveTimeout(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	i := w.claim()
	for range 10 {
		h.pass(taskTimeout - time.Second)
		require.NoError(h, w.task.Extend(h.Context(), i))
		h.pass(taskTimeout - time.Second)
		require.NoError(h, w.report(i, "a", false))
	}
	h.pass(taskTimeout)
	require.ErrorIs(h, w.task.Extend(h.Context(), i), fault.ErrStaleToken)
}

func claimRefuses(h *house) {
	w := h.worker("worker-1", 1)
	for _, args := range []tuple.Tuple{nil, tuple.New(""), tuple.New("a b"), tuple.New(dig, int64(1)), tuple.New(tuple.New(dig))} {
		ctx, cancel := context.WithTimeout(h.Context(), time.Second)
		_, err := w.repo.Call(ctx, space.OpID{}, "task.claim", args)
		cancel()
		require.ErrorIs(h, err, fault.ErrInvalid, args)
	}
}
