package batch_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

func open(t testing.TB) space.Repository {
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: batch.Procedures()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	repo, err := e.Session(t.Context(), "m", 0)
	require.NoError(t, err)
	for _, d := range batch.Spaces() {
		require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
	}
	return repo
}

func TestAnOutcomeReachesTheManagerOfItsRepository(t *testing.T) {
	t.Parallel()
	repo := open(t)
	c := batch.Client{Repo: repo}
	want := models.Indexed{Repository: "r", Batch: "b", Files: 3, Unreadable: []models.Unreadable{{OID: "x", Reason: "y"}}}
	require.NoError(t, c.Put(t.Context(), models.Indexed{Repository: "other", Batch: "c"}))
	require.NoError(t, c.Put(t.Context(), want))
	got, err := c.Take(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, ok, err := c.TakeP(t.Context(), "r")
	require.NoError(t, err)
	require.False(t, ok)
	n, err := repo.Space(batch.Space).Count(t.Context(), batch.Of("other"))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestAMalformedOutcomeIsTakenAndReported(t *testing.T) {
	t.Parallel()
	repo := open(t)
	c := batch.Client{Repo: repo}
	require.NoError(t, repo.Space(batch.Space).Put(t.Context(), tuple.New("batch", "r", "b", "nonsense"), 0))
	_, err := c.Take(t.Context(), "r")
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, ok, err := c.TakeP(t.Context(), "r")
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, repo.Space(batch.Space).Put(t.Context(), tuple.New("batch", "r", "b", `{"repository":"forged","batch":"forged","files":1}`), 0))
	r, err := c.Take(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, models.Indexed{Repository: "r", Batch: "b", Files: 1}, r, "the tuple's fields decide")
}

func ExampleClient() {
	ctx := context.Background()
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: batch.Procedures()})
	repo, _ := e.Session(ctx, "manager-1", 0)
	for _, d := range batch.Spaces() {
		_ = repo.Create(ctx, d.Name, d.Options)
	}
	c := batch.Client{Repo: repo}
	_ = c.Put(ctx, models.Indexed{Repository: "repository", Batch: "b1", Files: 2000})
	outcome, _ := c.Take(ctx, "repository")
	fmt.Println(outcome.Batch, outcome.Files)
	// Output: b1 2000
}
