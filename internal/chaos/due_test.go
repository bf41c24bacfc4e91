//go:build linux

package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/task"
)

// A task becomes due every 200 ms and a schedule every second, while the coordinator is killed
// at each step of that, and at random. Each task is there once, and no due time has two.
func TestSchedulesAndDelayedTasksHaveOneEffectThoughTheCoordinatorIsKilledWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(newSeed(t), 0))
	h := newFixture(t, fastDetection...)
	h.mustStart()
	c := h.mustDial("client", longTTL)
	every := models.Schedule{Every: 1, Overlap: models.OverlapAllow}
	every.Task.Action = "import"
	_, _, err := schedule.Client{Repo: c}.Set(within(t), "often", every)
	require.NoError(t, err)
	delayed := make([]task.New, 60)
	for n := range delayed {
		at := time.Now().Add(time.Duration(n) * 200 * time.Millisecond)
		delayed[n].Task = models.Task{Action: dig, Timeout: 600, TaskOptions: models.TaskOptions{NotBefore: at}}
	}
	_, err = task.Client{Repo: c}.CreateAll(within(t), delayed...)
	require.NoError(t, err)
	c.abandon()

	for _, killPoint := range []string{"expiry.before/task.return", "expiry.after/task.return", "commit.before", "commit.after", "sync.before/log", "sync.after/log"} {
		h.Kill()
		crashAt(t, h, killPoint, 1+r.IntN(3))
	}
	for range 4 {
		h.Kill()
		h.mustStart()
		after(time.Duration(r.IntN(1200)) * time.Millisecond)
	}
	h.Kill()
	h.mustStart()
	c = h.mustDial("worker", longTTL)
	_, err = schedule.Client{Repo: c}.Get(within(t), "often")
	require.NoError(t, err)
	require.NoError(t, schedule.Client{Repo: c}.Remove(within(t), "often"))
	claimEachOnce(t, task.Client{Repo: c}, len(delayed))
	requireEachDueTimeOnce(t, task.Client{Repo: c})
}

// claimEachOnce claims so many delayed tasks, and requires that there are no more.
func claimEachOnce(t *testing.T, tasks task.Client, n int) {
	t.Helper()
	claimed := map[string]bool{}
	for len(claimed) < n {
		all, err := tasks.ClaimUpTo(within(t), task.MaxClaims, dig)
		require.NoError(t, err)
		for _, i := range all {
			require.False(t, claimed[i.ID], i.ID)
			claimed[i.ID] = true
			require.Zero(t, i.Attempts, i.ID)
			require.False(t, i.ClaimedAt.Before(i.NotBefore), "%s: claimed at %s, not before %s", i.ID, i.ClaimedAt, i.NotBefore)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := tasks.Claim(ctx, dig)
	require.True(t, errors.Is(err, context.DeadlineExceeded), err)
}

// requireEachDueTimeOnce requires tasks of a schedule, and that no two have the same due time.
func requireEachDueTimeOnce(t *testing.T, tasks task.Client) {
	t.Helper()
	all, _, err := tasks.List(within(t), task.Filter{Action: "import"}, nil, task.MaxListed)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	due := map[string]string{}
	for _, l := range all {
		for _, tag := range l.Tags {
			if strings.HasPrefix(tag, "due:") {
				require.Empty(t, due[tag], "%s and %s are of one due time", due[tag], l.ID)
				due[tag] = l.ID
			}
		}
	}
	require.Len(t, due, len(all))
}
