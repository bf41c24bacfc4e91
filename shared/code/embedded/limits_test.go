package embedded_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
	"leasehold/shared/fault"
)

// TestABadQueryEndsAtItsLimits runs queries that are slow or large for other engines.
func TestABadQueryEndsAtItsLimits(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	lines := strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa x\n", 2000)
	require.NoError(t, put(x, "r", lines, strings.Repeat("a", 1<<17)+"\n", strings.Repeat("\n", 1<<13), "needle\n"))
	var words []string
	for i := range 700 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	for query, want := range map[string]int{
		`/.*/`:                                 2000 + 1 + 1<<13 + 1,
		`/(a*)*b/`:                             0,
		`/(a|a)*b$/`:                           0,
		`/(?s).*b/`:                            0,
		`/^(a?){50}a{50}x/`:                    0,
		"/(" + strings.Join(words, "|") + ")/": 0,
		strings.Join(words, " or ") + " or needle": 1,
		`/x/ file:f0 -/(a{900}|b)/`:                2000,
	} {
		q, err := code.Parse(query)
		require.NoError(t, err, "%.50s", query)
		n := 0
		stats, err := x.Search(t.Context(), q, code.Options{Timeout: time.Hour, MaxBytes: 128 << 20}, func(code.Match) bool { n++; return true })
		require.NoError(t, err, "%.50s", query)
		require.Empty(t, stats.Stopped, "%.50s", query)
		require.Equal(t, want, n, "%.50s", query)
	}
}

// TestTheLongestQueriesTakeLittleMemory searches for queries of the maximum size. One of 10 KB
// is refused before it is read.
func TestTheLongestQueriesTakeLittleMemory(t *testing.T) {
	x := open(t, embedded.Options{}) // not parallel, because it counts allocations
	require.NoError(t, put(x, "r", strings.Repeat("some text of a file\n", 1000)))
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	fill := func(part, between string, size int) string {
		return strings.Repeat(part+between, (size-len(part))/len(part+between)) + part
	}
	for name, query := range map[string]string{
		"one word":       strings.Repeat("a", code.MaxQueryBytes),
		"words":          fill("ab", " or ", 1024*6-4),
		"an alternation": "/" + fill("abc", "|", code.MaxQueryBytes-2) + "/",
		"classes":        "/" + fill("[a-z]", "", code.MaxQueryBytes-2) + "/",
		"optional parts": "/" + fill("(a*)", "", code.MaxQueryBytes-3) + "b/",
		"folded":         "case:no " + fill("ſk", "", code.MaxQueryBytes-8),
	} {
		require.LessOrEqual(t, len(query), code.MaxQueryBytes, name)
		bytes := allocated(func() {
			q, err := code.Parse(query)
			if err != nil {
				require.ErrorIs(t, err, fault.ErrInvalid, name)
				return
			}
			_, err = x.Search(t.Context(), q, code.Options{Timeout: time.Hour}, func(code.Match) bool { return true })
			require.NoError(t, err, name)
		})
		require.Less(t, bytes, uint64(code.DefaultMaxBytes), name)
	}
	refused := strings.Repeat("a", 10<<10)
	require.Less(t, allocated(func() {
		_, err := code.Parse(refused)
		require.ErrorIs(t, err, fault.ErrInvalid)
	}), uint64(64<<10))
}

func TestASearchPastItsMemoryStopsAndTells(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	require.NoError(t, put(x, "r", "needle\n", strings.Repeat("a\n", 1<<16)))
	q, err := code.Parse("/./")
	require.NoError(t, err)
	n := 0
	stats, err := x.Search(t.Context(), q, code.Options{MaxBytes: 1 << 20}, func(code.Match) bool { n++; return true })
	require.NoError(t, err)
	require.Equal(t, code.StoppedMemory, stats.Stopped)
	require.Equal(t, 1, n, "the matches found before are delivered")
}

