package codesearchtest_test

import (
	"context"
	"fmt"
	"testing"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/codesearchtest"
)

func TestTheNaiveIndexPassesTheSuite(t *testing.T) {
	t.Parallel()
	codesearchtest.Exercise(t, func(*testing.T) codesearch.Searcher { return codesearchtest.NewNaive() })
}

func ExampleNaive() {
	ctx := context.Background()
	index := codesearchtest.NewNaive()
	text := []byte("package main\n\nfunc main() {}\n")
	id := codesearch.OIDOf(text)
	fmt.Println(index.PutBlobs(ctx, "batch 1", []codesearch.Blob{{OID: id, Content: text}}))
	fmt.Println(index.Publish(ctx, codesearch.Manifest{RepoID: "1", Repo: "example", Refs: []codesearch.Ref{{Name: "main"}},
		Files: []codesearch.File{{Ref: "main", Path: "main.go", OID: id}}}))
	q, _ := codesearch.Parse(`"main()" file:\.go$`)
	_, err := index.Search(ctx, q, codesearch.Options{}, func(m codesearch.Match) bool {
		fmt.Printf("%s:%s:%d:%s\n", m.Repo, m.Path, m.Line, m.Text)
		return true
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// example:main.go:3:func main() {}
	// <nil>
}
