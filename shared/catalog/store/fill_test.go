package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

var today = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// fill curates episodes and clips, with names and addresses of usual length.
func fill(t testing.TB, s *Store, episodes, clips int) {
	t.Helper()
	ctx := context.Background()
	for _, o := range []models.Origin{{ID: "show", Kind: models.Feed, URI: "show"}, {ID: "spots", Kind: models.Clips, URI: "spots"}} {
		if _, err := s.AddOrigin(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	var e, c catalog.Listing
	for i := range episodes {
		e.Episodes = append(e.Episodes, models.Episode{Recording: numbered("https://media.example.org/show/season/", i)})
	}
	for i := range clips {
		c.Clips = append(c.Clips, models.Clip{Recording: numbered("file:///srv/spots/", i)})
	}
	for origin, l := range map[string]catalog.Listing{"show": e, "spots": c} {
		if _, err := s.Curate(ctx, origin, today, l); err != nil {
			t.Fatal(err)
		}
	}
}

func numbered(prefix string, i int) models.Recording {
	name := fmt.Sprintf("recording-%06d.mp3", i)
	return models.Recording{Name: name, Title: fmt.Sprintf("Recording %d of many", i),
		Media: models.MediaRef{URI: prefix + name, Type: "audio/mpeg", Version: fmt.Sprintf("%d-2026-11-21T06:00:00Z", 1<<20+i)}}
}

// research marks pairs as researched at once, which takes Ingest longer.
func research(t testing.TB, s *Store, episodes []int64, set *roaring.Bitmap) {
	t.Helper()
	err := s.db.StepsOf(context.Background(), "research", time.Second, func(c *sqldb.Conn) (done bool, err error) {
		err = saveResearched(c, episodes[0], set)
		episodes = episodes[1:]
		return len(episodes) == 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// firstNumbers is the set of the clips numbered 1 to n.
func firstNumbers(n int) *roaring.Bitmap {
	set := roaring.New()
	set.AddRange(1, uint64(n)+1)
	return set
}

func upTo(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i) + 1
	}
	return list
}
