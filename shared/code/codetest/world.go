package codetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
)

// A fixture is one index under test.
type fixture struct {
	testing.TB
	code.Searcher
}

// day is the date of the commits of tests.
var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// blob returns a blob of text with the facts that an analysis would find.
func blob(text, lang string, symbols ...code.Symbol) code.Blob {
	return code.Blob{OID: code.OIDOf([]byte(text)), Content: []byte(text), Symbols: symbols,
		BlobInfo: code.BlobInfo{Size: int64(len(text)), Lang: lang}}
}

// tree is the files of a ref: content by path.
type tree map[string]string

// manifest returns a manifest with one ref, main.
func manifest(id string, files tree) code.Manifest {
	m := code.Manifest{RepoID: id, Repo: "example.com/" + id, Refs: []code.Ref{{Name: "main", Commit: "c-" + id, Time: day}}}
	for path, text := range files {
		m.Files = append(m.Files, code.File{Ref: "main", Path: path, OID: code.OIDOf([]byte(text))})
	}
	return m
}

// publish puts the texts of files and publishes them as repository id.
func (f fixture) publish(id string, files tree) {
	f.Helper()
	require.NoError(f, publish(f, id, files))
}

// publish is fixture.publish for goroutines that must not end the test: it returns the error.
func publish(x code.Searcher, id string, files tree) error {
	var blobs []code.Blob
	for _, text := range files {
		blobs = append(blobs, blob(text, ""))
	}
	if err := x.PutBlobs(context.Background(), "batch-"+id, blobs); err != nil {
		return err
	}
	return x.Publish(context.Background(), manifest(id, files))
}

// search returns the matches of a query and its stats. A search without a timeout gets an hour,
// because a machine may be loaded. Errors fail the test.
func (f fixture) search(text string, o code.Options) ([]code.Match, code.Stats) {
	f.Helper()
	q, err := code.Parse(text)
	require.NoError(f, err)
	o.Timeout = cmp.Or(o.Timeout, time.Hour)
	var all []code.Match
	stats, err := f.Search(context.Background(), q, o, func(m code.Match) bool {
		all = append(all, m)
		return true
	})
	require.NoError(f, err)
	require.Equal(f, len(all), stats.Matches)
	return all, stats
}

// places returns the sorted places of a query's matches, as ID:PATH:LINE. It fails the test if
// the search stopped early.
func (f fixture) places(text string) []string {
	f.Helper()
	matches, stats := f.search(text, code.Options{})
	require.Empty(f, stats.Stopped)
	places := []string{}
	for _, m := range matches {
		places = append(places, place(m))
	}
	slices.Sort(places)
	return places
}

func place(m code.Match) string { return fmt.Sprintf("%s:%s:%d", m.RepoID, m.Path, m.Line) }
