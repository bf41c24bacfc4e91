package database

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/visit/policy"
)

// BenchmarkOutcomeBesideCuration curates an origin with 10^5 episodes, or removes it, while
// another goroutine records one outcome after the other, as the coordinator does: first
// the schedule, then the catalog. It reports how long an outcome took (p50, p99 and the
// maximum, in ms), the longest time for which one transaction kept the writer, and the
// time of the whole curation.
//
//	go test ./coordinator/database -run '^$' -bench Curation -benchtime 1x
func BenchmarkOutcomeBesideCuration(b *testing.B) {
	const episodes = 100_000
	listing := func(version string, n int) catalog.Listing {
		l := catalog.Listing{Complete: true}
		for i := range n {
			name := fmt.Sprintf("recording-%06d.mp3", i)
			l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: name, Title: fmt.Sprintf("Recording %d of many", i),
				Media: models.MediaRef{URI: "https://media.example.org/show/season/" + name, Type: "audio/mpeg", Version: version}}})
		}
		return l
	}
	d, err := Open(b.Context(), filepath.Join(b.TempDir(), "catalog.db"), "value", policy.DefaultRules())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, d.Close()) })
	curate := func(l catalog.Listing) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := d.Catalog.Curate(ctx, "show", time.Now(), l)
			return err
		}
	}
	for _, id := range []string{"show", "other"} {
		_, err := d.Catalog.AddOrigin(b.Context(), models.Origin{ID: id, Kind: models.Feed, URI: "https://" + id + ".example"})
		require.NoError(b, err)
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"all new", curate(listing("1", episodes))},
		{"nothing changed", curate(listing("1", episodes))},
		{"all of another version", curate(listing("2", episodes))},
		{"all gone", curate(listing("2", 0))},
		{"removed", func(ctx context.Context) error { return d.Catalog.RemoveOrigin(ctx, "show") }},
	} {
		b.Run(step.name, func(b *testing.B) {
			for range b.N {
				began, done := time.Now(), make(chan error, 1)
				go func() { done <- step.do(b.Context()) }()
				took := recordUntil(b, d, done)
				b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-in-all")
				b.ReportMetric(took[len(took)/2], "ms-p50")
				b.ReportMetric(took[len(took)*99/100], "ms-p99")
				b.ReportMetric(took[len(took)-1], "ms-max")
				b.ReportMetric(float64(d.file.LongestWrite().Microseconds())/1000, "ms-writer")
			}
		})
	}
}

// recordUntil records outcomes until done, and returns how many ms each took, in order of
// length.
func recordUntil(b *testing.B, d *Database, done <-chan error) (took []float64) {
	for {
		select {
		case err := <-done:
			require.NoError(b, err)
			slices.Sort(took)
			return took
		case <-time.After(5 * time.Millisecond):
		}
		o := models.Outcome{Origin: "other", Status: models.Uneventful, At: time.Now(), Digest: "d"}
		began := time.Now()
		_, err := d.Visits.Record(b.Context(), time.Now(), []models.Outcome{o})
		require.NoError(b, err)
		require.NoError(b, d.Catalog.RecordOutcome(b.Context(), o))
		took = append(took, float64(time.Since(began).Microseconds())/1000)
	}
}
