package sqlite

import (
	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
)

// clipSet is the clips that Select may choose: neither gone nor, for all
// episodes, a problem.
type clipSet struct {
	numbers []uint32 // in the order of selection
	items   []models.ResearchItem
	place   map[string]int // by id, in the two above
	all     *roaring.Bitmap
}

// isSelectable is the condition on a row of clip that says so.
const isSelectable = `gone = 0 AND NOT EXISTS (SELECT 1 FROM problem p
	WHERE p.clip = clip.number AND p.scope IN ('clip', 'duplicate'))`

// selectable returns the set, reading it if it may have changed.
func (s *Store) selectable(c *session) (*clipSet, error) {
	if s.clips != nil {
		return s.clips, nil
	}
	set := &clipSet{place: map[string]int{}, all: roaring.New()}
	err := c.All(`SELECT number, id, title, uri, type, version, hash FROM clip WHERE `+isSelectable+`
		ORDER BY priority DESC, first_curated DESC, id`, nil, func(row scanner) error {
		var number uint32
		var i models.ResearchItem
		err := row.Scan(&number, &i.ID, &i.Title, &i.Media.URI, &i.Media.Type, &i.Media.Version, &i.Media.Hash)
		set.place[i.ID] = len(set.items)
		set.numbers, set.items = append(set.numbers, number), append(set.items, i)
		set.all.Add(number)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.clips = set
	return set, nil
}

// choose returns the first of the wanted clips, at most limit.
func (s *clipSet) choose(wanted *roaring.Bitmap, limit int) []models.ResearchItem {
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

// setHash tells the set of a hash that the store has learnt.
func (s *clipSet) setHash(id, hash string) {
	if i, ok := s.place[id]; ok {
		s.items[i].Media.Hash = hash
	}
}

// selectableNumbers reads just the numbers of the set.
func selectableNumbers(c *session) (*roaring.Bitmap, error) {
	set := roaring.New()
	err := c.All(`SELECT number FROM clip WHERE `+isSelectable, nil, func(row scanner) error {
		var n uint32
		err := row.Scan(&n)
		set.Add(n)
		return err
	})
	return set, err
}

// changeClips runs f, which may change which clips are selectable and adds to
// touched the hashes of the clips that it changes. Afterwards duplicates are as
// they should be, and if the set gained a member, every episode may have
// something to select.
func (s *Store) changeClips(c *session, f func(touched hashes) error) error {
	before, err := selectableNumbers(c)
	if err != nil {
		return err
	}
	s.clips = nil
	touched := hashes{}
	if err := f(touched); err != nil {
		return err
	}
	for h := range touched {
		if _, err := markDuplicates(c, h); err != nil {
			return err
		}
	}
	after, err := selectableNumbers(c)
	if err != nil {
		return err
	}
	if roaring.AndNot(after, before).IsEmpty() {
		return nil
	}
	return openEveryEpisode(c)
}
