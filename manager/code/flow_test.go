package code

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
)

func TestAVisitIndexesTheNewFilesOnly(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	m := b.manage("m1", gitrepo.Wanted{})
	dir := b.repo(map[string]string{"a.go": "package a\n", "dir/b.go": "package b\n", "copy.go": "package a\n"})
	o := b.origin(models.Git, dir)
	first, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, models.Eventful, first.Status)
	require.Equal(t, map[string]string{"a.go": "package a", "copy.go": "package a", "dir/b.go": "package b"}, b.files(o))
	require.Equal(t, 2, b.putCount(), "one blob at two paths is read once")
	require.EqualValues(t, 1, b.issued())
	b.idle()

	asked := b.asked
	again, err := m.visit(t.Context(), o, first)
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, again.Status)
	require.Equal(t, first.Digest, again.Digest)
	require.Equal(t, asked, b.asked, "nothing is asked of the index")
	require.EqualValues(t, 1, b.issued())

	for i := range 50 {
		b.commit(dir, map[string]string{"a.go": fmt.Sprintf("package a%d\n", i)})
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "copy.go")))
	b.commit(dir, map[string]string{"c.go": "package c\n"})
	_, err = m.visit(t.Context(), o, first)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.go": "package a49", "c.go": "package c", "dir/b.go": "package b"}, b.files(o))
	require.Equal(t, 4, b.putCount(), "after 50 commits exactly the new blobs are read")
	require.EqualValues(t, 2, b.issued())
}

func TestAnUnchangedRepositoryThatTheIndexLostIsIndexedAgain(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	m := b.manage("m1", gitrepo.Wanted{})
	o := b.origin(models.Git, b.repo(map[string]string{"a": "text\n"}))
	first, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	b.naive = codetest.NewNaive() // as after a backup was restored
	again, err := m.visit(t.Context(), o, first)
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, again.Status, "the origin has not changed")
	require.Equal(t, first.Digest, again.Digest)
	require.Equal(t, map[string]string{"a": "text"}, b.files(o))
	b.idle()
}

func TestAVisitOfAnEarlierVersionIsIndexed(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	m := b.manage("m1", gitrepo.Wanted{})
	o := b.origin(models.Git, b.repo(map[string]string{"a": "text\n"}))
	refsOnly := &managed{Flow: NewFlow(Config{Catalog: b.store, Fetch: m.Fetch})}
	seen, err := refsOnly.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.NotEmpty(t, seen.Digest)
	got, err := m.visit(t.Context(), o, seen)
	require.NoError(t, err)
	require.Equal(t, models.Eventful, got.Status, "the refs are equal, but nothing was published")
	require.Len(t, b.files(o), 1)
	got, err = b.manage("m2", gitrepo.Wanted{Branches: []string{"main"}}).visit(t.Context(), o, got)
	require.NoError(t, err)
	require.Equal(t, models.Eventful, got.Status, "it has to index other branches")
}

func TestBranchesAreIndexedAndBlobsOfThemReadOnce(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	dir := b.repo(map[string]string{"same": "same\n", "a": "main\n"})
	b.git(dir, "checkout", "--quiet", "-b", "release-1")
	b.commit(dir, map[string]string{"a": "release\n"})
	o := b.origin(models.Git, dir)
	_, err := b.manage("m1", gitrepo.Wanted{Branches: []string{"main", "release-*"}}).visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, 3, b.putCount())
	q, err := code.Parse("branch:release-1 release")
	require.NoError(t, err)
	stats, err := b.naive.Search(t.Context(), q, code.Options{}, func(m code.Match) bool { return true })
	require.NoError(t, err)
	require.Equal(t, 1, stats.Matches)
}

