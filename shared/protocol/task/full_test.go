package task_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// While a dead letter or its result cannot be put, the task is out of the reach of
// workers; then it dies once. A full log does not delay it.
func TestAFullSpaceMakesNoPoisonTaskLoop(t *testing.T) {
	for full, delayed := range map[string]bool{task.Dead: true, task.Result: true, status.Log: false} {
		t.Run(full, func(t *testing.T) {
			withFullSpace(t, full, func(f fixture) {
				_, err := f.repo.Call(f.Context(), space.OpID{}, "lease-one", nil)
				require.NoError(f, err)
				f.fail()
				for range 10 {
					claim, cancel := context.WithTimeout(f.Context(), 2*backoff)
					_, err := f.client.Claim(claim, "a")
					cancel()
					require.ErrorIs(f, err, context.DeadlineExceeded, "no worker gets it again")
					dead, err := f.repo.Space(task.Dead).Count(f.Context(), task.AnyDead())
					require.NoError(f, err)
					require.Equal(f, !delayed, dead == 1)
				}
				_, err = f.repo.Space(full).Get(f.Context(), tuple.Match("full"))
				require.NoError(f, err)
				<-time.After(2 * backoff)
				letters, _, err := f.client.List(f.Context(), task.Filter{State: task.StateDead}, nil, 9)
				require.NoError(f, err)
				require.Len(f, letters, 1)
				dead := letters[0]
				require.EqualValues(f, 2, dead.Attempts)
				require.Contains(f, dead.Reason, "cannot")
				results, err := f.repo.Space(task.Result).Count(f.Context(), task.AnyResult("a"))
				require.NoError(f, err)
				require.Equal(f, 1, results, "its failure, once")
			})
		})
	}
}