func TestASearchPastItsTimeDeliversItsBestMatches(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	require.NoError(t, put(x, "r", strings.Repeat("needle\n", 100)))
	q, err := code.Parse("needle")
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		n := 0
		stats, err := x.Search(t.Context(), q, code.Options{Timeout: time.Second}, func(code.Match) bool {
			if n++; n == 10 {
				time.Sleep(2 * time.Second)
			}
			return true
		})
		require.NoError(t, err)
		require.Equal(t, code.StoppedTime, stats.Stopped)
		require.Equal(t, code.RankedMatches+1, n)
	})
}

// TestALongLineAndALargeFile index one line as long as a blob may be, one of 50 MB and a file of
// 200 MB.
func TestALongLineAndALargeFile(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	longest := strings.Repeat("x", code.MaxBlobBytes-len("needle")) + "needle"
	line := strings.Repeat("needle ", 50<<20/7)
	large := code.Blob{OID: code.OIDOf([]byte("200 MB")), BlobInfo: code.BlobInfo{Size: 200 << 20, Skipped: code.SkipTooLarge}} // it is not read
	require.NoError(t, x.PutBlobs(t.Context(), "large", []code.Blob{large}))
	require.NoError(t, put(x, "r", longest, line))
	require.NoError(t, x.Publish(t.Context(), code.Manifest{RepoID: "l", Repo: "l", Refs: []code.Ref{{Name: "main"}}, Files: []code.File{{Ref: "main", Path: "large", OID: large.OID}}}))
	q, err := code.Parse("needle")
	require.NoError(t, err)
	var matches []code.Match
	stats, err := x.Search(t.Context(), q, code.Options{}, func(m code.Match) bool { matches = append(matches, m); return true })
	require.NoError(t, err)
	require.Len(t, matches, 1)
	require.Equal(t, len(longest)-len("needle"), matches[0].Column+matches[0].Ranges[0].Start)
	require.Equal(t, map[string]int{code.SkipTooLarge: 2}, stats.Skipped)
}

// TestRandomRegexpsFindTheLinesThatTheyMatch compares the index with a loop over all lines.
func TestRandomRegexpsFindTheLinesThatTheyMatch(t *testing.T) {
	t.Parallel()
	c := generated(t, t.TempDir(), 10, 3) // few files, because 100 expressions are run on each line twice
	x := open(t, embedded.Options{})
	c.indexed(t, x)
	rapid.Check(t, func(r *rapid.T) {
		atom := rapid.SampledFrom([]string{"a", "err", "Err", "[a-f]", "[0-9]{2}", `\w+`, ".", "é", "ï", `\s`, "(Closed|context)", "(?i:conn)", "x{3}", `\(`, "[^ ]", "(fmt)?", "$", "^", `\b`, "K"})
		expression := strings.Join(rapid.SliceOfN(atom, 1, 5).Draw(r, "atoms"), "")
		q, err := code.Parse("/" + expression + "/ " + rapid.SampledFrom([]string{"", "case:no"}).Draw(r, "case"))
		require.NoError(r, err)
		re, err := q.Root.(code.Content).Pattern.Compile(q.Folds())
		require.NoError(r, err)
		want := 0
		content := map[code.OID][]byte{}
		for _, b := range c.blobs {
			content[b.OID] = b.Content
		}
		for _, f := range c.manifest.Files {
			text := string(content[f.OID])
			if code.SkipReason(content[f.OID]) != "" {
				continue
			}
			for line := range strings.Lines(text) {
				if re.MatchString(strings.TrimSuffix(line, "\n")) {
					want++
				}
			}
		}
		got := 0
		stats, err := x.Search(context.Background(), q, code.Options{Timeout: time.Hour}, func(code.Match) bool { got++; return true })
		require.NoError(r, err)
		require.Empty(r, stats.Stopped)
		require.Equal(r, want, got, "%s", q.Text)
	})
}