func TestAnOriginHasBranchesOfItsOwn(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	dir := b.repo(map[string]string{"same": "same\n", "a": "main\n"})
	b.git(dir, "checkout", "--quiet", "-b", "release-1")
	b.commit(dir, map[string]string{"a": "release\n"})
	b.git(dir, "checkout", "--quiet", "main")
	o := b.origin(models.Git, dir)
	m := b.manage("m1", gitrepo.Wanted{Branches: []string{"HEAD"}})
	visit := func(known models.Outcome, branches ...string) models.Outcome {
		o.Branches = branches
		_, err := b.store.AddOrigin(t.Context(), o)
		require.NoError(t, err)
		outcome, err := m.visit(t.Context(), o, known)
		require.NoError(t, err)
		return outcome
	}
	outcome := visit(models.Outcome{})
	require.Equal(t, []string{"main a", "main same"}, b.matches(o, "/^./"))

	outcome = visit(outcome, "main", "release-*", "absent-*")
	require.Equal(t, models.Eventful, outcome.Status, "the refs are the same, the branches are others")
	require.Equal(t, []string{"main a@main", "main,release-1 same", "release-1 a@release-1"}, b.matches(o, "/^./"))
	require.Equal(t, 3, b.putCount(), "each content once")
	problems, err := b.store.Problems(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "absent-*", problems[0].Item)
	require.Contains(t, problems[0].Reason, "no branch has this name")
	outcome = visit(outcome, "main", "release-*", "absent-*")
	require.Equal(t, models.Uneventful, outcome.Status)

	b.git(dir, "branch", "-D", "release-1")
	outcome = visit(outcome, "main", "release-*")
	require.Equal(t, models.Eventful, outcome.Status)
	require.Equal(t, []string{"main a", "main same"}, b.matches(o, "/^./"), "a deleted branch is not searched any more")
	o.Branches = []string{"absent-*"}
	_, err = b.store.AddOrigin(t.Context(), o)
	require.NoError(t, err)
	_, err = m.visit(t.Context(), o, outcome)
	require.ErrorContains(t, err, "branch absent-*: not found; the repository has main")
	require.Equal(t, []string{"main a", "main same"}, b.matches(o, "/^./"), "a mistyped branch does not empty the index")
}

func TestABranchThatMovesDuringTheVisitIsPublishedAsItWasCopied(t *testing.T) {
	b := newBench(t)
	dir := b.repo(map[string]string{"a": "old\n"})
	moved := false
	b.worker("w1", func(task.Item, []models.BatchFile) bool {
		if !moved {
			moved = true
			b.commit(dir, map[string]string{"a": "new\n", "b": "new\n"})
		}
		return false
	})
	m := b.manage("m1", gitrepo.Wanted{})
	o := b.origin(models.Git, dir)
	first, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "old"}, b.files(o), "a commit is published whole")
	next, err := m.visit(t.Context(), o, first)
	require.NoError(t, err)
	require.Equal(t, models.Eventful, next.Status)
	require.Equal(t, map[string]string{"a": "new", "b": "new"}, b.files(o))
	b.idle()
}

func TestABundleAndAWorkTreeAreVisitedByTheGitCommand(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	dir := b.repo(map[string]string{"a": "text\n"})
	bundle := filepath.Join(t.TempDir(), "x.bundle")
	b.git(dir, "bundle", "create", "--quiet", bundle, "HEAD", "main")
	tree := filepath.Join(t.TempDir(), "tree")
	b.git(dir, "worktree", "add", "--quiet", "-b", "other", tree)
	for _, uri := range []string{bundle, tree} {
		m := b.manage("of "+uri, gitrepo.Wanted{})
		o := b.origin(models.Git, uri)
		first, err := m.visit(t.Context(), o, models.Outcome{})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "text"}, b.files(o))
		again, err := m.visit(t.Context(), o, first)
		require.NoError(t, err)
		require.Equal(t, models.Uneventful, again.Status)
		library, err := gitrepo.Open(gitrepo.Config{Dir: t.TempDir(), Library: true})
		require.NoError(t, err)
		_, err = NewFlow(Config{Catalog: b.store, Fetch: m.Fetch, Mirrors: library}).Visit(t.Context(), models.Visit{Origin: o})
		require.ErrorContains(t, err, "install git")
		o.Listed = true
		_, err = m.mirror(o)
		if uri == tree {
			require.ErrorIs(t, err, fault.ErrForbidden, "a list does not decide which repository is read")
		}
	}
}

// Defect 15 of earlier indexers.
func TestAnEmptyRepositoryIsIndexedWithAProblem(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	b.git(dir, "init", "--quiet")
	o := b.origin(models.Git, dir)
	_, err := b.manage("m1", gitrepo.Wanted{}).visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Empty(t, b.files(o))
	problems, err := b.store.Problems(t.Context())
	require.NoError(t, err)
	require.Equal(t, "the repository is empty: it has no branches", problems[0].Reason)
}

// Defect 14 of earlier indexers.
func TestAFailedVisitLeavesTheOldGeneration(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	m := b.manage("m1", gitrepo.Wanted{})
	dir := b.repo(map[string]string{"a": "old\n"})
	o := b.origin(models.Git, dir)
	first, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	b.commit(dir, map[string]string{"a": "new\n"})
	blob := b.git(dir, "rev-parse", "HEAD:a")
	require.NoError(t, os.Remove(filepath.Join(dir, ".git/objects", blob[:2], blob[2:])))
	_, err = m.visit(t.Context(), o, first)
	require.Error(t, err)
	require.Equal(t, map[string]string{"a": "old"}, b.files(o))
	b.idle()
}

