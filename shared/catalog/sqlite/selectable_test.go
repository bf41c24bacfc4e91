package sqlite

import (
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
)

// TestASetIsReadWhileAHashIsLearned fails under the race detector if one of the three does not lock: a
// sweep reads the set without the writer, while the end of an ingest sets a hash.
func TestASetIsReadWhileAHashIsLearned(t *testing.T) {
	t.Parallel()
	set := &clipSet{numbers: []uint32{7}, items: []models.ResearchItem{{ID: "a"}}, place: map[string]int{"a": 0}, all: roaring.BitmapOf(7)}
	var all sync.WaitGroup
	all.Go(func() { set.setHash("a", "h") })
	all.Go(func() { set.item(0) })
	all.Go(func() { set.choose(set.all, 1) })
	all.Wait()
	if got := set.item(0).Media.Hash; got != "h" {
		t.Fatalf("the hash is %q", got)
	}
}
