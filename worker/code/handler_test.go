package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
	"leasehold/shared/code/codetest"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job is a worker.Job that remembers its result.
type job struct {
	task   models.Task
	part   string
	result *models.Indexed
	costs  []models.Cost
}

func (j *job) Task() models.Task                         { return j.task }
func (j *job) Lease() (string, int64)                    { return "l7", 7 }
func (j *job) PassOn(_ context.Context, err error) error { return err }
func (j *job) Draining() <-chan struct{}                 { return nil }
func (j *job) Log(string)                                {}
func (j *job) Parents() []task.ParentResult              { return nil }
func (j *job) ReadParents(context.Context) iter.Seq2[task.ParentResult, error] {
	return func(func(task.ParentResult, error) bool) {}
}
func (j *job) Note(context.Context, models.Progress) error           { return nil }
func (j *job) Spend(_ context.Context, c models.Cost) error          { j.costs = append(j.costs, c); return nil }
func (j *job) Report(_ context.Context, part string, body any) error { return errors.New("unexpected") }
func (j *job) Resolve(_ context.Context, part string, body any) error {
	r := body.(models.Indexed)
	j.part, j.result = part, &r
	return nil
}

// index is the naive index, which counts.
type index struct {
	*codetest.Naive
	puts int
	fail error
}

func (x *index) Put(ctx context.Context, batch string, blobs []code.Blob) (string, error) {
	x.puts++
	return fmt.Sprint("hash", x.puts), errors.Join(x.fail, x.PutBlobs(ctx, batch, blobs))
}

// serve is a manager that serves files with the answers that a test gives.
func serve(t *testing.T, files []models.BatchFile, contents func(oids []string) string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/batches/b1" || r.Header.Get("Authorization") != "Lease l7 7" {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodGet {
			_ = json.NewEncoder(w).Encode(files)
			return
		}
		var oids []string
		if err := json.NewDecoder(r.Body).Decode(&oids); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, contents(oids))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// handle runs one task.
func handle(t *testing.T, x *index, url string) (*job, error) {
	t.Helper()
	data, err := json.Marshal(models.IndexBatch{Repository: "r", Batch: "b1", Content: url})
	require.NoError(t, err)
	a := analyse.New("")
	h := New(x, a, nil, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { require.NoError(t, errors.Join(h.Close(), a.Close())) })
	j := &job{task: models.Task{ID: "t", Action: models.ActionIndex, Data: data}}
	return j, h.Handle(t.Context(), j)
}

// file is a file with content, and the answer that has it.
func file(path, content string) (models.BatchFile, string) {
	oid := string(code.OIDOf([]byte(content)))
	return models.BatchFile{OID: oid, Path: path, Size: int64(len(content))}, fmt.Sprintf("%s %d\n%s", oid, len(content), content)
}

func TestABatchIsReadAnalysedAndPut(t *testing.T) {
	t.Parallel()
	known, codeAnswer := file("a.go", "package a\n\nfunc F() { f() }\n")
	empty, emptyAnswer := file("empty", "")
	bad, _ := file("bad", "bad")
	link, _ := file("link", "target")
	link.Skip = "symbolic link"
	x := &index{Naive: codetest.NewNaive()}
	url := serve(t, []models.BatchFile{known, empty, bad, link}, func(oids []string) string {
		require.Equal(t, []string{known.OID, empty.OID, bad.OID}, oids)
		return codeAnswer + emptyAnswer + bad.OID + " - it is missing\nend\n"
	})
	j, err := handle(t, x, url)
	require.NoError(t, err)
	require.Equal(t, "b1", j.part)
	require.Equal(t, models.Indexed{Repository: "r", Batch: "b1", Segment: "hash1", Files: 3, Skipped: 1,
		Unreadable: []models.Unreadable{{OID: bad.OID, Reason: "it is missing"}}}, *j.result)
	require.Equal(t, models.IndexNew, j.costs[0].How)
	missing, err := x.Missing(t.Context(), []code.OID{code.OID(known.OID), code.OID(bad.OID), code.OID(link.OID)})
	require.NoError(t, err)
	require.Equal(t, []code.OID{code.OID(bad.OID)}, missing)
}

