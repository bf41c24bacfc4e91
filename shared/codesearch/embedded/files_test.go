package embedded

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/codesearch"
)

func TestFilesListsEachRepositoryWithWhatIsKnownOfItsBlobs(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), Options{})
	require.NoError(t, err)
	defer x.Close()
	code := codesearch.Blob{OID: codesearch.OIDOf([]byte("package a\n")), Content: []byte("package a\n"),
		BlobInfo:  codesearch.BlobInfo{Size: 10, Lang: "Go", Lines: 1, Code: 1, Complexity: 1},
		Functions: []codesearch.FunctionReport{{Line: 1, Function: "F", A: 3, B: 4, Score: 5}}}
	link := codesearch.Blob{OID: codesearch.OIDOf([]byte("target")), BlobInfo: codesearch.BlobInfo{Size: 6, Skipped: "symbolic link"}}
	require.NoError(t, x.PutBlobs(t.Context(), "b", []codesearch.Blob{code, link}))
	refs := []codesearch.Ref{{Name: "main", Commit: "c1"}, {Name: "next", Commit: "c2"}}
	for _, id := range []string{"r2", "r1"} {
		require.NoError(t, x.Publish(t.Context(), codesearch.Manifest{RepoID: id, Repo: "example.org/" + id, Refs: refs, Files: []codesearch.File{
			{Ref: "next", Path: "z.go", OID: code.OID, Vendored: true}, {Ref: "main", Path: "a.go", OID: code.OID}, {Ref: "next", Path: "a.go", OID: code.OID}, {Ref: "main", Path: "link", OID: link.OID},
		}}))
	}
	var found []codesearch.FileInfo
	var functions []codesearch.FunctionReport
	require.NoError(t, x.Files(t.Context(), func(id, name string) bool { return name == "example.org/r1" }, func(f codesearch.FileInfo, read func() []codesearch.FunctionReport) bool {
		found = append(found, f)
		functions = append(functions, read()...)
		return true
	}))
	first := codesearch.FileInfo{RepoID: "r1", Repo: "example.org/r1", Refs: []string{"main", "next"}, Commit: "c1", Path: "a.go", OID: code.OID, BlobInfo: code.BlobInfo}
	require.Len(t, found, 3)
	require.Equal(t, first, found[0])
	require.Equal(t, "symbolic link", found[1].Skipped)
	require.True(t, found[2].Vendored)
	require.Equal(t, []string{"next"}, found[2].Refs)
	require.Equal(t, "c2", found[2].Commit)
	require.Len(t, functions, 2)

	var order []string
	require.NoError(t, x.Files(t.Context(), func(string, string) bool { return true }, func(f codesearch.FileInfo, _ func() []codesearch.FunctionReport) bool {
		order = append(order, f.RepoID+":"+f.Path)
		return len(order) < 4
	}))
	require.Equal(t, []string{"r1:a.go", "r1:link", "r1:z.go", "r2:a.go"}, order)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, x.Files(ctx, func(string, string) bool { return true }, nil), context.Canceled)
	require.NoError(t, x.Close())
	require.Error(t, x.Files(t.Context(), nil, nil))
}