// Defect 2 of earlier indexers.
func TestAFileThatCannotBeReadIsNamedAndTheOthersAreIndexed(t *testing.T) {
	b := newBench(t)
	m := b.manage("m1", gitrepo.Wanted{})
	dir := t.TempDir()
	for _, name := range []string{"good", "bad"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o600))
	}
	b.worker("w1", func(_ task.Item, files []models.BatchFile) bool {
		// It changes after it was listed, so that its content no longer matches its hash.
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bad"), []byte("other\n"), 0o600))
		return false
	})
	o := b.origin(models.Folder, dir)
	outcome, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, models.Eventful, outcome.Status)
	require.Empty(t, outcome.Digest, "the next visit tries again")
	require.Equal(t, map[string]string{"good": "good"}, b.files(o))
	problems, err := b.store.Problems(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "bad", problems[0].Item)
	require.Contains(t, problems[0].Reason, "changed while it was indexed")

	_, err = m.visit(t.Context(), o, outcome)
	require.NoError(t, err)
	require.Len(t, b.files(o), 2)
	problems, err = b.store.Problems(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	b.idle()
}

func TestATaskThatNoWorkerCanDoNamesItsFiles(t *testing.T) {
	b := newBench(t)
	m := b.manage("m1", gitrepo.Wanted{})
	o := b.origin(models.Git, b.repo(map[string]string{"a": "text\n"}))
	repo, err := b.engine.Session(t.Context(), "w1", 0)
	require.NoError(t, err)
	require.NoError(t, status.NewHeartbeat(repo, time.Hour, map[string]int{models.ActionIndex: 1}).Beat(t.Context()))
	client := task.Client{Repo: repo}
	working, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for working.Err() == nil {
			if item, err := client.Claim(working, models.ActionIndex); err == nil {
				_ = client.Release(working, item, "it burns")
			}
		}
	})
	outcome, err := m.visit(t.Context(), o, models.Outcome{})
	stop()
	running.Wait()
	require.NoError(t, err)
	require.Empty(t, outcome.Digest)
	problems, err := b.store.Problems(t.Context())
	require.NoError(t, err)
	require.Equal(t, "a", problems[0].Item)
	require.Contains(t, problems[0].Reason, "it burns")
}

// Defects 1, 6 and 13 of earlier indexers.
func TestAManagerThatDiesLeavesItsFinishedBatches(t *testing.T) {
	b := newBench(t)
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprint("f", i)] = fmt.Sprint(i) + strings.Repeat("x", 3<<20) + "\n"
	}
	o := b.origin(models.Git, b.repo(files))
	first := b.manage("m1", gitrepo.Wanted{})
	started := make(chan struct{}, 10)
	release := make(chan struct{})
	done := 0
	b.worker("w1", func(item task.Item, _ []models.BatchFile) bool {
		if done++; done > 1 {
			started <- struct{}{}
			<-release
		}
		return false
	})
	ctx, kill := context.WithCancel(t.Context())
	visited := make(chan error, 1)
	go func() { _, err := first.visit(ctx, o, models.Outcome{}); visited <- err }()
	<-started // the first batch is done, the second is with the worker
	kill()
	require.Error(t, <-visited)
	first.stop()
	require.Equal(t, 2, b.putCount())
	second := b.manage("m2", gitrepo.Wanted{})
	close(release)
	_, err := second.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Len(t, b.files(o), 5)
	require.Equal(t, 5, b.putCount(), "no file is read twice")
	b.idle()
	require.Less(t, b.largest, 600, "tuples do not depend on the size of files")
}

func TestAnotherManagerMayIngestTheResult(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	one, two := b.manage("m1", gitrepo.Wanted{}), b.manage("m2", gitrepo.Wanted{})
	for i := range 10 {
		o := b.origin(models.Git, b.repo(map[string]string{"a": fmt.Sprint("text ", i, "\n")}))
		m := one
		if i%2 == 1 {
			m = two
		}
		_, err := m.visit(t.Context(), o, models.Outcome{})
		require.NoError(t, err)
		require.Len(t, b.files(o), 1)
	}
	b.idle()
}