func TestWhatIsIndexedIsNotReadAgain(t *testing.T) {
	t.Parallel()
	known, answer := file("a.go", "package a\n")
	x := &index{Naive: codetest.NewNaive()}
	reads := 0
	url := serve(t, []models.BatchFile{known}, func([]string) string { reads++; return answer + "end\n" })
	for range 2 {
		_, err := handle(t, x, url)
		require.NoError(t, err)
	}
	j, err := handle(t, x, url)
	require.NoError(t, err)
	require.Equal(t, models.Indexed{Repository: "r", Batch: "b1"}, *j.result)
	require.Equal(t, models.IndexKnown, j.costs[0].How)
	require.Equal(t, 1, reads)
	require.Equal(t, 1, x.puts)
}

func TestAManagerThatCannotServeEndsTheTaskWithThatReason(t *testing.T) {
	t.Parallel()
	known, answer := file("a.go", "package a\n")
	files := []models.BatchFile{known}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, url := range map[string]string{
		"refused":     gone.URL,
		"404":         serve(t, files, nil) + "/elsewhere",
		"no end":      serve(t, files, func([]string) string { return answer }),
		"cut off":     serve(t, files, func([]string) string { return answer[:len(answer)-3] }),
		"nothing":     serve(t, files, func([]string) string { return "" }),
		"other file":  serve(t, files, func([]string) string { return strings.Repeat("1", 40) + " 1\nx" }),
		"size":        serve(t, files, func([]string) string { return known.OID + " 99999999999\nx" }),
		"long line":   serve(t, files, func([]string) string { return strings.Repeat("x", 1<<20) }),
		"no size":     serve(t, files, func([]string) string { return known.OID + "\n" }),
		"minus sizes": serve(t, files, func([]string) string { return known.OID + " -5\n" }),
	} {
		x := &index{Naive: codetest.NewNaive()}
		j, err := handle(t, x, url)
		require.NoError(t, err, name)
		require.NotEmpty(t, j.result.Unreachable, name)
		require.Zero(t, x.puts, name)
	}
}

func TestContentWithAnotherHashIsNotIndexed(t *testing.T) {
	t.Parallel()
	known, _ := file("a.go", "package a\n")
	x := &index{Naive: codetest.NewNaive()}
	j, err := handle(t, x, serve(t, []models.BatchFile{known}, func([]string) string { return known.OID + " 4\nevilend\n" }))
	require.NoError(t, err)
	require.Contains(t, j.result.Unreadable[0].Reason, "another hash")
	require.Zero(t, x.puts)
}

func TestFault53ATaskWhoseIndexIsAwayWaitsAndDoesNotCount(t *testing.T) {
	t.Parallel()
	known, answer := file("a.go", "package a\n")
	url := serve(t, []models.BatchFile{known}, func([]string) string { return answer + "end\n" })
	for _, kind := range []error{fault.ErrUnavailable, fault.ErrOverloaded} {
		_, err := handle(t, &index{Naive: codetest.NewNaive(), fail: kind}, url)
		failure := &worker.Failure{}
		require.ErrorAs(t, err, &failure)
		require.Equal(t, indexPause, failure.Later)
		require.ErrorIs(t, err, kind)
	}
	_, err := handle(t, &index{Naive: codetest.NewNaive(), fail: fault.ErrCorrupt}, url)
	require.NotErrorAs(t, err, new(*worker.Failure))
}

func TestADiskThatFailsIsAFaultOfTheMachine(t *testing.T) {
	t.Parallel()
	known, answer := file("a.go", "package a\n")
	url := serve(t, []models.BatchFile{known}, func([]string) string { return answer + "end\n" })
	_, err := handle(t, &index{Naive: codetest.NewNaive(), fail: &fs.PathError{Op: "open", Path: "/segments", Err: fs.ErrNotExist}}, url)
	failure := &worker.Failure{}
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.Unable)
}

func TestOtherFaultsReleaseTheTask(t *testing.T) {
	t.Parallel()
	known, answer := file("a.go", "package a\n")
	full := &index{Naive: codetest.NewNaive(), fail: fault.ErrOverloaded}
	j, err := handle(t, full, serve(t, []models.BatchFile{known}, func([]string) string { return answer + "end\n" }))
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.Nil(t, j.result)
	for _, url := range []string{"", "ftp://x/", "file:///etc/passwd", "http://"} {
		_, err := handle(t, full, url)
		require.ErrorIs(t, err, fault.ErrInvalid, url)
	}
	_, err = handle(t, full, serve(t, []models.BatchFile{{OID: "../x"}}, nil))
	require.ErrorIs(t, err, fault.ErrInvalid)
}
