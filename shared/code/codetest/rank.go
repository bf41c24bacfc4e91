package codetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
)

// rankedWords are words of the files of ranked, common ones first. Some are in others.
var rankedWords = []string{"err", "return", "x", "error", "Err", "re", "if", "errs", "urn", "func", "err)", "rare", "é"}

// rankedTerms are what the queries of ranked look for beside single words.
var rankedTerms = []string{"/err(or)?/", "/e.*r/", "/^func/", "sym:err", "sym:/^re/", `"if err"`, `"func err"`, "file:err", "lang:go", "vendor:no", "-rare", "repo:b", "branch:dev", "content:err", "path/err"}

// ranked compares the first matches of random queries for common words with a full ranking of all
// matches, by brute force.
func ranked(f fixture) {
	ctx, random, naive := context.Background(), rand.New(rand.NewPCG(28, 0)), NewNaive()
	for i, id := range []string{"zz", "b", "a"} {
		m, blobs := rankedRepo(random, id, time.Duration(i/2)*time.Hour)
		for _, x := range []code.Searcher{f, naive} {
			require.NoError(f, x.PutBlobs(ctx, "1", blobs))
			require.NoError(f, x.Publish(ctx, m))
		}
	}
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	for range 40 {
		query := pick(rankedWords)
		for range random.IntN(3) {
			query += pick([]string{" ", " or ", " -", " "}) + pick(append(rankedTerms, rankedWords...))
		}
		query += pick([]string{"", "", " case:no", " case:auto"})
		q, err := code.Parse(query)
		require.NoError(f, err, query)
		limit := []int{7, code.RankedMatches, 0}[random.IntN(3)]
		want, _ := firstRanked(f, naive, q, limit)
		got, stats := firstRanked(f, f, q, limit)
		require.Zero(f, stats.RankedOf, "all matches are ranked: query %s", query)
		require.Equal(f, want, got, "limit %d, query %s", limit, query)
	}
}

// firstRanked returns the places and scores of the ranked matches of a query, in their order.
func firstRanked(f fixture, x code.Searcher, q code.Query, limit int) (first []string, stats code.Stats) {
	stats, err := x.Search(context.Background(), q, code.Options{Limit: limit, Timeout: time.Hour}, func(m code.Match) bool {
		if len(first) < code.RankedMatches {
			first = append(first, fmt.Sprint(place(m), m.Refs, m.Score, m.Symbol))
		}
		return true
	})
	require.NoError(f, err)
	return first, stats
}

// rankedRepo returns a repository of 150 files in two branches, and their blobs: lines of words. Some
// lines define symbols. Its commits are older by age.
func rankedRepo(random *rand.Rand, id string, age time.Duration) (code.Manifest, []code.Blob) {
	m := code.Manifest{RepoID: id, Repo: "host/" + id, Refs: []code.Ref{{Name: "main", Commit: "1", Time: day.Add(-age)}, {Name: "dev", Commit: "2", Time: day.Add(-age)}}}
	var blobs []code.Blob
	seen := map[string]bool{} // texts, and paths in refs
	pick := func() string {   // the first words are the most frequent
		return rankedWords[min(random.IntN(len(rankedWords)), random.IntN(len(rankedWords)))]
	}
	for i := range 150 {
		var lines []string
		var symbols []code.Symbol
		for n := range random.IntN(9) {
			line := strings.Join([]string{pick(), pick(), pick()}, []string{" ", "", "_", "."}[random.IntN(4)])
			if random.IntN(4) == 0 {
				name := pick() + []string{"", "", pick()}[random.IntN(3)]
				line = "func " + name + " " + line
				symbols = append(symbols, code.Symbol{Name: name, Kind: "func", Line: n + 1, End: n + 1})
			}
			lines = append(lines, line)
		}
		b := blob(strings.Join(append(lines, ""), "\n"), []string{"Go", ""}[random.IntN(2)], symbols...)
		b.Generated = random.IntN(8) == 0
		if !seen[string(b.OID)] {
			blobs = append(blobs, b)
		}
		seen[string(b.OID)] = true
		path := fmt.Sprintf("%s/%s%d.go", []string{"src", "path", "vendor"}[random.IntN(3)], pick(), i/2)
		if random.IntN(6) == 0 {
			path = "src/err.go/" + path
		}
		for _, ref := range [][]string{{"main"}, {"dev"}, {"main", "dev"}}[random.IntN(3)] {
			if seen[ref+path] {
				continue
			}
			seen[ref+path] = true
			m.Files = append(m.Files, code.File{Ref: ref, Path: path, OID: b.OID, Vendored: strings.HasPrefix(path, "vendor")})
		}
	}
	return m, blobs
}

// rankedInPart checks that a search whose memory does not allow to rank all matches tells of how
// many the first are the best, and delivers each match once.
func rankedInPart(f fixture) {
	files := tree{}
	for i := range 1200 {
		files[fmt.Sprint("f", i)] = fmt.Sprintf("needle %d\n", i)
	}
	f.publish("r", files)
	all, stats := f.search("needle", code.Options{MaxBytes: 32 << 10})
	require.Empty(f, stats.Stopped)
	if _, unlimited := f.Searcher.(*Naive); !unlimited {
		require.Positive(f, stats.RankedOf)
		require.Less(f, stats.RankedOf, len(files))
	}
	lines := map[string]bool{}
	for _, m := range all {
		lines[m.Path] = true
	}
	require.Len(f, lines, len(files))
	require.Len(f, all, len(files))
	_, stats = f.search("needle", code.Options{})
	require.Zero(f, stats.RankedOf)
}