func TestABatchWhoseOutcomeIsLostIsDoneOrIssuedAgain(t *testing.T) {
	b := newBench(t)
	m := b.manage("m1", gitrepo.Wanted{})
	for _, forgets := range []bool{false, true} {
		b.forget = forgets
		content := fmt.Sprint("forgets ", forgets, "\n")
		if !forgets {
			b.worker("w1", nil)
		}
		o := b.origin(models.Git, b.repo(map[string]string{"a": content}))
		stolen := make(chan error, 1)
		waiting := make(chan struct{})
		go func() {
			close(waiting)
			_, err := batch.Client{Repo: b.admin}.Take(t.Context(), o.ID)
			stolen <- err
		}()
		<-waiting
		_, err := m.visit(t.Context(), o, models.Outcome{})
		require.NoError(t, err)
		require.Len(t, b.files(o), 1)
		select {
		case err := <-stolen:
			require.NoError(t, err)
		default:
			require.NoError(t, batch.Client{Repo: b.admin}.Put(t.Context(), models.Indexed{Repository: o.ID, Batch: "none"}))
			require.NoError(t, <-stolen)
		}
	}
	b.idle()
}

func TestFilesAreServedToTheHolderOfTheLeaseOnly(t *testing.T) {
	b := newBench(t)
	m := b.manage("m1", gitrepo.Wanted{})
	o := b.origin(models.Git, b.repo(map[string]string{"a": "secret\n"}))
	checked := false
	b.worker("w1", func(item task.Item, files []models.BatchFile) bool {
		var data models.IndexBatch
		require.NoError(t, json.Unmarshal(item.Data, &data))
		for _, forged := range []task.Item{{}, {Lease: item.Lease, Token: item.Token + 1}, {Lease: "l999", Token: item.Token}, {Lease: item.Lease + " x", Token: item.Token}} {
			code, text := b.request(b.Context(), "POST", data, forged, `["`+files[0].OID+`"]`)
			require.NotEqual(t, 200, code)
			require.NotContains(t, text, "secret")
		}
		other := data
		other.Batch = "another"
		code, _ := b.request(b.Context(), "GET", other, item, "")
		require.Equal(t, 404, code)
		code, _ = b.request(b.Context(), "POST", data, item, `["`+strings.Repeat("1", 40)+`"]`)
		require.Equal(t, 400, code, "a file of another batch")
		code, _ = b.request(b.Context(), "POST", data, item, `nonsense`)
		require.Equal(t, 400, code)
		checked = true
		return false
	})
	_, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.True(t, checked)
}

func TestEveryFileHasAnOutcome(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	dir := b.repo(map[string]string{"text": "text\n", "binary": "\x00\n", "large": strings.Repeat("x", code.MaxBlobBytes+1), "-rf": "dash\n", "a\nb": "line feed\n"})
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	b.commit(dir, nil)
	o := b.origin(models.Git, dir)
	_, err := b.manage("m1", gitrepo.Wanted{}).visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"text": "text", "-rf": "dash", "a\nb": "line feed"}, b.files(o))
	q, err := code.Parse("anything")
	require.NoError(t, err)
	stats, err := b.naive.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
	require.NoError(t, err)
	require.Equal(t, map[string]int{code.SkipBinary: 1, code.SkipTooLarge: 1, skipLink: 1}, stats.Skipped)
}

func TestLargeFilesAndALineOf50MBAreSkippedWithoutBeingSent(t *testing.T) {
	b := newBench(t)
	sent := int64(0)
	b.worker("w1", func(_ task.Item, files []models.BatchFile) bool {
		for _, f := range files {
			if f.Skip == "" {
				sent += f.Size
			}
		}
		return false
	})
	m := b.manage("m1", gitrepo.Wanted{})
	dir := b.repo(map[string]string{"text": "text\n", "line": strings.Repeat("word ", 10<<20) + "end\n"})
	for _, kind := range []models.OriginKind{models.Git, models.Folder} {
		o := b.origin(kind, dir)
		if kind == models.Folder { // TestALargeFileIsNotReadIntoMemory has one in a repository
			file := filepath.Join(dir, "sparse")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			require.NoError(t, os.Truncate(file, 200<<20))
		}
		_, err := m.visit(t.Context(), o, models.Outcome{})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"text": "text"}, b.files(o))
	}
	require.EqualValues(t, len("text\n"), sent)
	q, err := code.Parse("anything")
	require.NoError(t, err)
	stats, err := b.naive.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
	require.NoError(t, err)
	require.Equal(t, map[string]int{code.SkipTooLarge: 3}, stats.Skipped)
}

func TestARepositoryWithSHA256IsIndexed(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	dir := t.TempDir()
	b.git(dir, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
	b.commit(dir, map[string]string{"a": "text\n", "-rf": "dash\n"})
	o := b.origin(models.Git, dir)
	m := b.manage("m1", gitrepo.Wanted{})
	first, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "text", "-rf": "dash"}, b.files(o))
	require.Len(t, b.put[0], 64)
	again, err := m.visit(t.Context(), o, first)
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, again.Status)
}

