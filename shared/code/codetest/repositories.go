package codetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// sharedBlobs checks that a blob which was put once is found in each place that names it.
func sharedBlobs(f fixture) {
	f.publish("a", tree{"x.txt": "shared needle\n", "y.txt": "shared needle\n"})
	missing, err := f.Missing(context.Background(), []code.OID{code.OIDOf([]byte("new\n")), code.OIDOf([]byte("shared needle\n")), code.OIDOf([]byte("new\n"))})
	require.NoError(f, err)
	require.Equal(f, []code.OID{code.OIDOf([]byte("new\n"))}, missing)
	require.NoError(f, f.Publish(context.Background(), manifest("b", tree{"z.txt": "shared needle\n"})), "no content is put for b")
	require.Equal(f, []string{"a:x.txt:1", "a:y.txt:1", "b:z.txt:1"}, f.places("needle"))
}

// refs checks the refs, the commit and the branch of matches in two refs, with and without
// branch:. A file that all refs have has no Branch.
func refs(f fixture) {
	ctx := context.Background()
	one, two := blob("needle one\n", ""), blob("needle two\n", "")
	require.NoError(f, f.PutBlobs(ctx, "1", []code.Blob{one, two}))
	require.NoError(f, f.Publish(ctx, code.Manifest{RepoID: "r", Repo: "r",
		Refs: []code.Ref{{Name: "main", Commit: "m", Time: day}, {Name: "dev", Commit: "d", Time: day}},
		Files: []code.File{
			{Ref: "dev", Path: "same", OID: one.OID}, {Ref: "main", Path: "same", OID: one.OID},
			{Ref: "main", Path: "changed", OID: one.OID}, {Ref: "dev", Path: "changed", OID: two.OID},
		}}))
	refsOf := func(query string) map[string]string {
		found := map[string]string{}
		matches, _ := f.search(query, code.Options{})
		for _, m := range matches {
			found[m.Path+" "+m.Text] = strings.Join(m.Refs, ",") + " " + m.Commit + " " + m.Branch
		}
		return found
	}
	require.Equal(f, map[string]string{"same needle one": "main,dev m ", "changed needle one": "main m main", "changed needle two": "dev d dev"}, refsOf("needle"))
	require.Equal(f, map[string]string{"same needle one": "main,dev m ", "changed needle two": "dev d dev"}, refsOf("needle branch:dev"))
	require.Equal(f, map[string]string{"changed needle one": "main m main"}, refsOf("needle -branch:dev"))
}

// putAgain checks that a batch with a blob twice may be put repeatedly, and that the index keeps
// none of the caller's memory.
func putAgain(f fixture) {
	ctx := context.Background()
	batch := []code.Blob{blob("needle\n", "Text"), blob("other\n", "Text"), blob("needle\n", "Text")}
	for range 3 {
		require.NoError(f, f.PutBlobs(ctx, "batch", batch))
	}
	batch[0].Content[0] = 'X' // the index keeps none of the caller's memory
	require.NoError(f, f.PutBlobs(ctx, "empty", nil))
	require.NoError(f, f.Publish(ctx, manifest("r", tree{"a": "needle\n", "b": "other\n"})))
	require.Equal(f, []string{"r:a:1"}, f.places("needle"))
}

// generations checks that a publication replaces all files of its repository, and of no other.
func generations(f fixture) {
	f.publish("r", tree{"kept": "needle kept\n", "changed": "needle old\n", "removed": "needle removed\n"})
	f.publish("other", tree{"kept": "needle kept\n"})
	f.publish("r", tree{"kept": "needle kept\n", "changed": "first\nneedle new\n", "added": "needle added\n"})
	require.Equal(f, []string{"other:kept:1", "r:added:1", "r:changed:2", "r:kept:1"}, f.places("needle"))
	f.publish("r", tree{})
	require.Equal(f, []string{"other:kept:1"}, f.places("needle"))
}

// incomplete checks that a manifest with a blob that was never put gives fault.ErrConflict, and
// leaves the generation before it.
func incomplete(f fixture) {
	f.publish("r", tree{"old": "needle\n"})
	m := manifest("r", tree{"old": "needle\n", "new": "never put\n"})
	require.ErrorIs(f, f.Publish(context.Background(), m), fault.ErrConflict)
	require.Equal(f, []string{"r:old:1"}, f.places("needle"))
}

