package code

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is the spaces, the catalog and the index that managers and workers of a test use.
type bench struct {
	*testing.T
	engine *engine.Engine
	store  catalog.Catalog
	naive  *codetest.Naive
	admin  space.Repository

	mu      sync.Mutex // guards what follows
	asked   int        // calls of Missing
	put     []code.OID
	largest int  // bytes of the largest tuple of a task or a result
	forget  bool // the next batch is not put, although its worker reports it
}

func newBench(t *testing.T) *bench {
	t.Parallel()
	policy := work.Policy{
		Task:     task.Policy{MaxAttempts: 1, Backoff: 20 * time.Millisecond},
		LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute,
	}
	e, err := engine.Open(t.Context(), engine.Config{
		Journal:    &journal.Memory{},
		Procedures: space.Join(status.Procedures(), lease.Procedures(), policy.Task.Procedures(), policy.Procedures(), batch.Procedures()),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	b := &bench{T: t, engine: e, naive: codetest.NewNaive()}
	b.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.store.Close()) })
	b.admin, err = e.Session(t.Context(), "admin", 0)
	require.NoError(t, err)
	for _, d := range slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces(), batch.Spaces()) {
		require.NoError(t, b.admin.Create(t.Context(), d.Name, d.Options))
	}
	return b
}

// Missing, Put and Publish are the index, and count.
func (b *bench) Missing(ctx context.Context, ids []code.OID) ([]code.OID, error) {
	b.mu.Lock()
	b.asked++
	b.mu.Unlock()
	return b.naive.Missing(ctx, ids)
}

func (b *bench) Put(ctx context.Context, id string, blobs []code.Blob) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forget {
		b.forget = false
		return "hash", nil
	}
	for _, x := range blobs {
		b.put = append(b.put, x.OID)
	}
	return "hash", b.naive.PutBlobs(ctx, id, blobs)
}

func (b *bench) Complete(_ context.Context, id string) (bool, error) {
	return b.naive.Complete(id), nil
}

func (b *bench) Publish(ctx context.Context, m code.Manifest) error {
	return b.naive.Publish(ctx, m)
}

// origin adds an origin to the catalog.
func (b *bench) origin(kind models.OriginKind, uri string) models.Origin {
	o := models.Origin{ID: models.NewID(string(kind), uri), Kind: kind, URI: uri, AddedAt: time.Now().UTC()}
	_, err := b.store.AddOrigin(b.Context(), o)
	require.NoError(b, err)
	return o
}

// managed is a manager that runs.
type managed struct {
	*Flow
	stop func() // kills it: its session closes
}

// manage starts a manager with a data folder of its own.
func (b *bench) manage(name string, w gitrepo.Wanted) *managed {
	b.Helper()
	dir := b.TempDir()
	f, err := fetch.New(fetch.Config{Dir: filepath.Join(dir, "cache")})
	require.NoError(b, err)
	mirrors, err := gitrepo.Open(gitrepo.Config{Dir: filepath.Join(dir, "mirrors"), Schemes: []string{"http", "https"}, Resolve: f.Resolve})
	require.NoError(b, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	flow := NewFlow(Config{
		Catalog: b.store, Fetch: f, Index: b, Mirrors: mirrors, Content: NewContent("http://" + ln.Addr().String()), Wanted: w,
		Timeout: time.Minute, Look: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	session, err := b.engine.Session(b.Context(), name, 0)
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = flow.Run(ctx, session); _ = session.Close(context.Background()) })
	running.Go(func() { _ = flow.Content.Serve(ctx, ln) })
	stop := sync.OnceFunc(func() { cancel(); running.Wait(); _ = f.Close() })
	b.Cleanup(stop)
	return &managed{flow, stop}
}

// visit visits an origin as it was left by an earlier visit.
func (m *managed) visit(ctx context.Context, o models.Origin, known models.Outcome) (models.Outcome, error) {
	return m.Visit(ctx, models.Visit{ID: "v", Origin: o, Known: models.Known{Digest: known.Digest}})
}

// worker works on tasks of index until the test ends; do, if not nil, may handle a task in
// place of it.
func (b *bench) worker(name string, do func(item task.Item, list []models.BatchFile) (handled bool)) {
	repo, err := b.engine.Session(b.Context(), name, 0)
	require.NoError(b, err)
	require.NoError(b, status.NewHeartbeat(repo, time.Hour, map[string]int{models.ActionIndex: 1}).Beat(b.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if item, err := (task.Client{Repo: repo}).Claim(ctx, models.ActionIndex); err == nil {
				b.work(ctx, repo, item, do)
			}
		}
		_ = repo.Close(context.Background())
	})
	b.Cleanup(func() { cancel(); running.Wait() })
}

