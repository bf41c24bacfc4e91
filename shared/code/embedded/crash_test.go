package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

var errCrash = errors.New("the process ends here")

// put puts texts and publishes them as a repository; it returns the first error.
func put(x *embedded.Index, repo string, texts ...string) error {
	var blobs []code.Blob
	m := code.Manifest{RepoID: repo, Repo: repo, Refs: []code.Ref{{Name: "main"}}}
	for i, text := range texts {
		blobs = append(blobs, code.Blob{OID: code.OIDOf([]byte(text)), Content: []byte(text)})
		m.Files = append(m.Files, code.File{Ref: "main", Path: fmt.Sprintf("f%d", i), OID: blobs[i].OID})
	}
	if err := x.PutBlobs(context.Background(), repo, blobs); err != nil {
		return err
	}
	return x.Publish(context.Background(), m)
}

// found returns the sorted texts of the lines with "needle", with their repositories.
func found(t *testing.T, x *embedded.Index) []string {
	q, err := code.Parse("needle")
	require.NoError(t, err)
	var all []string
	_, err = x.Search(t.Context(), q, code.Options{}, func(m code.Match) bool {
		all = append(all, m.Repo+":"+m.Text)
		return true
	})
	require.NoError(t, err)
	slices.Sort(all)
	return all
}

// TestACrashAtAnyPointLeavesTheOldOrTheNewState stops an index at each point of each
// operation, opens the folder again as after a crash, and finishes the operation.
func TestACrashAtAnyPointLeavesTheOldOrTheNewState(t *testing.T) {
	t.Parallel()
	old := []string{"a:needle 1", "a:needle 2", "b:needle 1"}
	for name, operation := range map[string]struct {
		do   func(*embedded.Index) error
		want []string
	}{
		"put and publish": {func(x *embedded.Index) error { return put(x, "a", "needle 2", "needle 3") }, []string{"a:needle 2", "a:needle 3", "b:needle 1"}},
		"drop":            {func(x *embedded.Index) error { return x.DropRepo(context.Background(), "a") }, []string{"b:needle 1"}},
		"merge":           {func(x *embedded.Index) error { _, err := x.MergeAll(context.Background()); return err }, old},
	} {
		points := 0
		for crash := 1; ; crash++ {
			dir := t.TempDir()
			x, err := embedded.Open(dir, embedded.Options{})
			require.NoError(t, err)
			require.NoError(t, put(x, "a", "needle 1", "needle 2"))
			require.NoError(t, put(x, "b", "needle 1"))
			require.NoError(t, put(x, "c", "needle 4"))
			require.NoError(t, x.DropRepo(t.Context(), "c"))
			passed := 0
			x.StopAt(func(string) error {
				if passed++; passed == crash {
					return errCrash
				}
				return nil
			})
			err = operation.do(x)
			// The index is not closed: a crash does not either.
			y, openErr := embedded.Open(dir, embedded.Options{})
			require.NoError(t, openErr)
			if err == nil {
				require.Equal(t, operation.want, found(t, y), name)
				break
			}
			points++
			require.ErrorIs(t, err, errCrash)
			require.Contains(t, [][]string{old, operation.want}, found(t, y), "%s, point %d", name, crash)
			require.NoError(t, operation.do(y), "%s, point %d", name, crash)
			require.Equal(t, operation.want, found(t, y), "%s, point %d", name, crash)
			require.NoError(t, y.Close())
		}
		require.Positive(t, points, name)
	}
}

func TestOpenRemovesSegmentsThatACrashLeftAfterTheirMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle 1"))
	require.NoError(t, put(x, "b", "needle 2"))
	segments := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
		require.NoError(t, err)
		return files
	}
	before := segments()
	require.Len(t, before, 2)
	x.StopAt(func(point string) error {
		if point == "merged segment renamed" {
			return errCrash
		}
		return nil
	})
	_, err = x.MergeAll(t.Context())
	require.ErrorIs(t, err, errCrash)
	require.Len(t, segments(), 3)
	require.NoError(t, os.Truncate(before[0], 10), "its texts are in the merged segment, so its damage does not matter")
	y, err := embedded.Open(dir, embedded.Options{ReadOnly: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a:needle 1", "b:needle 2"}, found(t, y))
	require.NoError(t, y.Close())
	require.Len(t, segments(), 3, "a reader removes nothing")
	y, err = embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	defer y.Close()
	left := segments()
	require.Len(t, left, 1)
	require.NotContains(t, before, left[0])
	require.Equal(t, []string{"a:needle 1", "b:needle 2"}, found(t, y))
	repos, err := y.Repos(t.Context())
	require.NoError(t, err)
	require.Len(t, repos, 2)
	for _, r := range repos {
		require.Zero(t, r.Lost)
	}
}

func TestMergingDropsOldBlobsThatNoGenerationNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	defer x.Close()
	require.NoError(t, put(x, "a", "needle kept", "needle dropped"))
	require.NoError(t, put(x, "b", "needle of b"))
	require.NoError(t, put(x, "a", "needle kept"))
	require.NoError(t, x.DropRepo(t.Context(), "b"))
	ids := []code.OID{code.OIDOf([]byte("needle dropped")), code.OIDOf([]byte("needle of b"))}
	for day, want := range []int{0, 2} {
		x.SetNow(func() time.Time { return time.Now().Add(time.Duration(day) * 25 * time.Hour) })
		_, err := x.MergeAll(t.Context())
		require.NoError(t, err)
		missing, err := x.Missing(t.Context(), ids)
		require.NoError(t, err)
		require.Len(t, missing, want, "after %d days", day)
		require.Equal(t, []string{"a:needle kept"}, found(t, x))
	}
	require.NoError(t, x.DropRepo(t.Context(), "a"))
	merged, err := x.Merge(t.Context())
	require.NoError(t, err)
	require.True(t, merged)
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
	require.NoError(t, err)
	require.Empty(t, files, "a segment without blobs is removed")
}

