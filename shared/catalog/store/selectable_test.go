package store

import (
	"errors"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
)

func TestTheSetOfClipsIsReadOnceUntilOneChanges(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 1, 2)
	read := func() *clipSet {
		t.Helper()
		set, err := s.selectable(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	first := read()
	if read() != first {
		t.Fatal("it is read again")
	}
	for _, change := range []func() error{
		func() error { _, err := s.SetClipPriority(t.Context(), first.items[1].ID, new(int64(9))); return err },
		func() error { _, err := s.SetClipPriority(t.Context(), first.items[1].ID, nil); return err },
		func() error { return s.RemoveOrigin(t.Context(), "spots") },
	} {
		before := read()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if read() == before {
			t.Fatal("it is not read again")
		}
	}
	if n := len(read().items); n != 0 {
		t.Fatalf("%d clips of an origin that was removed", n)
	}
}

// The set must have the stored hashes, and a set that is read meanwhile may lack them.
func TestAHashThatIsLearnedIsInTheSetOnceItIsStored(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 1, 2)
	learn := func(end error) {
		t.Helper()
		if err := s.db.Write(t.Context(), "test", func(c *sqldb.Conn) error {
			v, _, err := versionOf(c, clips, s.clips.items[0].ID)
			if err != nil {
				return err
			}
			if err := (ingestion{store: s, conn: c}).learnHash(s.clips.items[0].ID, v.number, "sha256:x"); err != nil {
				return err
			}
			return end
		}); !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	set, err := s.selectable(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct {
		end  error
		want string
	}{{errors.New("not stored"), ""}, {nil, "sha256:x"}} {
		learn(c.end)
		if s.clips != set || set.items[0].Media.Hash != c.want || set.items[1].Media.Hash != "" {
			t.Fatalf("after an end with %v the set has %+v", c.end, set.items)
		}
		if s.clipsEpoch <= n {
			t.Fatal("a set that is being read would be kept")
		}
	}
	if set.epoch != s.clipsEpoch {
		t.Fatal("the set counts as an older one")
	}
}

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
