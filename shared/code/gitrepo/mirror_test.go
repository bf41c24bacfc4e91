package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestFetchCopiesTheWantedBranches(t *testing.T) {
	t.Parallel()
	bothEngines(t, testFetchCopiesTheWantedBranches)
}

func testFetchCopiesTheWantedBranches(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a.txt": "one", "dir/b.txt": "two"})
	for _, name := range []string{"release-1", "release-2", "deep/branch"} {
		r.git("branch", name)
	}
	r.git("tag", "v1")
	s := openStore(t, Config{Library: lib})
	m := mirrorOf(t, s, r.dir)
	for _, c := range []struct {
		patterns, want []string
	}{
		{nil, []string{"main"}},
		{[]string{"HEAD"}, []string{"main"}},
		{[]string{"release-*", "HEAD"}, []string{"main", "release-1", "release-2"}},
		{[]string{"deep/*"}, []string{"deep/branch"}},
		{[]string{"absent", "main"}, []string{"main"}},
	} {
		found, err := m.Fetch(t.Context(), Wanted{Branches: c.patterns})
		require.NoError(t, err)
		var names []string
		for _, b := range found {
			names = append(names, b.Name)
			require.Equal(t, r.git("rev-parse", "main"), b.Commit)
		}
		require.Equal(t, c.want, names, c.patterns)
	}
	_, err := m.Fetch(t.Context(), Wanted{Branches: []string{"[a"}})
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = m.Fetch(t.Context(), Wanted{Branches: []string{"absent", "v*"}})
	require.ErrorIs(t, err, fault.ErrNotFound, "v1 is a tag")
	require.ErrorContains(t, err, "branch absent or v*: not found; the repository has deep/branch, main, release-1 and release-2")
	for i := range 4 {
		r.git("branch", fmt.Sprintf("topic-%d", i))
	}
	_, err = m.Fetch(t.Context(), Wanted{Branches: []string{"absent"}})
	require.ErrorContains(t, err, "deep/branch, main, release-1, release-2, topic-0 and 3 more")
	for i := range 4 {
		r.git("branch", "-D", fmt.Sprintf("topic-%d", i))
	}

	refs, err := m.Refs(t.Context())
	require.NoError(t, err)
	require.Len(t, refs, 6)
	require.Equal(t, r.git("rev-parse", "v1"), refs["refs/tags/v1"])
	files := filesOf(t, m, Wanted{})
	require.Equal(t, File{Path: "dir/b.txt", OID: files["dir/b.txt"].OID, Size: 3}, files["dir/b.txt"])
	require.Equal(t, map[string]string{files["a.txt"].OID: "one", files["dir/b.txt"].OID: "two"},
		contents(t, m, files["a.txt"].OID, files["dir/b.txt"].OID))
}

func TestAMirrorIsOneCommitDeepUnlessTheHistoryIsWanted(t *testing.T) {
	t.Parallel()
	bothEngines(t, testAMirrorIsOneCommitDeepUnlessTheHistoryIsWanted)
}

func testAMirrorIsOneCommitDeepUnlessTheHistoryIsWanted(t *testing.T, lib bool) {
	r := newRepo(t)
	for _, text := range []string{"one", "two", "three"} {
		r.commit(map[string]string{"a": text})
	}
	s := openStore(t, Config{Library: lib})
	m := mirrorOf(t, s, r.dir)
	commits := func() int {
		return int(r.git("--git-dir="+m.dir, "rev-list", "--count", "main")[0] - '0') // git reads the mirrors of both
	}
	filesOf(t, m, Wanted{})
	require.Equal(t, 1, commits())
	filesOf(t, m, Wanted{History: true})
	require.Equal(t, 3, commits())
}

func TestABranchThatMovesIsFetchedWhereItIs(t *testing.T) {
	t.Parallel()
	bothEngines(t, testABranchThatMovesIsFetchedWhereItIs)
}

func testABranchThatMovesIsFetchedWhereItIs(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	s := openStore(t, Config{Library: lib})
	m := mirrorOf(t, s, r.dir)
	filesOf(t, m, Wanted{})
	first := r.git("rev-parse", "main")
	r.commit(map[string]string{"a": "two"})
	filesOf(t, m, Wanted{})
	// Rewritten, renamed, and replaced by a branch below the old name.
	r.git("reset", "--quiet", "--hard", first)
	r.commit(map[string]string{"a": "three"})
	r.git("branch", "-m", "main", "topic")
	files := filesOf(t, m, Wanted{})
	require.Equal(t, "three", contents(t, m, files["a"].OID)[files["a"].OID])
	r.git("checkout", "--quiet", "--detach")
	r.git("branch", "-D", "topic")
	r.git("checkout", "--quiet", "-b", "topic/below")
	found, err := m.Fetch(t.Context(), Wanted{Branches: []string{"HEAD", "*", "*/*"}})
	require.NoError(t, err)
	require.Equal(t, []Branch{{"topic/below", r.git("rev-parse", "HEAD"), time.Unix(1700000000, 0).UTC()}}, found)
}

