package store

import (
	"context"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
)

// clipSet is the clips that Select may choose: neither gone nor, for all
// episodes, a problem or at rest.
type clipSet struct {
	numbers []uint32 // in the order of selection
	mu      sync.RWMutex
	items   []models.ResearchItem // mu guards the hashes of their media, the only fields that change
	place   map[string]int        // indices in numbers and items, by id
	all     *roaring.Bitmap       // of numbers
	epoch   int                   // Store.clipsEpoch before it was read; the writer's user may use it
}

// isSelectable is the condition on a row of clip for that.
const isSelectable = `gone = 0 AND NOT EXISTS (SELECT 1 FROM problem p
	WHERE p.clip = clip.number AND p.scope IN ('clip', 'duplicate', 'rest'))`

// selectable returns the set that Store keeps or, if it may have changed, reads it. If a clip changes while it
// reads, it returns the set and does not keep it; its epoch tells the caller. It takes the writer to access
// Store.clips, which the writer guards, and reads without it, because that takes long. Callers must not change
// the set, which others use too.
func (s *Store) selectable(ctx context.Context, op string) (*clipSet, error) {
	set := &clipSet{place: map[string]int{}, all: roaring.New()}
	var kept *clipSet
	err := s.db.Write(ctx, op, func(*sqldb.Conn) error {
		kept, set.epoch = s.clips, s.clipsEpoch
		return nil
	})
	if err != nil || kept != nil {
		return kept, err
	}
	err = s.db.Read(ctx, op, func(c *sqldb.Conn) error {
		return c.All(`SELECT number, id, title, uri, type, version, hash FROM clip WHERE `+isSelectable+`
			ORDER BY priority DESC, first_curated DESC, id`, nil, func(row sqldb.Row) error {
			var number uint32
			var i models.ResearchItem
			err := row.Scan(&number, &i.ID, &i.Title, &i.Media.URI, &i.Media.Type, &i.Media.Version, &i.Media.Hash)
			set.place[i.ID] = len(set.items)
			set.numbers, set.items = append(set.numbers, number), append(set.items, i)
			set.all.Add(number)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return set, s.db.Write(ctx, op, func(*sqldb.Conn) error {
		if s.clipsEpoch == set.epoch {
			s.clips = set
		}
		return nil
	})
}

// forgetClips makes the next Select read the set of selectable clips again. That takes effect at
// the end of the transaction under way, also if it fails.
func (s *Store) forgetClips(c *sqldb.Conn) {
	c.OnEnd(func(bool) {
		s.clips = nil
		s.clipsEpoch++
	})
}

// choose returns the first wanted clips in the order of selection, at most limit of them. It
// relies on items being in that order.
func (s *clipSet) choose(wanted *roaring.Bitmap, limit int) []models.ResearchItem {
	s.mu.RLock()
	defer s.mu.RUnlock()
	limit = min(limit, int(wanted.GetCardinality()))
	chosen := make([]models.ResearchItem, 0, limit)
	for i, n := range s.numbers {
		if len(chosen) == limit {
			break
		}
		if wanted.Contains(n) {
			chosen = append(chosen, s.items[i])
		}
	}
	return chosen
}

// item returns the clip at a place of the set.
func (s *clipSet) item(place int) models.ResearchItem {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.items[place]
}

// setHash sets the hash of a clip in the set, if the clip is in it. Others may select from the set
// meanwhile.
func (s *clipSet) setHash(id, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.place[id]; ok {
		s.items[i].Media.Hash = hash
	}
}
