package codesearchtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/codesearch"
)

// A fixture is one index under test.
type fixture struct {
	testing.TB
	codesearch.Searcher
}

// day is the date of the commits of tests.
var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// blob returns a blob of text with the facts that an analysis would find.
func blob(text, lang string, symbols ...codesearch.Symbol) codesearch.Blob {
	return codesearch.Blob{OID: codesearch.OIDOf([]byte(text)), Content: []byte(text), Symbols: symbols,
		BlobInfo: codesearch.BlobInfo{Size: int64(len(text)), Lang: lang}}
}

// tree is the files of a ref: content by path.
type tree map[string]string

// manifest returns a manifest with one ref, main.
func manifest(id string, files tree) codesearch.Manifest {
	m := codesearch.Manifest{RepoID: id, Repo: "example.com/" + id, Refs: []codesearch.Ref{{Name: "main", Commit: "c-" + id, Time: day}}}
	for path, text := range files {
		m.Files = append(m.Files, codesearch.File{Ref: "main", Path: path, OID: codesearch.OIDOf([]byte(text))})
	}
	return m
}

// publish puts the texts of files and publishes them as repository id.
func (f fixture) publish(id string, files tree) {
	f.Helper()
	require.NoError(f, publish(f, id, files))
}

// publish is fixture.publish for goroutines that must not end the test: it returns the error, that
// of PutBlobs or of Publish.
func publish(x codesearch.Searcher, id string, files tree) error {
	var blobs []codesearch.Blob
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
func (f fixture) search(text string, o codesearch.Options) ([]codesearch.Match, codesearch.Stats) {
	f.Helper()
	q, err := codesearch.Parse(text)
	require.NoError(f, err)
	o.Timeout = cmp.Or(o.Timeout, time.Hour)
	var all []codesearch.Match
	stats, err := f.Search(context.Background(), q, o, func(m codesearch.Match) bool {
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
	matches, stats := f.search(text, codesearch.Options{})
	require.Empty(f, stats.Stopped)
	places := []string{}
	for _, m := range matches {
		places = append(places, place(m))
	}
	slices.Sort(places)
	return places
}

func place(m codesearch.Match) string { return fmt.Sprintf("%s:%s:%d", m.RepoID, m.Path, m.Line) }