func TestABranchThatIsRemovedWhileItIsFetchedIsLeftOut(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	r.git("branch", "release-1")
	m := mirrorOf(t, openStore(t, Config{}), r.dir)
	git := command{m}
	require.NoError(t, git.writeConfig(t.Context()))
	refs, err := git.branches(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, refs.hash, 2)
	r.git("branch", "-D", "release-1")
	_, err = git.copy(t.Context(), refs, []string{"main", "release-1"}, false)
	require.ErrorIs(t, err, fault.ErrConflict, "Fetch lists the refs again")
	found, err := m.Fetch(t.Context(), Wanted{Branches: []string{"main", "release-*"}})
	require.NoError(t, err)
	require.Len(t, found, 1)
}

func TestTooManyBranchesAreNotCopied(t *testing.T) {
	t.Parallel()
	bothEngines(t, testTooManyBranchesAreNotCopied)
}

func testTooManyBranchesAreNotCopied(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	for i := range maxBranches {
		r.git("update-ref", fmt.Sprint("refs/heads/b", i), "main")
	}
	m := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir)
	_, err := m.Fetch(t.Context(), Wanted{Branches: []string{"*"}})
	require.ErrorIs(t, err, fault.ErrTooLarge)
	found, err := m.Fetch(t.Context(), Wanted{Branches: []string{"b*"}})
	require.NoError(t, err)
	require.Len(t, found, maxBranches)
}

func TestARepositoryWithoutHeadHasNoBranch(t *testing.T) {
	t.Parallel()
	bothEngines(t, testARepositoryWithoutHeadHasNoBranch)
}

func testARepositoryWithoutHeadHasNoBranch(t *testing.T, lib bool) {
	empty := newRepo(t)
	dangling := newRepo(t)
	dangling.commit(map[string]string{"a": "one"})
	dangling.git("symbolic-ref", "HEAD", "refs/heads/absent")
	s := openStore(t, Config{Library: lib})
	for _, patterns := range [][]string{nil, {"main"}} {
		found, err := mirrorOf(t, s, empty.dir).Fetch(t.Context(), Wanted{Branches: patterns})
		require.NoError(t, err)
		require.Empty(t, found)
	}
	_, err := mirrorOf(t, s, dangling.dir).Fetch(t.Context(), Wanted{})
	require.ErrorContains(t, err, "branch HEAD: not found; the repository has main")
	found, err := mirrorOf(t, s, dangling.dir).Fetch(t.Context(), Wanted{Branches: []string{"ma*"}})
	require.NoError(t, err)
	require.Len(t, found, 1)

	detachedHead := newRepo(t)
	detachedHead.commit(map[string]string{"a": "one"})
	detachedHead.git("checkout", "--quiet", "--detach")
	detachedHead.commit(map[string]string{"a": "two"})
	found, err = mirrorOf(t, s, detachedHead.dir).Fetch(t.Context(), Wanted{})
	require.NoError(t, err)
	require.Equal(t, []Branch{{"HEAD", detachedHead.git("rev-parse", "HEAD"), time.Unix(1700000000, 0).UTC()}}, found)
}

func TestARepositoryWithSHA256IsRead(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "--object-format=sha256")
	r.commit(map[string]string{"a": "one"})
	old := newRepo(t)
	old.commit(map[string]string{"a": "one"})
	s := openStore(t, Config{})
	for _, dir := range []string{r.dir, old.dir, r.dir} { // a mirror whose format changes is made again
		files := filesOf(t, mirrorOf(t, s, dir), Wanted{})
		require.Equal(t, "one", contents(t, mirrorOf(t, s, dir), files["a"].OID)[files["a"].OID])
	}
	require.Len(t, filesOf(t, mirrorOf(t, s, r.dir), Wanted{})["a"].OID, 64)
}

func TestADamagedMirrorIsMadeAgain(t *testing.T) {
	t.Parallel()
	bothEngines(t, testADamagedMirrorIsMadeAgain)
}

func testADamagedMirrorIsMadeAgain(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": strings.Repeat("one ", 1000)})
	s := openStore(t, Config{Library: lib})
	m := mirrorOf(t, s, r.dir)
	for _, damage := range []func(){
		func() { overwrite(t, m, "objects/pack/*.pack") },
		func() { overwrite(t, m, "objects/pack/*.idx") },
		func() { require.NoError(t, os.Remove(filepath.Join(m.dir, "config"))) },
		func() { require.NoError(t, os.RemoveAll(filepath.Join(m.dir, "objects"))) },
		func() { require.NoError(t, os.WriteFile(filepath.Join(m.dir, "shallow.lock"), nil, 0o600)) },
		func() { require.NoError(t, os.WriteFile(filepath.Join(m.dir, "shallow"), []byte("nonsense"), 0o600)) },
	} {
		filesOf(t, m, Wanted{})
		damage()
		r.commit(map[string]string{"b": "two"})
		files := filesOf(t, m, Wanted{})
		require.Equal(t, "two", contents(t, m, files["b"].OID)[files["b"].OID])
	}
}

