package codetest_test

import (
	"context"
	"fmt"
	"testing"

	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
)

func TestTheNaiveIndexPassesTheSuite(t *testing.T) {
	t.Parallel()
	codetest.Exercise(t, func(*testing.T) code.Searcher { return codetest.NewNaive() })
}

func ExampleNaive() {
	ctx := context.Background()
	index := codetest.NewNaive()
	text := []byte("package main\n\nfunc main() {}\n")
	id := code.OIDOf(text)
	fmt.Println(index.PutBlobs(ctx, "batch 1", []code.Blob{{OID: id, Content: text}}))
	fmt.Println(index.Publish(ctx, code.Manifest{RepoID: "1", Repo: "example", Refs: []code.Ref{{Name: "main"}},
		Files: []code.File{{Ref: "main", Path: "main.go", OID: id}}}))
	q, _ := code.Parse(`"main()" file:\.go$`)
	_, err := index.Search(ctx, q, code.Options{}, func(m code.Match) bool {
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
