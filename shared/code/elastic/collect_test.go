package elastic_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/code/segment"
)

func TestOldGenerationsAndUnnamedBlobsAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		x := open(t, server, elastic.Config{Views: true})
		require.NoError(t, put(x, "a", "needle kept", "needle dropped"))
		require.NoError(t, put(x, "b", "needle of b"))
		require.NoError(t, put(x, "a", "needle kept"))
		require.NoError(t, x.DropRepo(t.Context(), "b"))
		// A publication that failed leaves documents too.
		server.FailItem = func(_, index, _ string) (int, string) {
			if index == "leasehold-published" {
				return http.StatusBadRequest, "a test"
			}
			return 0, ""
		}
		require.Error(t, put(x, "c", "needle of c"))
		server.FailItem = nil
		require.NoError(t, elastic.Refresh(t.Context(), x))
		require.Equal(t, []string{"a:needle kept"}, found(t, x))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); x.Run(ctx, slog.New(slog.DiscardHandler)) }()
		count := func() (counts []int) {
			for _, index := range []string{"leasehold-files", "leasehold-generations", "leasehold-published", "leasehold-lines", "leasehold-reports", "leasehold-blobs"} {
				counts = append(counts, len(server.Documents(index)))
			}
			return counts
		}
		require.Equal(t, []int{5, 4, 5, 5, 4, 4}, count())
		time.Sleep(elastic.Grace - time.Minute)
		require.Len(t, server.Documents("leasehold-files"), 5, "searches may still read them")
		time.Sleep(3 * time.Minute)
		require.NoError(t, elastic.Refresh(t.Context(), x))
		require.Equal(t, []int{1, 0, 3, 1, 1, 4}, count())
		require.Equal(t, []string{"a:needle kept"}, found(t, x))
		time.Sleep(26 * time.Hour)
		require.NoError(t, elastic.Refresh(t.Context(), x))
		require.Equal(t, []int{1, 0, 3, 1, 1, 1}, count())
		require.Equal(t, []string{"a:needle kept"}, found(t, x))
		require.NoError(t, put(x, "a", "needle kept", "needle dropped"), "what was removed is put again")
		require.Len(t, found(t, x), 2)
		stop()
		<-done
	})
}

func TestAnEqualGenerationIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, put(x, "a", "needle 1", "needle 2"))
	server.Requests()
	require.NoError(t, put(x, "a", "needle 1", "needle 2"))
	for _, request := range server.Requests() {
		require.NotContains(t, request, "_bulk")
	}
}

func TestASegmentOfAWorkerIsWritten(t *testing.T) {
	t.Parallel()
	x := open(t, elastictest.New(), elastic.Config{})
	all, m := blobsOf("a", "func needle() {}\n", "caf\xe9 needle\n", "skipped")
	all[0].Symbols = []code.Symbol{{Name: "needle", Kind: "func", Line: 1, End: 1}}
	all[2] = code.Blob{OID: all[2].OID, BlobInfo: code.BlobInfo{Skipped: "a link"}}
	path, err := segment.Write(t.Context(), t.TempDir(), all, segment.Options{})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, x.PutSegment(t.Context(), "b", path))
	}
	require.NoError(t, x.Publish(t.Context(), m))
	require.Equal(t, []string{"a:caf\xe9 needle", "a:func needle() {}"}, found(t, x))
	q, err := code.Parse("sym:needle")
	require.NoError(t, err)
	stats, err := x.Search(t.Context(), q, code.Options{}, func(m code.Match) bool { return m.Symbol.Name == "needle" })
	require.NoError(t, err)
	require.Equal(t, 1, stats.Matches)
	require.Equal(t, map[string]int{"a link": 1}, stats.Skipped)
	require.ErrorContains(t, x.PutSegment(t.Context(), "b9", path+"x"), "b9")
}

// TestManyFilesAreReadInPages has more blobs, places and definitions than one page.
func TestManyFilesAreReadInPages(t *testing.T) {
	t.Parallel()
	x := open(t, elastictest.New(), elastic.Config{})
	var texts []string
	for i := range 1100 {
		texts = append(texts, fmt.Sprintf("needle %d\n", i))
	}
	require.NoError(t, put(x, "a", texts...))
	require.NoError(t, put(x, "b", texts[:510]...))
	all, m := blobsOf("c", "func needle() {}\n")
	for i := range 510 { // one blob in more places than one page
		m.Files = append(m.Files, code.File{Ref: "main", Path: fmt.Sprint("copy", i), OID: all[0].OID})
	}
	all[0].Symbols = []code.Symbol{{Name: "needle", Line: 1, End: 1}}
	require.NoError(t, x.PutBlobs(t.Context(), "c", all))
	require.NoError(t, x.Publish(t.Context(), m))
	lines := found(t, x)
	require.Len(t, lines, 1100+510+511)
	q, err := code.Parse("needle")
	require.NoError(t, err)
	var order []string
	search := func() (all []string) {
		_, err := x.Search(t.Context(), q, code.Options{Timeout: time.Hour}, func(m code.Match) bool {
			all = append(all, m.Repo+":"+m.Path)
			return true
		})
		require.NoError(t, err)
		return all
	}
	order = search()
	require.True(t, strings.HasPrefix(order[0], "c:"), "definitions come first")
	require.Equal(t, order, search(), "the order is the same in each search")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(order))), len(order))
	listed := 0
	require.NoError(t, x.Files(t.Context(), func(string, string) bool { return true }, func(code.FileInfo, func() []code.FunctionReport) bool { listed++; return true }))
	require.Equal(t, len(order), listed)
}

// TestQueriesOfAnySizeAreAccepted has queries with more literals than a server accepts clauses.
func TestQueriesOfAnySizeAreAccepted(t *testing.T) {
	t.Parallel()
	x := open(t, elastictest.New(), elastic.Config{})
	require.NoError(t, put(x, "a", "needle7", strings.Repeat("z", 9000)+"\n"))
	words := make([]string, 600)
	for i := range words {
		words[i] = fmt.Sprintf("needle%d", i)
	}
	for text, want := range map[string]int{
		"/" + strings.Join(words, "|") + "/": 1,
		strings.Join(words, " or "):          1,
		strings.Repeat("z", 8000):            1,
		"/[0-9a-f]{3}/ or /needle[0-9]/":     1,
		strings.Repeat("(absent or (needle7 ", 12) + "needle7" + strings.Repeat("))", 12):   1,
		strings.Repeat("-(absent or -(needle7 ", 12) + "needle7" + strings.Repeat("))", 12): 1,
		"(absent or /[a-z]+/) -file:f1 -lang:go":                                            1,
		"/.*/ vendor:no -(lang:go or lang:python)":                                          2,
	} {
		q, err := code.Parse(text)
		require.NoError(t, err)
		stats, err := x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
		require.NoError(t, err, "%.50s", text)
		require.Equal(t, want, stats.Matches, "%.50s", text)
	}
}
