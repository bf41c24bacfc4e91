package work

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/lockedbuffer"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// small opens an engine whose space "task" has capacity for so many tasks.
func small(t *testing.T, capacity int, budget *memory.Budget) (*engine.Engine, space.Repository) {
	t.Helper()
	p := Policy{Task: task.Policy{MaxAttempts: 1, Backoff: time.Second}, LeaseTTL: time.Hour, QueueTTL: time.Hour, Ingest: time.Minute}
	e, err := engine.Open(t.Context(), engine.Config{
		Journal: &journal.Memory{}, Reserving: space.Reserving(task.Spaces()), ShareBy: space.ShareBy(task.Spaces()), Memory: budget,
		Procedures: space.Join(p.Procedures(), p.Task.Procedures(), p.Task.AdminProcedures()),
	})
	require.NoError(t, err)
	repo, err := e.Session(t.Context(), "one", 0)
	require.NoError(t, err)
	for _, d := range slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces()) {
		if d.Name == task.Space {
			d.Options.Capacity = capacity
		}
		require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
	}
	return e, repo
}

// fill creates tasks of an action until one is refused, and returns how many and why.
func fill(t *testing.T, c task.Client, action, data string) (n int, err error) {
	t.Helper()
	encoded, err := json.Marshal(data)
	require.NoError(t, err)
	for ; n < 100_000; n++ {
		if _, err = c.CreateAll(t.Context(), task.New{Task: models.Task{Action: action, Data: encoded, Timeout: 60}}); err != nil {
			return n, err
		}
	}
	return n, nil
}

// dig issues a work-item of an action of its own.
func dig(t *testing.T, c Client, n int) error {
	t.Helper()
	_, err := c.Issue(t.Context(), InProgress{}, models.Task{Action: fmt.Sprint("dig", n), Subject: fmt.Sprint("s", n), Parts: []string{"p"}, Timeout: 60}, 0)
	return err
}

func TestAnActionThatFillsTheSpaceLeavesPlacesForOthersAndForManagers(t *testing.T) {
	t.Parallel()
	e, repo := small(t, 1000, nil)
	tasks, managers := task.Client{Repo: repo}, Client{repo}
	cold, err := fill(t, tasks, "cold", "")
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.ErrorContains(t, err, "action cold has 811 tasks, and there are places for 89 more of all actions")
	require.Equal(t, 811, cold, "nine tenths of the places without the reserve")
	_, err = tasks.CreateAll(t.Context(), task.New{Task: models.Task{Action: "warm", Timeout: 60}})
	require.NoError(t, err)
	require.Empty(t, e.Filled())
	for n := range 100 { // until all is used that programs may use
		if others, _ := fill(t, tasks, fmt.Sprint("other", n), ""); others == 0 {
			break
		}
	}
	require.Equal(t, []engine.SpaceFill{{Name: task.Space, Tuples: 900, Capacity: 1000}}, e.Filled())
	require.NoError(t, e.Health(), "managers go on")
	for n := range 100 {
		require.NoError(t, dig(t, managers, n))
	}
	require.ErrorIs(t, dig(t, managers, 100), fault.ErrOverloaded)
	require.ErrorContains(t, e.Health(), "space task holds 1000 tuples, so the work of managers is refused too")
	claimed, err := tasks.Claim(t.Context(), "cold")
	require.NoError(t, err)
	require.NoError(t, tasks.Report(t.Context(), claimed, "", true, nil))
	require.NoError(t, e.Health())
	_, err = fill(t, tasks, "cold", "")
	require.ErrorIs(t, err, fault.ErrOverloaded)
}

func TestAnActionWithLargeDataLeavesMemoryForOthersAndForManagers(t *testing.T) {
	t.Parallel()
	const budget = 8 << 20
	e, repo := small(t, 1_000_000, memory.New(budget))
	tasks, managers := task.Client{Repo: repo}, Client{repo}
	n, err := fill(t, tasks, "cold", strings.Repeat("x", 10_000))
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.Regexp(t, `action cold: its tasks have 5\d\d\d kB of the memory, and \d+ kB are left for all actions: .*; tasks of other actions are accepted`, err.Error())
	require.InDelta(t, budget*3/4*9/10/10_000, n, 60, "nine tenths of the memory without the reserve")
	for _, action := range []string{"warm", "hot"} {
		for range 10 {
			_, err := tasks.CreateAll(t.Context(), task.New{Task: models.Task{Action: action, Timeout: 60, Data: json.RawMessage(`{"n":1}`)}})
			require.NoError(t, err)
		}
	}
	require.NoError(t, e.Health())
	claimed, err := tasks.Claim(t.Context(), "cold")
	require.NoError(t, err)
	_, err = fill(t, tasks, "cold", "")
	require.ErrorIs(t, err, fault.ErrOverloaded, "a claimed task counts")
	require.NoError(t, tasks.Report(t.Context(), claimed, "", true, nil))

	for n := range 100 { // until all is used that programs may use
		if others, _ := fill(t, tasks, fmt.Sprint("other", n), strings.Repeat("x", 1000)); others == 0 {
			break
		}
	}
	for n := range 20 {
		require.NoError(t, dig(t, managers, n))
	}
	for range 500 { // what remains is less than the rest
		claimed, err := tasks.Claim(t.Context(), "cold")
		require.NoError(t, err)
		require.NoError(t, tasks.Report(t.Context(), claimed, "", true, nil))
	}
	again, err := fill(t, tasks, "cold", strings.Repeat("x", 10_000))
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.Greater(t, again, 300, "its share is free again")
}

func TestALoopThatIsRefusedWarnsOnceAndGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged lockedbuffer.Buffer
		var full atomic.Bool
		full.Store(true)
		var calls atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		loop := Loop{
			Client: Client{waiting{}}, Action: "dig", Look: time.Minute, Log: slog.New(slog.NewTextHandler(&logged, nil)),
			Issue: func(context.Context, Client) (bool, error) {
				calls.Add(1)
				if full.Load() {
					return true, fmt.Errorf("space task holds 9 tuples: %w", fault.ErrOverloaded)
				}
				return false, nil
			},
		}
		go func() { ended <- loop.Run(ctx) }()
		<-time.After(10*time.Minute + time.Second)
		synctest.Wait()
		require.EqualValues(t, 10, calls.Load())
		require.Equal(t, 1, strings.Count(logged.String(), "level=WARN"))
		require.Contains(t, logged.String(), "new work is refused; it is tried again\" action=dig every=1m0s error=\"space task holds 9 tuples: overloaded\"")
		full.Store(false)
		<-time.After(5 * time.Minute)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(logged.String(), "new work is not refused any more"))
		stop()
		require.NoError(t, <-ended)
	})
}

// waiting is a session whose calls of work.next wait, and whose other calls succeed.
type waiting struct{ space.Repository }

func (waiting) Call(ctx context.Context, _ space.OpID, procedure string, _ tuple.Tuple) (tuple.Tuple, error) {
	if procedure == procNext {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, nil
}
