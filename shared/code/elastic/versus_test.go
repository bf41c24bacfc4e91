package elastic_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/gosource"
	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/opensearchtest"
	"leasehold/shared/code/embedded"
)

var (
	versusCopies  = flag.Int("versus.copies", 0, "compare the driver with the embedded index on so many copies of Go's sources")
	versusNodes   = flag.Int("versus.nodes", 0, "also compare a cluster of so many nodes")
	versusRepeats = flag.Int("versus.repeats", 20, "how often each query is repeated")
)

// versusQueries are the queries that are compared.
var versusQueries = []struct{ what, query string }{
	{"absent word", "zxqvjkwp"},
	{"rare word", "Fprintln ReverseProxy"},
	{"definition", "sym:RoundTripper"},
	{"common word", "context"},
	{"broad regular expression", `/return .*\bnil, .*err\w*\(/`},
	{"a filter", "lang:go file:_test TestMain"},
}

// A contender is an index that is measured.
type contender struct {
	name string
	code.Searcher
	indexing time.Duration
}

// TestVersusEmbedded prints how long the embedded index, the driver with one node, and the driver with more nodes of one
// cluster take for the same. It runs for make versus-search only.
func TestVersusEmbedded(t *testing.T) {
	if *versusCopies == 0 {
		return
	}
	big := opensearchtest.Options{Heap: "1g", Java: " "}
	url := os.Getenv("TEST_ES_URL")
	if url == "" {
		node, err := opensearchtest.Start(t.TempDir(), big)
		require.NoError(t, err)
		defer node.Stop()
		url = node.URL
	}
	local, err := embedded.Open(t.TempDir(), embedded.Options{})
	require.NoError(t, err)
	defer local.Close()
	prefix := newPrefix()
	remote := openReal(t, url, elastic.Config{Prefix: prefix})
	all := []*contender{{name: "embedded", Searcher: local}, {name: "server", Searcher: remote}}
	if *versusNodes > 0 {
		c := startCluster(t, *versusNodes, big)
		all = append(all, &contender{name: fmt.Sprintf("%d nodes", *versusNodes),
			Searcher: openReal(t, strings.Join(c.urls, ","), elastic.Config{Shards: *versusNodes, Replicas: new(0)})})
	}
	files, source := 0, 0
	for n := range *versusCopies {
		batches, m := goSources(t, n, ".")
		files += len(m.Files)
		for _, batch := range batches {
			for _, b := range batch {
				source += len(b.Content)
			}
		}
		for _, x := range all {
			began := time.Now()
			for _, batch := range batches {
				require.NoError(t, x.PutBlobs(t.Context(), "versus", batch))
			}
			require.NoError(t, x.Publish(t.Context(), m))
			x.indexing += time.Since(began)
		}
	}
	printTimes(t, all, files)
	done, err := elastic.Rebuild(t.Context(), elastic.Config{URL: url, Prefix: elastic.Prefix(remote), Shards: 3}, quietly)
	require.NoError(t, err)
	fmt.Printf("\nleasehold index rebuild: %d blobs and %d files in %s; writes were refused for %s\n", done.Blobs, done.Files, done.Took.Round(time.Millisecond), done.NoWriting.Round(time.Millisecond))
	printSizes(t, url, prefix, source)
}

// printTimes prints what each contender takes to index and for each query: the median, the longest time, and how many
// times as long as the first contender. The last column is by how many MB this process grew.
func printTimes(t *testing.T, all []*contender, files int) {
	fmt.Printf("%d files in %d repositories\n\n| | lines |", files, *versusCopies)
	for _, x := range all {
		fmt.Printf(" %s: p50 | slowest | ratio | more MB |", x.name)
	}
	fmt.Printf("\n|---|---|%s\n| index | |", strings.Repeat("---|", 4*len(all)))
	for _, x := range all {
		fmt.Printf(" %.1f s | | %.1f | |", x.indexing.Seconds(), x.indexing.Seconds()/all[0].indexing.Seconds())
	}
	fmt.Println()
	for _, q := range versusQueries {
		var first measurement
		for i, x := range all {
			m := measure(t, x, q.query)
			if i == 0 {
				first = m
				fmt.Printf("| %s `%s` | %s |", q.what, q.query, m.lines)
			}
			differs := ""
			if m.lines != first.lines {
				differs = ", " + m.lines
			}
			fmt.Printf(" %.1f ms%s | %.1f ms | %.1f | %.0f |", ms(m.median), differs, ms(m.longest), ms(m.median)/ms(first.median), m.more)
		}
		fmt.Println()
	}
}