// dropRepo checks that dropping removes the repository with that id alone, that it may be
// repeated, and that the repository can be published again.
func dropRepo(f fixture) {
	f.publish("a", tree{"x": "needle\n"})
	f.publish("b", tree{"README": "see example.com/a, repository a; needle\n", "x": "needle\n"})
	require.NoError(f, f.DropRepo(context.Background(), "a"))
	require.NoError(f, f.DropRepo(context.Background(), "a"))
	require.NoError(f, f.DropRepo(context.Background(), "never published"))
	require.Equal(f, []string{"b:README:1", "b:x:1"}, f.places("needle"))
	f.publish("a", tree{"y": "needle\n"})
	require.Equal(f, []string{"a:y:1", "b:README:1", "b:x:1"}, f.places("needle"))
}

// emptyFiles checks that one empty blob has the language of each of its names. Places end with the
// line, which is 0 where a file has no line that matches.
func emptyFiles(f fixture) {
	ctx := context.Background()
	empty := blob("", "")
	require.NoError(f, f.PutBlobs(ctx, "batch", []code.Blob{empty, blob("x\n", "Python")}))
	require.NoError(f, f.Publish(ctx, manifest("r", tree{"a.txt": "", "b/__init__.py": "", "c.py": "x\n", "d.go": ""})))
	require.Equal(f, []string{"r:b/__init__.py:0", "r:c.py:0"}, f.places("lang:py"))
	require.Equal(f, []string{"r:b/__init__.py:0"}, f.places("lang:py -/x/"))
	require.Equal(f, []string{"r:a.txt:0", "r:d.go:0"}, f.places("-lang:py"))
	matches, _ := f.search("lang:go", code.Options{})
	require.Equal(f, "Go", matches[0].Lang)
}

// skipped puts a blob for each reason not to index one: searches count it, Missing does not ask
// for it again, and its name is found.
func skipped(f fixture) {
	ctx := context.Background()
	binary, large := blob("needle\x00\n", ""), blob(strings.Repeat("needle ", code.MaxBlobBytes/7+1), "")
	submodule := code.Blob{OID: code.OIDOf([]byte("s")), BlobInfo: code.BlobInfo{Skipped: "a submodule"}}
	encoded := blob(manyTrigrams(), "")
	require.NoError(f, f.PutBlobs(ctx, "batch", []code.Blob{binary, large, submodule, encoded, blob("needle\n", "")}))
	m := manifest("r", tree{"text": "needle\n"})
	for path, b := range map[string]code.Blob{"binary": binary, "large": large, "sub": submodule, "encoded": encoded} {
		m.Files = append(m.Files, code.File{Ref: "main", Path: path, OID: b.OID})
	}
	require.NoError(f, f.Publish(ctx, m))
	matches, stats := f.search("needle", code.Options{})
	require.Len(f, matches, 1)
	require.Equal(f, map[string]int{code.SkipBinary: 1, code.SkipTooLarge: 1, "a submodule": 1, code.SkipTrigrams: 1}, stats.Skipped)
	_, stats = f.search("needle file:^b", code.Options{})
	require.Equal(f, map[string]int{code.SkipBinary: 1}, stats.Skipped)
	missing, err := f.Missing(ctx, m.OIDs())
	require.NoError(f, err)
	require.Empty(f, missing, "a skipped blob is not asked for again")
	require.Equal(f, []string{"r:binary:0"}, f.places("file:binary"), "a skipped file is found by its name")
}

// manyTrigrams returns text with more distinct trigrams than an index takes. Encoded data has
// that many, so that it is not indexed.
func manyTrigrams() string {
	var b strings.Builder
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz!$%&()*+,-./:;<=>?@[]^_{|}~"
	for i := range len(letters) {
		for j := range len(letters) {
			for k := range len(letters) {
				fmt.Fprintf(&b, "%c%c%c ", letters[i], letters[j], letters[k])
			}
		}
	}
	return b.String()
}
