package codetest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// ranking checks the order of matches that differ in one respect.
func ranking(f fixture) {
	ctx := context.Background()
	defines := blob("func Needle() {}\n", "Go", code.Symbol{Name: "Needle", Kind: "func", Line: 1, End: 1})
	definesPart := blob("func NeedleBox() {}\n", "Go", code.Symbol{Name: "NeedleBox", Kind: "func", Line: 1, End: 1})
	texts := tree{"word/x": "use Needle here\n", "part/x": "use xNeedlex here\n", "src/needle.txt": "in xNeedlex file\n", "vendor/y": "vendored Needle\n"}
	blobs := []code.Blob{defines, definesPart}
	for _, text := range texts {
		blobs = append(blobs, blob(text, ""))
	}
	generated := blob("generated Needle\n", "")
	generated.Generated = true
	require.NoError(f, f.PutBlobs(ctx, "1", append(blobs, generated)))
	m := manifest("r", texts)
	for i := range m.Files {
		m.Files[i].Vendored = strings.HasPrefix(m.Files[i].Path, "vendor/")
	}
	m.Files = append(m.Files, code.File{Ref: "main", Path: "a/z1", OID: defines.OID}, code.File{Ref: "main", Path: "a/z2", OID: definesPart.OID},
		code.File{Ref: "main", Path: "a/gen", OID: generated.OID})
	require.NoError(f, f.Publish(ctx, m))
	newer := manifest("newer", tree{"word/x": "use Needle here\n"})
	newer.Refs[0].Time = day.AddDate(1, 0, 0)
	require.NoError(f, f.Publish(ctx, newer))
	matches, _ := f.search("Needle", code.Options{})
	var order []string
	for _, m := range matches {
		order = append(order, place(m))
	}
	require.Equal(f, []string{"r:a/z1:1", "r:a/z2:1", "newer:word/x:1", "r:word/x:1", "r:src/needle.txt:1"}, order[:5])
	require.ElementsMatch(f, []string{"r:part/x:1", "r:a/gen:1", "r:vendor/y:1"}, order[5:])
	require.Equal(f, "Needle", matches[0].Symbol.Name)
}

// matchFields checks each field of a match, and that a long line is cut around its match, between
// characters.
func matchFields(f fixture) {
	ctx := context.Background()
	content := blob("one\ntwo\nfunc Find(x) and Find(y)\nfour\nfive\n", "Go", code.Symbol{Name: "Find", Kind: "func", Line: 3, End: 4, Signature: "(x)", Approx: true})
	long := blob(strings.Repeat("ä", 2000)+"Find"+strings.Repeat("ö", 2000)+"\n", "")
	require.NoError(f, f.PutBlobs(ctx, "1", []code.Blob{content, long}))
	m := manifest("r", tree{"a.go": string(content.Content), "long": string(long.Content)})
	require.NoError(f, f.Publish(ctx, m))
	matches, stats := f.search("Find file:a.go", code.Options{Context: 1})
	require.Len(f, matches, 1)
	require.Equal(f, 1, stats.Files)
	require.Equal(f, 1, stats.Repos)
	got := matches[0]
	require.Positive(f, got.Score)
	got.Score = 0
	require.Equal(f, code.Match{RepoID: "r", Repo: "example.com/r", Refs: []string{"main"}, Commit: "c-r", Path: "a.go", OID: content.OID, Lang: "Go",
		Line: 3, Text: "func Find(x) and Find(y)", Ranges: []code.Range{{Start: 5, End: 9}, {Start: 17, End: 21}},
		Before: []string{"two"}, After: []string{"four"},
		Symbol: &code.Symbol{Name: "Find", Kind: "func", Line: 3, End: 4, Signature: "(x)", Approx: true}}, got)
	matches, _ = f.search("Find file:long", code.Options{Context: 99})
	require.Len(f, matches, 1)
	require.LessOrEqual(f, len(matches[0].Text), code.MaxTextBytes)
	require.Len(f, matches[0].Ranges, 1)
	r := matches[0].Ranges[0]
	require.Equal(f, "Find", matches[0].Text[r.Start:r.End])
	require.Equal(f, 4000, matches[0].Column+r.Start)
	require.True(f, strings.HasPrefix(matches[0].Text, "ä"), "text is cut between characters")
}

