package codetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// An Index is searched and listed.
type Index interface {
	code.Searcher
	code.Lister
}

// ExerciseLister lists the files of two repositories of an empty index, each with two refs, a
// vendored file and an unindexed link.
func ExerciseLister(t *testing.T, x Index) {
	source := blob("package a\n", "Go")
	source.Lines, source.Code, source.Complexity = 1, 1, 1
	source.Functions = []code.FunctionReport{{Line: 1, Function: "F", A: 3, B: 4, Score: 5}}
	link := code.Blob{OID: code.OIDOf([]byte("target")), BlobInfo: code.BlobInfo{Size: 6, Skipped: "symbolic link"}}
	require.NoError(t, x.PutBlobs(t.Context(), "b", []code.Blob{source, link}))
	refs := []code.Ref{{Name: "main", Commit: "c1"}, {Name: "next", Commit: "c2"}}
	for _, id := range []string{"r2", "r1"} {
		require.NoError(t, x.Publish(t.Context(), code.Manifest{RepoID: id, Repo: "example.org/" + id, Refs: refs, Files: []code.File{
			{Ref: "next", Path: "z.go", OID: source.OID, Vendored: true}, {Ref: "main", Path: "a.go", OID: source.OID},
			{Ref: "next", Path: "a.go", OID: source.OID}, {Ref: "main", Path: "link", OID: link.OID},
		}}))
	}

	repos, err := x.Repos(t.Context())
	require.NoError(t, err)
	require.Equal(t, []code.RepoInfo{{ID: "r1", Repo: "example.org/r1", Refs: refs, Files: 3}, {ID: "r2", Repo: "example.org/r2", Refs: refs, Files: 3}}, repos)
	text, err := x.Text(t.Context(), source.OID)
	require.NoError(t, err)
	require.Equal(t, source.Content, text)
	for _, id := range []code.OID{link.OID, code.OIDOf(nil)} {
		_, err = x.Text(t.Context(), id)
		require.ErrorIs(t, err, fault.ErrNotFound)
	}

	files, functions := list(t, x, "example.org/r1", 99)
	require.Equal(t, []code.FileInfo{
		{RepoID: "r1", Repo: "example.org/r1", Refs: []string{"main", "next"}, Commit: "c1", Path: "a.go", OID: source.OID, BlobInfo: source.BlobInfo},
		{RepoID: "r1", Repo: "example.org/r1", Refs: []string{"main"}, Commit: "c1", Path: "link", OID: link.OID, BlobInfo: link.BlobInfo},
		{RepoID: "r1", Repo: "example.org/r1", Refs: []string{"next"}, Commit: "c2", Path: "z.go", OID: source.OID, Vendored: true, BlobInfo: source.BlobInfo},
	}, files)
	require.Equal(t, []code.FunctionReport{source.Functions[0], source.Functions[0]}, functions)
	files, _ = list(t, x, "", 4)
	require.Len(t, files, 4, "a visitor that returns false ends the list")
	require.Equal(t, "r2", files[3].RepoID)
	require.Equal(t, "a.go", files[3].Path)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, x.Files(ctx, func(string, string) bool { return true }, nil), context.Canceled)
}

// list returns up to most files of the repository with that name, or of all if it is empty,
// and the reports of their functions.
func list(t *testing.T, x code.Lister, repo string, most int) (files []code.FileInfo, functions []code.FunctionReport) {
	wanted := func(_, name string) bool { return repo == "" || name == repo }
	require.NoError(t, x.Files(t.Context(), wanted, func(f code.FileInfo, read func() []code.FunctionReport) bool {
		files, functions = append(files, f), append(functions, read()...)
		return len(files) < most
	}))
	return files, functions
}
