package gitrepo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestTagsAreCopiedAsTheCommitsThatTheyName(t *testing.T) {
	t.Parallel()
	bothEngines(t, testTagsAreCopiedAsTheCommitsThatTheyName)
}

func testTagsAreCopiedAsTheCommitsThatTheyName(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	first := r.git("rev-parse", "main")
	r.git("tag", "v1")
	r.git("tag", "-a", "-m", "annotated", "v2")
	r.git("tag", "-a", "-m", "of a tag", "v3", "v2")
	r.git("tag", "v4-tree", "main^{tree}")
	r.git("tag", "-a", "-m", "of a tree", "v5-tree", "main^{tree}")
	r.git("tag", "module/v1")
	r.commit(map[string]string{"a": "two"})
	for _, uri := range []string{r.dir, serveGit(t, r.dir, "", "").URL + "/.git"} {
		m := mirrorOf(t, openStore(t, Config{Library: lib}), uri)
		fetch := func(tags ...string) (refs []string) {
			found, err := m.Fetch(t.Context(), Wanted{Tags: tags})
			require.NoError(t, err)
			for _, b := range found {
				files, err := m.Files(t.Context(), b.Commit)
				require.NoError(t, err)
				for _, text := range contents(t, m, files[0].OID) {
					refs = append(refs, b.Name+"="+text)
				}
				require.True(t, b.Name == "main" || b.Commit == first || b.Name == "tag/moved", b)
			}
			return refs
		}
		require.Equal(t, []string{"main=two"}, fetch())
		require.Equal(t, []string{"main=two", "tag/v1=one", "tag/v2=one", "tag/v3=one"}, fetch("v*"))
		require.Equal(t, []string{"main=two", "tag/module/v1=one"}, fetch("module/*", "absent"))
		require.Equal(t, []string{"main=two"}, fetch("absent"))
		r.git("tag", "-a", "-m", "1", "moved", first)
		require.Equal(t, []string{"main=two", "tag/moved=one"}, fetch("moved"))
		r.git("tag", "-a", "-f", "-m", "2", "moved", "main")
		require.Equal(t, []string{"main=two", "tag/moved=two"}, fetch("moved"))
		r.git("tag", "-d", "moved")
		require.Equal(t, []string{"main=two"}, fetch("moved"))
		r.git("branch", "tag/v1")
		_, err := m.Fetch(t.Context(), Wanted{Branches: []string{"tag/*"}, Tags: []string{"v1"}})
		require.ErrorIs(t, err, fault.ErrInvalid, "results could not tell them apart")
		r.git("branch", "-D", "tag/v1")
	}
	_, err := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir).Fetch(t.Context(), Wanted{Tags: []string{"["}})
	require.ErrorContains(t, err, `tag "["`)
}

func TestTheNewestTagsAreReturnedWithTheBranches(t *testing.T) {
	t.Parallel()
	bothEngines(t, testTheNewestTagsAreReturnedWithTheBranches)
}

func testTheNewestTagsAreReturnedWithTheBranches(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	tree := r.git("rev-parse", "main^{tree}")
	var input strings.Builder
	for i := range 70 { // v69 is the oldest
		at := 1_700_000_000 - 1000*i
		commit := fmt.Sprintf("tree %s\nauthor a <a@example.org> %d +0000\ncommitter a <a@example.org> %d +0000\n\nx\n", tree, at, at)
		fmt.Fprintf(&input, "create refs/tags/v%d %s\n", i, r.gitWith(commit, "hash-object", "-t", "commit", "-w", "--stdin"))
	}
	r.gitWith(input.String(), "update-ref", "--stdin")
	r.git("branch", "dev")
	found, err := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir).Fetch(t.Context(), Wanted{Branches: []string{"*"}, Tags: []string{"*"}})
	require.NoError(t, err)
	require.Len(t, found, maxBranches)
	require.Equal(t, "dev", found[0].Name)
	require.Equal(t, "main", found[1].Name)
	for i, b := range found[2:] {
		require.Equal(t, fmt.Sprint("tag/v", i), b.Name)
		require.Equal(t, time.Unix(int64(1_700_000_000-1000*i), 0).UTC(), b.Time)
	}
}