// stops checks that a search ends at its limit, when visit returns false, and with the cause of
// its context, and that each match comes once.
func stops(f fixture) {
	f.publish("r", tree{"x": strings.Repeat("needle\n", 500)})
	matches, stats := f.search("needle", code.Options{Limit: 7})
	require.Len(f, matches, 7)
	require.Equal(f, code.StoppedLimit, stats.Stopped)
	q, err := code.Parse("needle")
	require.NoError(f, err)
	visited := 0
	stats, err = f.Search(context.Background(), q, code.Options{}, func(code.Match) bool { visited++; return visited < 60 })
	require.NoError(f, err)
	require.Equal(f, 60, visited)
	require.Equal(f, code.StoppedLimit, stats.Stopped)
	all, stats := f.search("needle", code.Options{Limit: 500})
	require.Empty(f, stats.Stopped, "all matches are within the limit")
	lines := map[int]bool{}
	for _, m := range all {
		lines[m.Line] = true
	}
	require.Len(f, lines, 500, "each match comes once")
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_, err = f.Search(ctx, q, code.Options{}, func(code.Match) bool { return true })
	require.ErrorIs(f, err, why)
}

// invalid checks that ids and manifests out of range give fault.ErrInvalid and change nothing, and
// that any path is only a name.
func invalid(f fixture) {
	ctx := context.Background()
	f.publish("r", tree{"x": "needle\n"})
	good := code.OIDOf([]byte("needle\n"))
	_, err := f.Missing(ctx, []code.OID{"abc"})
	require.ErrorIs(f, err, fault.ErrInvalid)
	require.ErrorIs(f, f.PutBlobs(ctx, "b", []code.Blob{blob("valid\n", ""), {OID: "../x"}}), fault.ErrInvalid)
	missing, err := f.Missing(ctx, []code.OID{code.OIDOf([]byte("valid\n"))})
	require.NoError(f, err)
	require.Len(f, missing, 1, "a batch is put as a whole")
	file := func(edit func(*code.Manifest)) code.Manifest {
		m := manifest("r", tree{"y": "needle\n"})
		edit(&m)
		return m
	}
	for i, m := range []code.Manifest{
		file(func(m *code.Manifest) { m.RepoID = "" }),
		file(func(m *code.Manifest) { m.Repo = "" }),
		file(func(m *code.Manifest) { m.Refs = nil }),
		file(func(m *code.Manifest) { m.Refs = append(m.Refs, m.Refs[0]) }),
		file(func(m *code.Manifest) { m.Refs = append(m.Refs, code.Ref{}) }),
		file(func(m *code.Manifest) { m.Files = append(m.Files, m.Files[0]) }),
		file(func(m *code.Manifest) { m.Files[0].Path = "" }),
		file(func(m *code.Manifest) { m.Files[0].Path = strings.Repeat("x", code.MaxPathBytes+1) }),
		file(func(m *code.Manifest) { m.Files[0].OID = "x" }),
		file(func(m *code.Manifest) {
			for i := range code.MaxRefs + 1 {
				m.Refs = append(m.Refs, code.Ref{Name: fmt.Sprint(i)})
			}
		}),
	} {
		require.ErrorIs(f, f.Publish(ctx, m), fault.ErrInvalid, "manifest %d", i)
	}
	require.Equal(f, []string{"r:x:1"}, f.places("needle"))
	odd := manifest("odd", nil)
	for _, path := range []string{"../../etc/passwd", "-rf", "new\nline", "\xff\xfe", "a/" + strings.Repeat("b/", 100) + "c"} {
		odd.Files = append(odd.Files, code.File{Ref: "main", Path: path, OID: good})
	}
	require.NoError(f, f.Publish(ctx, odd), "a path is a name, not a place")
	matches, _ := f.search("needle repo:odd", code.Options{})
	paths := map[string]bool{}
	for _, m := range matches {
		paths[m.Path] = true
	}
	for _, file := range odd.Files {
		require.True(f, paths[file.Path], "%q", file.Path)
	}
}
