package codetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/code"
)

// Compare does random things to an index and to a Naive one, and fails if a search finds
// different matches. Between, which may be nil, is called after each change: it may do
// anything that must not change what searches find, such as merging.
func Compare(t *testing.T, open func(t *testing.T) code.Searcher, between func(*rapid.T, code.Searcher)) {
	rapid.Check(t, func(r *rapid.T) {
		index, naive := open(t), NewNaive()
		for range rapid.IntRange(1, 6).Draw(r, "changes") {
			change(r, index, naive)
			if between != nil {
				between(r, index)
			}
		}
		for range rapid.IntRange(1, 8).Draw(r, "searches") {
			query := drawQuery(r)
			o := code.Options{Timeout: time.Hour, Context: rapid.IntRange(0, 2).Draw(r, "context")}
			want, wantStats := sorted(r, naive, query, o)
			got, stats := sorted(r, index, query, o)
			require.Equal(r, want, got, "query %s", query)
			require.Equal(r, wantStats, stats, "query %s", query)
		}
	})
}

// change puts drawn blobs and publishes them as the files of a repository, or drops the
// repository, in all of the indexes. Each index gets only the blobs that it reports as missing,
// as a manager does it.
func change(r *rapid.T, indexes ...code.Searcher) {
	id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "repository")
	if rapid.IntRange(0, 4).Draw(r, "change") == 0 {
		for _, x := range indexes {
			require.NoError(r, x.DropRepo(context.Background(), id))
		}
		return
	}
	m := code.Manifest{RepoID: id, Repo: "host/" + id, Refs: []code.Ref{{Name: "main", Commit: "1", Time: day}, {Name: "dev", Commit: "2"}}}
	var blobs []code.Blob
	seen := map[string]bool{}
	for range rapid.IntRange(0, 6).Draw(r, "files") {
		b := drawBlob(r)
		f := code.File{Ref: rapid.SampledFrom([]string{"main", "dev"}).Draw(r, "ref"), Path: rapid.StringMatching(`[ab](/needle)?\.(go|txt)`).Draw(r, "path"), OID: b.OID}
		f.Vendored = strings.HasPrefix(f.Path, "b")
		blobs = append(blobs, b)
		if !seen[f.Ref+f.Path] {
			m.Files = append(m.Files, f)
		}
		seen[f.Ref+f.Path] = true
	}
	for _, x := range indexes {
		missing, err := x.Missing(context.Background(), m.OIDs())
		require.NoError(r, err)
		batch := slices.DeleteFunc(slices.Clone(blobs), func(b code.Blob) bool { return !slices.Contains(missing, b.OID) })
		require.NoError(r, x.PutBlobs(context.Background(), "batch", batch))
		require.NoError(r, x.Publish(context.Background(), m))
	}
}

var drawnWords = []string{"needle", "Needle", "needleBox", "stack", "naïve", "NAÏVE", "\u212aelvin", "kelvin", "func", "(", "\xff", "x", "  ", "é"}

// drawBlob returns a blob of a few lines; the same text has the same facts, because a
// blob is indexed once.
func drawBlob(r *rapid.T) code.Blob {
	var text strings.Builder
	for range rapid.IntRange(0, 5).Draw(r, "lines") {
		text.WriteString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(drawnWords), 0, 4).Draw(r, "line"), rapid.SampledFrom([]string{"", " "}).Draw(r, "join")))
		text.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\n\n", "\x00"}).Draw(r, "end"))
	}
	b := blob(strings.TrimSuffix(text.String(), "\n\n"), "Go")
	if len(b.Content)%3 == 0 {
		b.Lang = ""
	}
	b.Generated = len(b.Content)%5 == 0
	for i, line := range linesOf(b.Content) {
		if bytes.HasPrefix(line, []byte("needle")) {
			b.Symbols = append(b.Symbols, code.Symbol{Name: "needle", Kind: "func", Line: i + 1, End: i + 1})
		}
	}
	return b
}

// drawQuery returns a query of one to three terms: words, regular expressions at the limits of
// the language, filters, and groups of them.
func drawQuery(r *rapid.T) string {
	term := rapid.OneOf(
		rapid.SampledFrom([]string{"needle", "Needle", "eed", "stack", "naïve", "kelvin", "func", "é", "x", "ee", `"("`, `"dle "`, "a/n", "needle.go", "NEEDLE.GO", ".txt", "content:needle", `content:"go"`}),
		rapid.SampledFrom([]string{`/needle|stack/`, `/^needle/`, `/x$/`, `/n.*e\b/`, `/\w+Box/`, `/(?i)NAÏ/`, `/.*/`, `/^$/`, `/e\nn/`, `/(?s)needle.+stack/`, `/\s+/`, `/[^n]e/`, `/\x{fffd}/`, `/\n/`, `/(a*)*k/`, `/\n*$/`}),
		rapid.SampledFrom([]string{"repo:a", "repo:host", "-repo:b", `file:\.go$`, "file:needle", "lang:go", "-lang:go", "sym:needle", "sym:/NEEDLE$/", "branch:dev", "-branch:dev", "vendor:yes", "vendor:no"}),
	)
	query := drawGroup(r, term, 2)
	return query + rapid.SampledFrom([]string{"", " case:no", " case:auto"}).Draw(r, "case")
}

// drawGroup returns one to three terms with operators between them; some are groups of terms, at most
// depth one in the other.
func drawGroup(r *rapid.T, term *rapid.Generator[string], depth int) string {
	parts := make([]string, rapid.IntRange(1, 3).Draw(r, "terms"))
	for i := range parts {
		if depth > 0 && rapid.IntRange(0, 2).Draw(r, "group") == 0 {
			parts[i] = "(" + drawGroup(r, term, depth-1) + ")"
		} else {
			parts[i] = term.Draw(r, "term")
		}
	}
	return strings.Join(parts, rapid.SampledFrom([]string{" ", " or ", " -", " AND NOT ", " or NOT "}).Draw(r, "operator"))
}

// sorted returns all matches of a query by place, without their scores, and the stats that
// indexes agree in. It checks the order of the best ones.
func sorted(r *rapid.T, x code.Searcher, query string, o code.Options) ([]code.Match, code.Stats) {
	q, err := code.Parse(query)
	require.NoError(r, err)
	var all []code.Match
	stats, err := x.Search(context.Background(), q, o, func(m code.Match) bool {
		all = append(all, m)
		return true
	})
	require.NoError(r, err)
	best, rest := all[:min(len(all), code.RankedMatches)], all[min(len(all), code.RankedMatches):]
	for i, m := range best {
		require.True(r, i == 0 || m.Score <= best[i-1].Score, "match %d of query %s", i, query)
	}
	for _, m := range rest {
		require.LessOrEqual(r, m.Score, best[len(best)-1].Score, "query %s", query)
	}
	slices.SortFunc(all, func(a, b code.Match) int {
		return cmp.Or(strings.Compare(a.RepoID, b.RepoID), strings.Compare(a.Path, b.Path), cmp.Compare(a.OID, b.OID), cmp.Compare(a.Line, b.Line))
	})
	for i := range all {
		all[i].Before, all[i].After = slices.Clip(append([]string{}, all[i].Before...)), slices.Clip(append([]string{}, all[i].After...))
		all[i].Score = 0
		if i > 0 {
			require.NotEqual(r, fmt.Sprint(place(all[i-1]), all[i-1].OID), fmt.Sprint(place(all[i]), all[i].OID), "a match comes once")
		}
	}
	stats.Elapsed, stats.BytesScanned = 0, 0
	return all, stats
}