func TestABlobThatIsPublishedWhileItIsDroppedIsKept(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	require.NoError(t, put(x, "a", "needle"))
	require.NoError(t, x.DropRepo(t.Context(), "a"))
	require.NoError(t, put(x, "b", "other"))
	x.SetNow(func() time.Time { return time.Now().Add(48 * time.Hour) })
	x.StopAt(func(point string) error {
		if point == "merged segment written" {
			return put(x, "a", "needle")
		}
		return nil
	})
	_, err := x.MergeAll(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a:needle"}, found(t, x))
}

func TestADamagedFileIsNamedWithTheRemedy(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"segments", "repositories"} {
		dir := t.TempDir()
		x, err := embedded.Open(dir, embedded.Options{})
		require.NoError(t, err)
		require.NoError(t, put(x, "a", "needle 1", "needle 2"))
		require.NoError(t, x.Close())
		files, err := filepath.Glob(filepath.Join(dir, part, "*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		info, err := os.Stat(files[0])
		require.NoError(t, err)
		content, err := os.ReadFile(files[0])
		require.NoError(t, err)
		content[7] = 2
		require.NoError(t, os.WriteFile(files[0], content, 0o600))
		_, err = embedded.Open(dir, embedded.Options{})
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, "it has format 2, this program reads format 1")
		require.NoError(t, os.Truncate(files[0], info.Size()-3))
		_, err = embedded.Open(dir, embedded.Options{})
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, files[0])
		require.ErrorContains(t, err, "again")
		require.NoError(t, os.Rename(files[0], filepath.Join(dir, "damaged")), "the remedy")
		x, err = embedded.Open(dir, embedded.Options{})
		require.NoError(t, err)
		if part == "segments" {
			q, err := code.Parse("needle")
			require.NoError(t, err)
			stats, err := x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
			require.NoError(t, err)
			require.Equal(t, map[string]int{code.SkipLost: 2}, stats.Skipped, "a search tells what is lost")
			repos, err := x.Repos(t.Context())
			require.NoError(t, err)
			require.Equal(t, []code.RepoInfo{{ID: "a", Repo: "a", Refs: []code.Ref{{Name: "main"}}, Files: 2, Lost: 2}}, repos)
		}
		require.NoError(t, put(x, "a", "needle 1", "needle 2"))
		require.Equal(t, []string{"a:needle 1", "a:needle 2"}, found(t, x))
		require.NoError(t, x.Close())
	}
}

func TestASegmentOfAWorkerIsVerifiedAndMovedIn(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	text := "needle of a worker"
	blob := code.Blob{OID: code.OIDOf([]byte(text)), Content: []byte(text)}
	upload := func() string {
		path, err := segment.Write(t.Context(), t.TempDir(), []code.Blob{blob}, segment.Options{})
		require.NoError(t, err)
		return path
	}
	for range 2 {
		require.NoError(t, x.PutSegment(t.Context(), "batch", upload()))
	}
	missing, err := x.Missing(t.Context(), []code.OID{blob.OID})
	require.NoError(t, err)
	require.Empty(t, missing)
	for what, damage := range map[string]func(path string) string{
		"another hash": func(path string) string {
			other := filepath.Join(filepath.Dir(path), strings.Repeat("0", 64)+segment.Extension)
			require.NoError(t, os.Rename(path, other))
			return other
		},
		"cut off":     func(path string) string { require.NoError(t, os.Truncate(path, 100)); return path },
		"not one":     func(path string) string { require.NoError(t, os.WriteFile(path, []byte("<html>"), 0o600)); return path },
		"empty":       func(path string) string { require.NoError(t, os.Truncate(path, 0)); return path },
		"not a place": func(path string) string { return path + "/absent" },
	} {
		path := damage(upload())
		err := x.PutSegment(t.Context(), "batch 7", path)
		require.Error(t, err, what)
		require.ErrorContains(t, err, "batch 7")
		require.ErrorContains(t, err, path)
		if what != "not a place" {
			require.ErrorIs(t, err, fault.ErrCorrupt, what)
		}
	}
}

func TestAClosedOrReadOnlyIndexRefusesChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := embedded.Open(dir, embedded.Options{ReadOnly: true})
	require.ErrorIs(t, err, os.ErrNotExist)
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle"))
	require.NoError(t, x.Close())
	require.NoError(t, x.Close())
	require.ErrorIs(t, put(x, "a", "needle"), fault.ErrClosed)
	require.ErrorIs(t, x.Files(t.Context(), nil, nil), fault.ErrClosed)
	x, err = embedded.Open(dir, embedded.Options{ReadOnly: true})
	require.NoError(t, err)
	defer x.Close()
	require.Equal(t, []string{"a:needle"}, found(t, x))
	require.ErrorIs(t, put(x, "b", "new"), fault.ErrForbidden)
	require.ErrorIs(t, x.DropRepo(t.Context(), "a"), fault.ErrForbidden)
}