// overwrite damages all files that match, behind their headers.
func overwrite(t testing.TB, m *Mirror, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.NoError(t, os.Chmod(file, 0o600))
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for i := 12; i < len(content); i++ {
			content[i] ^= 0xa5
		}
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
}

func TestABlobThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	bothEngines(t, testABlobThatCannotBeReadIsNamed)
}

func testABlobThatCannotBeReadIsNamed(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one", "b": "two", "c": strings.Repeat("x", 2<<20), "d": "four"})
	s := openStore(t, Config{Library: lib})
	m := mirrorOf(t, s, r.dir)
	files := filesOf(t, m, Wanted{})
	require.Contains(t, r.git("--git-dir="+m.dir, "count-objects", "-v"), "packs: 1")
	// The blob is replaced by a damaged loose one, which git reads if the pack lacks it.
	absent := strings.Repeat("1", 40)
	damaged := strings.Repeat("2", 40)
	loose := filepath.Join(m.dir, "objects", damaged[:2])
	require.NoError(t, os.MkdirAll(loose, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(loose, damaged[2:]), []byte("damaged"), 0o600))
	found, err := m.Files(t.Context(), "main")
	require.ErrorIs(t, err, fault.ErrInvalid, "a name is not a commit: %v", found)

	got := contents(t, m, files["a"].OID, absent, files["b"].OID, damaged, files["c"].OID, damaged, files["d"].OID)
	require.Equal(t, "one", got[files["a"].OID])
	require.Equal(t, "two", got[files["b"].OID])
	require.Equal(t, "four", got[files["d"].OID])
	require.Contains(t, got[absent], "missing")
	require.Contains(t, got[damaged], "corrupt")
	require.Contains(t, got[files["c"].OID], "too large: 2097152 bytes, more than 1048576")
	err = m.Blobs(t.Context(), []string{files["a"].OID, files["b"].OID}, 1<<20, func(string, []byte, error) error { return fault.ErrClosed })
	require.ErrorIs(t, err, fault.ErrClosed)
	require.ErrorIs(t, m.Blobs(t.Context(), []string{"--textconv"}, 1, nil), fault.ErrInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Blobs(ctx, []string{files["a"].OID}, 1<<20, func(string, []byte, error) error { return nil }), context.Canceled)
}

func TestMirrorsAreBoundedOnDisk(t *testing.T) {
	t.Parallel()
	bothEngines(t, testMirrorsAreBoundedOnDisk)
}

func testMirrorsAreBoundedOnDisk(t *testing.T, lib bool) {
	r := newRepo(t)
	noise := make([]byte, 1<<20)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	r.commit(map[string]string{"a": string(noise)})
	small := openStore(t, Config{Library: lib, MirrorBytes: 256 << 10})
	m := mirrorOf(t, small, r.dir)
	_, err := m.Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.NoDirExists(t, m.dir)

	s := openStore(t, Config{Library: lib, TotalBytes: 5 << 19})
	for _, id := range []string{"one", "two", "three"} {
		m, err := s.Mirror(id, r.dir, true)
		require.NoError(t, err)
		filesOf(t, m, Wanted{})
		if id != "one" {
			m.Close()
		}
	}
	s.makeSpace("")
	left, err := filepath.Glob(filepath.Join(s.Dir, "*.git"))
	require.NoError(t, err)
	require.Equal(t, []string{"one.git", "three.git"}, []string{filepath.Base(left[0]), filepath.Base(left[1])}, "the one in use stays, then the newest")
	require.NoError(t, s.Remove("three"))
	require.Error(t, s.Remove("../three"))
	left, err = filepath.Glob(filepath.Join(s.Dir, "three*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAMirrorIsFetchedAgainBeforeItHasTooManyPacks(t *testing.T) {
	t.Parallel()
	bothEngines(t, testAMirrorIsFetchedAgainBeforeItHasTooManyPacks)
}

func testAMirrorIsFetchedAgainBeforeItHasTooManyPacks(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	m := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir)
	filesOf(t, m, Wanted{})
	packs := func() []string {
		found, err := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
		require.NoError(t, err)
		return found
	}
	content, err := os.ReadFile(packs()[0])
	require.NoError(t, err)
	for i := range maxPacks {
		require.NoError(t, os.WriteFile(filepath.Join(m.dir, "objects", "pack", "pack-"+strings.Repeat("0", 38)+string(rune('a'+i/26))+string(rune('a'+i%26))+".pack"), content, 0o600))
	}
	files := filesOf(t, m, Wanted{})
	require.Len(t, packs(), 1)
	require.Equal(t, []string{"a"}, slices.Collect(func(yield func(string) bool) {
		for name := range files {
			yield(name)
		}
	}))
}
