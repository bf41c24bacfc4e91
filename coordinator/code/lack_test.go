package code_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	codeindex "leasehold/coordinator/code"
	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
)

func TestASearchWithoutMissingFilesIsIncompleteAndTellsWhetherTheyAreFetched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	b := blob("needle\n")
	require.NoError(t, store.PutBlobs(t.Context(), "b", []code.Blob{b}))
	require.NoError(t, store.Publish(t.Context(), code.Manifest{RepoID: "r", Repo: "r", Refs: []code.Ref{{Name: "main", Commit: "c"}}, Files: []code.File{{Ref: "main", Path: "a", OID: b.OID}}}))
	require.NoError(t, store.Close())
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(files[0]))
	store, err = embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	defer store.Close()
	o := &origins{}
	x, err := codeindex.New(filepath.Join(dir, "uploads"), store, o)
	require.NoError(t, err)

	q, err := code.Parse("needle")
	require.NoError(t, err)
	search := func() code.Stats {
		stats, err := x.Search(t.Context(), q, code.Options{}, nil)
		require.NoError(t, err)
		return stats
	}
	end := codeindex.EndOf(search())
	require.True(t, end.Incomplete)
	require.Equal(t, 1, end.Missing)
	require.False(t, end.Fetching, "no coordinator has them visited")
	var visited []models.Origin
	require.NoError(t, x.VisitLacking(t.Context(), func(_ context.Context, all []models.Origin) error { visited = all; return nil }))
	require.Equal(t, []models.Origin{{ID: "r"}}, visited)
	require.True(t, search().Fetching)
	o.failed.Store(true)
	require.False(t, search().Fetching, "the visit has failed")
	o.removed.Store(true)
	require.NoError(t, x.DropRemoved(t.Context()))
	require.False(t, codeindex.EndOf(search()).Incomplete)
}

// losing is a search server that has lost an index with source files.
type losing struct{ codeindex.Store }

func (losing) Search(context.Context, code.Query, code.Options, func(code.Match) bool) (code.Stats, error) {
	return code.Stats{Skipped: map[string]int{code.SkipLost: 7}}, nil
}

func TestTheLostFilesOfASearchServerAreCounted(t *testing.T) {
	t.Parallel()
	x, err := codeindex.New(t.TempDir(), losing{}, &origins{})
	require.NoError(t, err)
	stats, err := x.Search(t.Context(), code.Query{}, code.Options{}, nil)
	require.NoError(t, err)
	end := codeindex.EndOf(stats)
	require.True(t, end.Incomplete)
	require.Equal(t, 7, end.Missing)
}
