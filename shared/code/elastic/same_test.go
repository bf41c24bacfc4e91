package elastic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/opensearchtest"
	"leasehold/shared/code/embedded"
)

// sameQueries is how many random queries are compared.
const sameQueries = 500

// TestARealServerAndTheEmbeddedIndexGiveTheSameAnswers compares random queries, with a new seed in each
// run: the lines, the statistics and the order of the best.
func TestARealServerAndTheEmbeddedIndexGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	url := opensearchtest.URL(t, "the comparison with the embedded index")
	if url == "" {
		return
	}
	local, err := embedded.Open(t.TempDir(), embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	remote := openReal(t, url, elastic.Config{})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := queryWriter{Rand: rand.New(rand.NewPCG(seed, 0))}
	folders := []string{"net/http", "strings", "go/parser"}
	batches, all := goSources(t, 0, folders...)
	for i, part := range folders {
		m := code.Manifest{RepoID: fmt.Sprint("r", i), Repo: "example.org/" + part, Refs: []code.Ref{{Name: "main", Commit: "1"}, {Name: "old", Commit: "2"}}}
		wanted := map[code.OID]bool{}
		for _, f := range all.Files {
			if !strings.HasPrefix(f.Path, part+"/") {
				continue
			}
			for n, ref := range m.Refs {
				if n == 0 || len(f.Path)%3 == 0 {
					m.Files = append(m.Files, code.File{Ref: ref.Name, Path: f.Path, OID: f.OID, Vendored: len(f.Path)%5 == 0})
				}
			}
			wanted[f.OID] = true
		}
		for _, x := range []code.Searcher{local, remote} {
			for _, batch := range batches {
				chosen := slices.DeleteFunc(slices.Clone(batch), func(b code.Blob) bool { return !wanted[b.OID] })
				for j := range chosen {
					if chosen[j].Size%11 == 0 {
						chosen[j] = code.Blob{OID: chosen[j].OID, BlobInfo: code.BlobInfo{Size: chosen[j].Size, Skipped: fmt.Sprint("reason ", chosen[j].Size%3)}}
					} else {
						r.learn(chosen[j])
					}
				}
				require.NoError(t, x.PutBlobs(t.Context(), part, chosen))
			}
			require.NoError(t, x.Publish(t.Context(), m))
		}
	}
	for range sameQueries {
		text := r.query()
		want, wantStats := answer(t, local, text)
		got, gotStats := answer(t, remote, text)
		require.Equal(t, wantStats, gotStats, "seed %d, query %s", seed, text)
		best := min(len(want), code.RankedMatches)
		require.Equal(t, want[:best], got[:best], "seed %d, query %s", seed, text)
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, want, got, "seed %d, query %s", seed, text)
	}
}

// answer returns the matches of a query as texts, in their order, and the statistics in which indexes agree.
func answer(t *testing.T, x code.Searcher, text string) (all []string, stats code.Stats) {
	q, err := code.Parse(text)
	require.NoError(t, err, text)
	stats, err = x.Search(context.Background(), q, code.Options{Timeout: time.Hour, MaxBytes: 1 << 30}, func(m code.Match) bool {
		all = append(all, fmt.Sprint(m.RepoID, m.Refs, m.Path, ":", m.Line, m.Ranges, m.Text))
		return true
	})
	require.NoError(t, err, text)
	stats.Elapsed, stats.BytesScanned = 0, 0
	return all, stats
}

// queryWriter writes random queries of words that it has learned.
type queryWriter struct {
	*rand.Rand
	words, symbols []string
}

var wordPattern = regexp.MustCompile(`[A-Za-z_]{2,20}`)

// learn takes some words of a blob.
func (w *queryWriter) learn(b code.Blob) {
	words := wordPattern.FindAllString(string(b.Content), -1)
	for range min(len(words), 20) {
		if word := w.of(words); !slices.Contains([]string{"and", "or", "not"}, strings.ToLower(word)) { // operators
			w.words = append(w.words, word)
		}
	}
	for range min(len(b.Symbols), 5) {
		w.symbols = append(w.symbols, b.Symbols[w.IntN(len(b.Symbols))].Name)
	}
}

func (w *queryWriter) of(all []string) string { return all[w.IntN(len(all))] }

// query returns a query of a depth up to 7.
func (w *queryWriter) query() string {
	return w.group(w.IntN(8)) + w.of([]string{"", "", " case:no", " case:yes", " case:auto"})
}

// group returns terms with one operator between them, and in one of them a group of one depth less.
func (w *queryWriter) group(depth int) string {
	if depth == 0 {
		return w.term()
	}
	parts := []string{w.of([]string{"", "-"}) + "(" + w.group(depth-1) + ")"}
	for range w.IntN(3) {
		parts = append(parts, w.term())
	}
	w.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, w.of([]string{" ", " or ", " AND NOT ", " or NOT "}))
}

// term returns a word, a phrase, an expression, a symbol, a filter, or a word that is absent.
func (w *queryWriter) term() string {
	word := w.of(w.words)
	switch w.IntN(9) {
	case 0:
		return `"` + word + w.of([]string{" ", ".", "("}) + `"`
	case 1:
		return strings.ToUpper(word)
	case 2:
		return "/" + word[:1] + `\w*` + word[len(word)-1:] + w.of([]string{`\b`, `\(`, `$`}) + "/"
	case 3:
		return "/" + word + "|" + w.of(w.words) + "/"
	case 4:
		return "sym:" + w.of(w.symbols)
	case 5:
		return w.of([]string{"lang:go", "-lang:go", "vendor:yes", "vendor:no", "repo:strings", "-repo:http", "branch:old", "file:_test", `file:` + path.Base(word)})
	case 6:
		return "zxqv" + word
	}
	return word
}