// printSizes prints what the indices take on disk for so many bytes of source, as they are and after a merge to one segment each.
func printSizes(t *testing.T, url, prefix string, source int) {
	type index struct {
		Name string `json:"index"`
		Size string `json:"pri.store.size"`
	}
	sizes := func() (all []index) {
		send(t, http.MethodPost, url+"/"+prefix+"*/_flush", "")
		send(t, http.MethodPost, url+"/"+prefix+"*/_refresh", "") // which lets go of segments that were merged
		answer, err := http.Get(url + "/_cat/indices/" + prefix + "*?format=json&bytes=b&s=index")
		require.NoError(t, err)
		defer answer.Body.Close()
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&all))
		return all
	}
	before := sizes()
	send(t, http.MethodPost, url+"/"+prefix+"*/_forcemerge?max_num_segments=1", "")
	after := sizes()
	require.Len(t, after, len(before))
	fmt.Printf("\n%.1f MB of source\n\n| index | MB | for each MB of source | after a merge |\n|---|---|---|---|\n", float64(source)/1e6)
	for i, of := range before {
		a, err := strconv.ParseFloat(of.Size, 64)
		require.NoError(t, err)
		b, err := strconv.ParseFloat(after[i].Size, 64)
		require.NoError(t, err)
		fmt.Printf("| %s | %.1f | %.2f | %.2f |\n", strings.TrimPrefix(of.Name, prefix), a/1e6, a/float64(source), b/float64(source))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measurement is of one query.
type measurement struct {
	median, longest time.Duration
	lines           string
	more            float64 // by how many MB this process grew; 0 where the system does not tell
}

func measure(t *testing.T, x code.Searcher, text string) (m measurement) {
	q, err := code.Parse(text)
	require.NoError(t, err)
	var all []time.Duration
	debug.FreeOSMemory()
	before := resident("VmRSS")
	resetPeak()
	for range *versusRepeats {
		began := time.Now()
		stats, err := x.Search(context.Background(), q, code.Options{}, func(code.Match) bool { return true })
		require.NoError(t, err)
		all = append(all, time.Since(began))
		m.lines = fmt.Sprintf("%d in %d files", stats.Matches, stats.Files)
		if stats.Stopped != "" {
			m.lines += ", stopped: " + stats.Stopped
		}
	}
	m.more = resident("VmHWM") - before
	slices.Sort(all)
	m.median, m.longest = all[len(all)/2], all[len(all)-1]
	return m
}

// resetPeak makes VmHWM begin again, where there is one: see proc(5), clear_refs.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) }

// resident returns a line of /proc/self/status in MB: VmRSS is the resident memory, VmHWM its peak. It returns 0 where
// there is none.
func resident(name string) (mb float64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), name+":")
	_, _ = fmt.Sscan(rest, &mb) // kB; stays 0
	return mb / 1024
}

// goSources returns the files of Go's sources that are below one of folders, as batches of blobs and the
// manifest of a repository of them. The texts of copies differ.
func goSources(t *testing.T, copyNumber int, folders ...string) (batches [][]code.Blob, m code.Manifest) {
	analyser := analyse.New("")
	defer func() { require.NoError(t, analyser.Close()) }()
	name := fmt.Sprintf("go%d", copyNumber)
	m = code.Manifest{RepoID: name, Repo: name, Refs: []code.Ref{{Name: "HEAD", Commit: "1"}}}
	root := gosource.Folder(t)
	seen, size := map[code.OID]bool{}, 8<<20
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, filepath.Join(root, f)+"/") }) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if copyNumber > 0 {
			content = fmt.Appendf(content, "// copy %d\n", copyNumber)
		}
		id := code.OIDOf(content)
		m.Files = append(m.Files, code.File{Ref: "HEAD", Path: path[len(root)+1:], OID: id})
		if seen[id] {
			return nil
		}
		seen[id] = true
		b, err := analyser.Blob(t.Context(), path, id, content)
		size += len(content)
		if size > 8<<20 || len(batches[len(batches)-1]) == 2000 {
			batches, size = append(batches, nil), len(content)
		}
		batches[len(batches)-1] = append(batches[len(batches)-1], b)
		return err
	}))
	slices.SortFunc(m.Files, func(a, b code.File) int { return cmp.Compare(a.Path, b.Path) })
	return batches, m
}
