package task_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// BenchmarkClaim claims and resolves tasks of two actions, while many tasks of other actions
// and groups wait.
func BenchmarkClaim(b *testing.B) {
	for _, waiting := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(waiting, " others wait"), func(b *testing.B) {
			policy := task.Policy{MaxAttempts: 3, Backoff: backoff}
			e, err := engine.Open(b.Context(), engine.Config{Journal: &journal.Memory{}, Takes: task.Takes(),
				Procedures: space.Join(policy.Procedures(), policy.AdminProcedures(), lease.Procedures(), status.Procedures())})
			require.NoError(b, err)
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- e.Run(ctx) }()
			defer func() { stop(); require.NoError(b, <-done) }()
			repo, err := e.Session(b.Context(), "bench", 0)
			require.NoError(b, err)
			for _, spaces := range [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()} {
				for _, d := range spaces {
					require.NoError(b, repo.Create(b.Context(), d.Name, d.Options))
				}
			}
			client := task.Client{Repo: repo}
			r := rand.New(rand.NewPCG(15, 1))
			others := make([]task.New, 1000)
			for n := 0; n < waiting; n += len(others) {
				for k := range others {
					others[k] = task.New{Task: models.Task{Action: fmt.Sprint("other-", r.IntN(1000)), Timeout: 600,
						TaskOptions: models.TaskOptions{Group: fmt.Sprint("g", r.IntN(1000))}}}
				}
				_, err := client.CreateAll(b.Context(), others...)
				require.NoError(b, err)
			}
			for b.Loop() {
				_, err := client.Create(b.Context(), models.Task{Action: []string{"one", "two"}[r.IntN(2)], Timeout: 600}, 0)
				require.NoError(b, err)
				i, err := client.Claim(b.Context(), "one", "two")
				require.NoError(b, err)
				require.NoError(b, client.Report(b.Context(), i, "", true, 1))
			}
		})
	}
}