func (b *bench) work(ctx context.Context, repo space.Repository, item task.Item, do func(task.Item, []models.BatchFile) bool) {
	var data models.IndexBatch
	if err := json.Unmarshal(item.Data, &data); err != nil {
		b.Error(err)
		return
	}
	client := task.Client{Repo: repo}
	r := models.Indexed{Repository: data.Repository, Batch: data.Batch}
	status, text := b.request(ctx, "GET", data, item, "")
	if status != 200 {
		r.Unreachable = "no"
		_ = client.Report(ctx, item, data.Batch, true, r)
		return
	}
	var files []models.BatchFile
	if err := json.Unmarshal([]byte(text), &files); err != nil {
		b.Error(err)
	}
	if do != nil && do(item, files) {
		return
	}
	var blobs []code.Blob
	for _, f := range files {
		if f.Skip != "" {
			blobs = append(blobs, code.Blob{OID: code.OID(f.OID), BlobInfo: code.BlobInfo{Size: f.Size, Skipped: f.Skip}})
			continue
		}
		status, text := b.request(ctx, "POST", data, item, `["`+f.OID+`"]`)
		if status != 200 {
			_ = client.Report(ctx, item, data.Batch, true, models.Indexed{Unreachable: "gone"})
			return
		}
		head, content, _ := strings.Cut(text, "\n")
		words := strings.SplitN(head, " ", 3)
		if words[1] == "-" {
			r.Unreadable = append(r.Unreadable, models.Unreadable{OID: f.OID, Reason: words[2]})
			continue
		}
		content = strings.TrimSuffix(content, "end\n")
		if n, _ := strconv.Atoi(words[1]); n != len(content) {
			b.Errorf("%d bytes of %s, want %s", len(content), f.OID, words[1])
		}
		blobs = append(blobs, code.Blob{OID: code.OID(f.OID), Content: []byte(content), BlobInfo: code.BlobInfo{Size: f.Size, Lines: strings.Count(content, "\n")}})
	}
	segment, err := b.Put(ctx, data.Batch, blobs)
	if err != nil {
		b.Error(err)
	}
	r.Files, r.Segment = len(blobs), segment
	b.mu.Lock()
	result, _ := json.Marshal(r)
	b.largest = max(b.largest, len(item.Data), len(result))
	b.mu.Unlock()
	if err := client.Report(ctx, item, data.Batch, true, r); err != nil && ctx.Err() == nil {
		b.Error(err)
	}
}

// request asks a manager about a batch.
func (b *bench) request(ctx context.Context, method string, data models.IndexBatch, item task.Item, body string) (int, string) {
	r, err := http.NewRequestWithContext(ctx, method, data.Content+"/batches/"+data.Batch, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return 0, ""
	}
	r.Header.Set("Authorization", "Lease "+item.Lease+" "+strconv.FormatInt(item.Token, 10))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, ""
	}
	return answer.StatusCode, string(text)
}

// files returns the paths that searches find, with the texts of their first lines.
func (b *bench) files(o models.Origin) map[string]string {
	b.Helper()
	q, err := code.Parse("case:yes /^./")
	require.NoError(b, err)
	found := map[string]string{}
	_, err = b.naive.Search(b.Context(), q, code.Options{}, func(m code.Match) bool {
		if m.RepoID == o.ID && m.Line == 1 {
			found[m.Path] = m.Text
		}
		return true
	})
	require.NoError(b, err)
	return found
}

// matches returns the branches and paths of matches, and the branch that results show.
func (b *bench) matches(o models.Origin, query string) (found []string) {
	b.Helper()
	q, err := code.Parse(query)
	require.NoError(b, err)
	_, err = b.naive.Search(b.Context(), q, code.Options{}, func(m code.Match) bool {
		if m.RepoID == o.ID {
			place := strings.Join(m.Refs, ",") + " " + m.Path
			if m.Branch != "" {
				place += "@" + m.Branch
			}
			found = append(found, place)
		}
		return true
	})
	require.NoError(b, err)
	slices.Sort(found)
	return found
}

// idle requires that no task, result, lease or outcome is left.
func (b *bench) idle() {
	b.Helper()
	for _, x := range []string{task.Space, task.Result, batch.Space} {
		n, err := b.admin.Space(x).Count(b.Context(), nil)
		require.NoError(b, err)
		require.Zero(b, n, x)
	}
	n, err := b.admin.Space(lease.Space).Count(b.Context(), lease.Any())
	require.NoError(b, err)
	require.Zero(b, n, "leases")
}

// issued returns how many work-items were issued.
func (b *bench) issued() int64 {
	totals, err := lease.Totals(b.Context(), b.admin)
	require.NoError(b, err)
	return totals[lease.Granted]
}

func (b *bench) putCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.put)
}

// repo is a repository made with the git command.
func (b *bench) repo(files map[string]string) string {
	dir := b.TempDir()
	b.git(dir, "init", "--quiet", "--initial-branch=main")
	b.commit(dir, files)
	return dir
}

func (b *bench) commit(dir string, files map[string]string) {
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b, os.WriteFile(path, []byte(content), 0o644))
	}
	b.git(dir, "add", "--all", ".")
	b.git(dir, "commit", "--quiet", "--allow-empty", "-m", "x")
}

func (b *bench) git(dir string, args ...string) string {
	b.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := c.CombinedOutput()
	require.NoError(b, err, "%s", out)
	return strings.TrimSpace(string(out))
}
