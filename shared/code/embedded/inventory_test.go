package embedded_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
)

// reopen closes an index, removes a file that matches pattern, and opens the folder again.
func reopen(t *testing.T, x *embedded.Index, dir, pattern string) *embedded.Index {
	t.Helper()
	require.NoError(t, x.Close())
	if pattern != "" {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		require.NoError(t, os.Remove(files[0]))
	}
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

// missing returns how many files a search misses.
func missing(t *testing.T, x *embedded.Index, query string) int {
	t.Helper()
	q, err := code.Parse(query)
	require.NoError(t, err)
	stats, err := x.Search(t.Context(), q, code.Options{Timeout: time.Hour}, func(code.Match) bool { return true })
	require.NoError(t, err)
	return stats.Missing
}

func TestAMissingSegmentIsNoticedUntilItsBlobsAreIndexedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle 1"))
	require.Zero(t, missing(t, x, "needle"))
	x = reopen(t, x, dir, "segments/*.segment")
	require.Equal(t, 1, missing(t, x, "needle"))
	require.Equal(t, 1, missing(t, x, "needle repo:a"))
	require.Zero(t, missing(t, x, "needle repo:b"), "the filter excludes the repository")
	lack, err := x.Lacks()
	require.NoError(t, err)
	require.Len(t, lack.Files, 1)
	require.Equal(t, []code.RepoInfo{{ID: "a", Repo: "a", Files: 1, Lost: 1}}, lack.Repos)
	lacking, err := embedded.LackingIn(dir)
	require.NoError(t, err)
	require.Len(t, lacking, 1)
	x = reopen(t, x, dir, "")
	require.Equal(t, 1, missing(t, x, "needle"), "also after another start")
	require.NoError(t, put(x, "b", "needle 2"))
	require.Equal(t, 1, missing(t, x, "needle"))
	require.NoError(t, put(x, "a", "needle 1"))
	require.Zero(t, missing(t, x, "needle"))
	x = reopen(t, x, dir, "")
	require.Zero(t, missing(t, x, "needle"))
	lacking, err = embedded.LackingIn(dir)
	require.NoError(t, err)
	require.Empty(t, lacking)
}

func TestAMissingGenerationIsNoticedUntilItIsPublishedOrDropped(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*embedded.Index) error{
		"published": func(x *embedded.Index) error { return put(x, "a", "needle 1") },
		"dropped":   func(x *embedded.Index) error { return x.DropRepo(t.Context(), "a") },
	} {
		dir := t.TempDir()
		x, err := embedded.Open(dir, embedded.Options{})
		require.NoError(t, err)
		require.NoError(t, put(x, "a", "needle 1"))
		x = reopen(t, x, dir, "repositories/*.generation")
		require.Equal(t, 1, missing(t, x, "needle"), name)
		require.Zero(t, missing(t, x, "needle -repo:a"), name)
		lack, err := x.Lacks()
		require.NoError(t, err)
		require.Equal(t, []code.RepoInfo{{ID: "a", Repo: "a"}}, lack.Repos, name)
		require.NoError(t, end(x), name)
		require.Zero(t, missing(t, x, "needle"), name)
		x = reopen(t, x, dir, "")
		require.Zero(t, missing(t, x, "needle"), name)
	}
}

func TestAFolderWithoutAnInventoryAndMergedSegmentsMissNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle 1"))
	require.NoError(t, put(x, "b", "needle 2"))
	_, err = x.MergeAll(t.Context())
	require.NoError(t, err)
	x = reopen(t, x, dir, "")
	require.Zero(t, missing(t, x, "needle"))
	lacking, err := embedded.LackingIn(dir)
	require.NoError(t, err)
	require.Empty(t, lacking)
	x = reopen(t, x, dir, "inventory")
	require.Zero(t, missing(t, x, "needle"))
	require.NoError(t, put(x, "c", "needle 3"))
	x = reopen(t, x, dir, "segments/*.segment")
	require.NotZero(t, missing(t, x, "needle"))
}
