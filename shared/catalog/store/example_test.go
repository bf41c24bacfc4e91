package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
)

// A folder lists one episode and one clip; they are selected, researched, and
// what was found is printed.
func Example() {
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := store.Open(ctx, filepath.Join(dir, "catalog.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	origin := models.Origin{ID: "talk", Kind: models.Media, URI: "/srv/talk"}
	if _, err := store.AddOrigin(ctx, origin); err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	if _, err := store.Curate(ctx, "talk", now, catalog.Listing{
		Episodes: []models.Episode{{Recording: models.Recording{Name: "monday.mp3", Title: "Monday"}}},
		Clips:    []models.Clip{{Recording: models.Recording{Name: "jingle.wav", Title: "Jingle"}}},
	}); err != nil {
		log.Fatal(err)
	}

	work, _, err := store.Select(ctx, nil, catalog.Limits{Clips: 100})
	if err != nil {
		log.Fatal(err)
	}
	clip := work.Clips[0]
	if err := store.Ingest(ctx, models.Researched{
		Episode: work.Episode.ID, EpisodeMedia: work.Episode.Media,
		Clips: []string{clip.ID}, ClipMedia: map[string]models.MediaRef{clip.ID: clip.Media},
		Findings: []models.Finding{{Episode: work.Episode.ID, Clip: clip.ID, Occurrence: models.Occurrence{Offset: 754.56, Duration: 3, Score: 0.99}}},
	}, now); err != nil {
		log.Fatal(err)
	}

	list, err := store.Findings(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range list {
		fmt.Println(f.EpisodeTitle, f.ClipTitle, f.Offset.Clock())
	}
	_, _, err = store.Select(ctx, nil, catalog.Limits{Clips: 100})
	fmt.Println(err)
	// Output:
	// Monday Jingle 12:34.56
	// catalog.Select: nothing left to select: not found
}
