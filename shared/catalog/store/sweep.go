package store

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

// chooseSweep chooses one clip and the episodes in which it is searched for. clips are those that the first
// candidate lacks; it takes the first one not in l.Unswept. The episodes are at most l.Episodes candidates with
// the priority of the first one that lack the clip too and have been researched for other clips, so that workers
// have their landmarks; these are stored by hash, so an episode without a known hash is left out. If there are
// fewer than SweepShare episodes for each of clips, it returns the zero Research, and Select selects by episode.
// It reads without the writer, so the result may be out of date, as with Select; work.Issue checks that.
func (w walk) chooseSweep(ctx context.Context, op string, first candidate, clips *roaring.Bitmap, l catalog.Limits) (r models.Research, err error) {
	least := catalog.SweepShare * int(clips.GetCardinality())
	if l.Episodes < least || len(first.researched) == 0 {
		return r, nil
	}
	clip, ok := w.clips.unswept(clips, l.Unswept)
	if !ok {
		return r, nil
	}
	r.Clips = []models.ResearchItem{w.clips.item(clip)}
	err = w.store.db.Read(ctx, op, func(c *sqldb.Conn) error {
		r.Episodes = nil
		for skip := 0; len(r.Episodes) < l.Episodes; {
			page, err := candidates(c, skip, l.Episodes)
			if err != nil || len(page) == 0 {
				return err
			}
			skip += len(page)
			for _, e := range page {
				if e.priority < first.priority { // and so are all that follow
					return nil
				}
				wanted, _, err := w.wanted(c, e)
				if err != nil {
					return err
				}
				hasLandmarks := len(e.researched) > 0 && e.item.Media.Hash != ""
				if hasLandmarks && wanted.Contains(w.clips.numbers[clip]) && len(r.Episodes) < l.Episodes {
					r.Episodes = append(r.Episodes, e.item)
				}
			}
		}
		return nil
	})
	if len(r.Episodes) < least {
		return models.Research{}, err
	}
	return r, err
}

// unswept returns the index in s of the first of the wanted clips, in the order of selection, whose
// id is not in ids. ok is false if there is none.
func (s *clipSet) unswept(wanted *roaring.Bitmap, ids []string) (place int, ok bool) {
	for i, n := range s.numbers {
		if wanted.Contains(n) && !slices.Contains(ids, s.items[i].ID) {
			return i, true
		}
	}
	return 0, false
}
