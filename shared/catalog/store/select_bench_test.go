package store

import (
	"context"
	"testing"
	"time"

	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/pgsql"
	"leasehold/shared/catalog/sqldb"
)

// BenchmarkSelect selects among 10^5 episodes and 10^4 clips when nearly all are
// researched: of every thousandth episode the last 50 clips are left.
// "and go on" ingests the two clips chosen each time, so that it must walk to
// the next episode with work, past a thousand without, every 25 times; "again"
// selects the same, while four other episodes are busy.
//
//	go test ./shared/catalog/store -run '^$' -bench Select -benchtime 1000x
func BenchmarkSelect(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) { benchSelect(b, openStore(b, newPath(b))) })
	b.Run("PostgreSQL", func(b *testing.B) {
		server := pgserver.New(b, pgserver.Durable)
		db, err := pgsql.Open(b.Context(), pgsql.Options{URL: server.URL("postgres"), Realm: "bench", Name: "catalog", Schemas: []sqldb.Schema{Schema()}})
		if err != nil {
			b.Fatal(err)
		}
		s := New(db, nil)
		b.Cleanup(func() { s.Close() })
		benchSelect(b, s)
	})
}

func benchSelect(b *testing.B, s *Store) {
	const episodes, clips = 100_000, 10_000
	began := time.Now()
	fill(b, s, episodes, clips)
	b.Logf("curated %d episodes and %d clips in %v", episodes, clips, time.Since(began))
	research(b, s, upTo(episodes), firstNumbers(clips))
	for e := int64(1); e <= episodes; e += 1000 {
		research(b, s, []int64{e}, firstNumbers(clips-50))
	}
	began = time.Now()
	if _, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 100}); err != nil {
		b.Fatal(err)
	}
	b.Logf("the first Select took %v", time.Since(began))
	b.Run("and go on", func(b *testing.B) { benchGoOn(b, s) })
	b.Run("again", func(b *testing.B) { benchAgain(b, s) })
}

func benchGoOn(b *testing.B, s *Store) {
	var selecting time.Duration
	for b.Loop() {
		before := time.Now()
		work, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 2})
		selecting += time.Since(before)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Ingest(context.Background(), doneWith(work), today); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(selecting.Microseconds())/float64(b.N), "µs/select")
}

func benchAgain(b *testing.B, s *Store) {
	var busy []catalog.Busy
	for range 5 {
		work, _, err := s.Select(context.Background(), busy, catalog.Limits{Clips: 100})
		if err != nil {
			b.Fatal(err)
		}
		done := doneWith(work)
		busy = append(busy, catalog.Busy{Episode: done.Episode, Clips: done.Clips})
	}
	busy = busy[:4]
	for b.Loop() {
		if _, _, err := s.Select(context.Background(), busy, catalog.Limits{Clips: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

// doneWith is the result of research that found nothing.
func doneWith(w models.Research) models.Researched {
	r := models.Researched{Episode: w.Episode.ID, EpisodeMedia: w.Episode.Media, ClipMedia: map[string]models.MediaRef{}}
	for _, c := range w.Clips {
		r.Clips = append(r.Clips, c.ID)
		r.ClipMedia[c.ID] = c.Media
	}
	return r
}