func TestAFolderWithoutARepositoryIsIndexed(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	m := b.manage("m1", gitrepo.Wanted{})
	dir := t.TempDir()
	for name, content := range map[string]string{"a.go": "package a\n", "sub/b.go": "package b\n", ".git/config": "hidden\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "etc")))
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	o := b.origin(models.Folder, dir)
	first, err := m.visit(t.Context(), o, models.Outcome{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.go": "package a", "sub/b.go": "package b"}, b.files(o))
	again, err := m.visit(t.Context(), o, first)
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, again.Status)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package aa\n"), 0o600))
	_, err = m.visit(t.Context(), o, again)
	require.NoError(t, err)
	require.Equal(t, "package aa", b.files(o)["a.go"])
	require.EqualValues(t, 2, b.issued())
}

func TestAVisitFailsIfWorkersCannotReachTheManager(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	m := b.manage("m1", gitrepo.Wanted{})
	m.Content.url = "http://127.0.0.1:1"
	o := b.origin(models.Git, b.repo(map[string]string{"a": "text\n"}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := m.visit(ctx, o, models.Outcome{})
	require.ErrorContains(t, err, "set advertise")
	b.idle()
}

func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	var entries []entry
	for i := range 4500 {
		entries = append(entries, entry{oid: code.OIDOf([]byte(fmt.Sprint(i))), size: int64(i)})
	}
	entries = append(entries, entry{oid: "x", size: batchBytes}, entry{oid: "y", size: 1 << 30, skip: "too large"})
	plans := splitBatches(models.Origin{ID: "o"}, entries)
	ids := map[string]bool{}
	n := 0
	for _, p := range plans {
		require.LessOrEqual(t, p.bytes, int64(batchBytes))
		require.LessOrEqual(t, len(p.entries), batchFiles)
		ids[p.id] = true
		n += len(p.entries)
	}
	require.Len(t, ids, len(plans))
	require.Equal(t, len(entries), n)
	require.Equal(t, plans[0].id, splitBatches(models.Origin{ID: "o"}, entries)[0].id)
	require.NotEqual(t, plans[0].id, splitBatches(models.Origin{ID: "p"}, entries)[0].id)
}

func TestRepositoryNames(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://github.com/a/b.git": "github.com/a/b", "https://bob:secret@example.org/x/": "example.org/x", "ssh://git@example.org:22/a.git": "example.org:22/a", "/srv/code": "/srv/code",
	} {
		require.Equal(t, want, repositoryName(uri))
	}
}

func TestTagsAreIndexedBesideBranchesMovedOnesFollowedAndDeletedOnesNotSearched(t *testing.T) {
	b := newBench(t)
	b.worker("w1", nil)
	dir := b.repo(map[string]string{"same": "same\n", "a": "one\n"})
	b.git(dir, "tag", "-a", "-m", "annotated", "v1")
	b.commit(dir, map[string]string{"a": "two\n"})
	b.git(dir, "tag", "v2")
	b.commit(dir, map[string]string{"a": "three\n"})
	o := b.origin(models.Git, dir)
	m := b.manage("m1", gitrepo.Wanted{Branches: []string{"HEAD"}, Tags: []string{"v2"}})
	var outcome models.Outcome
	visit := func(tags ...string) models.Status {
		o.Tags = tags
		_, err := b.store.AddOrigin(t.Context(), o)
		require.NoError(t, err)
		outcome, err = m.visit(t.Context(), o, outcome)
		require.NoError(t, err)
		return outcome.Status
	}
	visit()
	require.Equal(t, []string{"main a@main", "main,tag/v2 same", "tag/v2 a@tag/v2"}, b.matches(o, "/^./"), "the manager's setting")
	require.Equal(t, models.Eventful, visit("v*", "absent"), "the refs are the same, the tags are others")
	require.Equal(t, []string{"tag/v1 a@tag/v1"}, b.matches(o, "one branch:tag/v1"))
	require.Empty(t, b.matches(o, "one branch:main"))
	problems, err := b.store.Problems(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "tag/absent", problems[0].Item)
	require.Contains(t, problems[0].Reason, "no tag has this name")
	require.Equal(t, models.Uneventful, visit("v*", "absent"))

	b.git(dir, "tag", "-f", "v1", "v2")
	b.git(dir, "tag", "-d", "v2")
	require.Equal(t, models.Eventful, visit("v*"))
	require.Equal(t, []string{"tag/v1 a@tag/v1"}, b.matches(o, "two"), "a moved tag is followed")
	require.Empty(t, b.matches(o, "one"))
	require.Empty(t, b.matches(o, "branch:v2"), "a deleted tag is not searched")
}
