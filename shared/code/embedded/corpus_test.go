package embedded_test

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/gosource"
	"leasehold/shared/code"
)

var (
	corpusDirs  = flag.String("corpus.dirs", "", "folders of the benchmarks' corpus, separated by commas; default: GOROOT/src and the module cache")
	corpusBytes = flag.Int64("corpus.bytes", 120<<20, "size of the corpus, in bytes of indexed text")
	corpusSeed  = flag.Uint64("corpus.seed", 16, "seed of the order of files and queries")
)

// A corpus is files of a folder as blobs, each content once, and the manifest of the folder.
type corpus struct {
	blobs    []code.Blob
	manifest code.Manifest
	bytes    int64 // of indexed text
}

// add adds a file.
func (c *corpus) add(path string, content []byte, seen map[code.OID]bool) {
	id := code.OIDOf(content)
	c.manifest.Files = append(c.manifest.Files, code.File{Ref: "HEAD", Path: path, OID: id})
	if seen[id] {
		return
	}
	seen[id] = true
	c.blobs = append(c.blobs, code.Blob{OID: id, Content: content})
	if code.SkipReason(content) == "" {
		c.bytes += int64(len(content))
	}
}

func newCorpus(id string) *corpus {
	return &corpus{manifest: code.Manifest{RepoID: id, Repo: id, Refs: []code.Ref{{Name: "HEAD", Commit: "1"}}}}
}

// readCorpus reads regular files below dirs in the order of their paths, until it has
// limit bytes.
func readCorpus(t testing.TB, limit int64, dirs ...string) *corpus {
	c, seen := newCorpus("corpus"), map[code.OID]bool{}
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || c.bytes >= limit {
				return err
			}
			content, err := os.ReadFile(path)
			c.add(path, content, seen)
			return err
		}))
	}
	return c
}

// benchmarkCorpus reads the corpus that the flags name.
func benchmarkCorpus(b *testing.B) *corpus {
	dirs := strings.Split(*corpusDirs, ",")
	if *corpusDirs == "" {
		modules := os.Getenv("GOMODCACHE")
		if modules == "" {
			home, err := os.UserHomeDir()
			require.NoError(b, err)
			modules = filepath.Join(home, "go", "pkg", "mod")
		}
		dirs = []string{gosource.Folder(b), modules}
	}
	return readCorpus(b, *corpusBytes, dirs...)
}

// batches cuts blobs as managers do: at most 8 MiB or 2,000 of them each.
func (c *corpus) batches() (all [][]code.Blob) {
	size, from := 0, 0
	for i, b := range c.blobs {
		if i > from && (size+len(b.Content) > 8<<20 || i-from == 2000) {
			all, size, from = append(all, c.blobs[from:i]), 0, i
		}
		size += len(b.Content)
	}
	return append(all, c.blobs[from:])
}

// A line of the committed set: a query, and what grep is called with for the same.
type comparison struct {
	options, pattern string
}

func (c comparison) query() string {
	text := c.pattern
	if strings.Contains(c.options, "F") {
		text = `content:"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
	} else {
		text = "/" + text + "/"
	}
	if strings.Contains(c.options, "i") {
		return text + " case:no"
	}
	return text + " case:yes"
}

func committedQueries(t testing.TB) (all []comparison) {
	f, err := os.Open("testdata/queries.txt")
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		options, pattern, ok := strings.Cut(lines.Text(), "\t")
		if ok {
			all = append(all, comparison{options, pattern})
		}
	}
	require.NotEmpty(t, all)
	return all
}

// generated returns a corpus of files below dir, made from a seed: code of several kinds,
// with what is hard for a search, and with text that the committed queries find.
func generated(t testing.TB, dir string, files int, seed uint64) *corpus {
	random := rand.New(rand.NewPCG(seed, 0))
	words := []string{"ErrClosed", "func (s *Server)", "context", "if err != nil {", ":=", `"\\"`, "naïve", "日本", "Content-Length", "content-length", "KELVIN", "Kelvin", "straße", "STRASSE",
		"NetworkError", "netDialError", "package main", "func (c *Conn) Close() error {", "return nil, err", "return nil, fmt.Errorf(", " TODO(rsc)", "type NoException struct", "zzqabcqzz", "foo(", "baz(",
		"ABC_DEF", `"` + strings.Repeat("long ", 20) + `"`, "xxxxxxx", "01234567-89ab", "Deprecated: Use", "unexpected EOF", "invalid UTF-8", "b", "\xff\xfe", "\t", "é", "// comment", "}", "0x1f"}
	c, seen := newCorpus("generated"), map[code.OID]bool{}
	for n := range files {
		var text strings.Builder
		for range random.IntN(400) {
			for range random.IntN(6) {
				text.WriteString(words[random.IntN(len(words))])
				text.WriteString(strings.Repeat(" ", random.IntN(2)))
			}
			text.WriteString([]string{"\n", "\n", "\n", "\r\n", "\n\n"}[random.IntN(5)])
		}
		content := text.String()
		switch n % 50 {
		case 10:
			content = strings.TrimRight(content, "\r\n")
		case 20:
			content = strings.ReplaceAll(content, "\n", " ") // one long line
		case 30:
			content = ""
		case 40:
			content += "\x00" // binary
		}
		path := filepath.Join(dir, fmt.Sprintf("d%d", n%7), fmt.Sprintf("f%d.go", n))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		c.add(path, []byte(content), seen)
	}
	return c
}

// indexed returns an index of c.
func (c *corpus) indexed(t testing.TB, s code.Searcher) {
	for i, batch := range c.batches() {
		require.NoError(t, s.PutBlobs(t.Context(), fmt.Sprint(i), batch))
	}
	require.NoError(t, s.Publish(t.Context(), c.manifest))
}

// indexedPaths returns the paths of the files that are searched, sorted.
func (c *corpus) indexedPaths() []string {
	skipped := map[code.OID]bool{}
	for _, b := range c.blobs {
		skipped[b.OID] = code.SkipReason(b.Content) != ""
	}
	var paths []string
	for _, f := range c.manifest.Files {
		if !skipped[f.OID] {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return paths
}
