package sqlite

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// Select is part of catalog.Catalog.
func (s *Store) Select(ctx context.Context, busy []catalog.Busy, limit int) (work models.Research, priority int64, err error) {
	const op = "catalog.Select"
	if limit < 1 {
		return work, 0, fmt.Errorf("%s: the limit of clips must be at least 1; got %d: %w", op, limit, fault.ErrInvalid)
	}
	err = s.use(ctx, op, func(c *session) error {
		set, err := s.selectable(c)
		if err != nil {
			return err
		}
		w := walk{c: c, clips: set, busy: set.busy(busy)}
		e, wanted, err := w.first(ctx)
		if err != nil {
			return err
		}
		work = models.Research{Episode: e.item, Clips: set.choose(wanted, limit)}
		priority = e.priority
		return nil
	})
	return work, priority, err
}

// busy gives the numbers of the busy clips by the episode's id. Clips that
// cannot be selected anyway are left out.
func (s *clipSet) busy(list []catalog.Busy) map[string]*roaring.Bitmap {
	m := make(map[string]*roaring.Bitmap, len(list))
	for _, b := range list {
		set := m[b.Episode]
		if set == nil {
			set = roaring.New()
			m[b.Episode] = set
		}
		for _, id := range b.Clips {
			if i, ok := s.place[id]; ok {
				set.Add(s.numbers[i])
			}
		}
	}
	return m
}

// candidate is an episode that may have something to select.
type candidate struct {
	number     int64
	item       models.ResearchItem
	priority   int64
	closed     bool // gone, or a problem for every clip
	researched []byte
}

// walk goes through the candidates in order.
type walk struct {
	c     *session
	clips *clipSet
	busy  map[string]*roaring.Bitmap
}

// first returns the first candidate with something to select, and what that
// is. On the way it strikes out the candidates that have nothing left; those
// where all that is left is busy stay.
func (w walk) first(ctx context.Context) (candidate, *roaring.Bitmap, error) {
	passed := 0 // candidates that stay
	for {
		page, err := candidates(w.c, passed)
		if err != nil {
			return candidate{}, nil, err
		}
		if len(page) == 0 {
			return candidate{}, nil, fmt.Errorf("nothing left to select: %w", fault.ErrNotFound)
		}
		var done []int64
		for _, e := range page {
			wanted, settled, err := w.wanted(e)
			if err != nil {
				return candidate{}, nil, err
			}
			if !wanted.IsEmpty() {
				return e, wanted, closeEpisodes(w.c, done)
			}
			if settled {
				done = append(done, e.number)
			} else {
				passed++
			}
		}
		if err := closeEpisodes(w.c, done); err != nil {
			return candidate{}, nil, err
		}
		if ctx.Err() != nil {
			return candidate{}, nil, context.Cause(ctx)
		}
	}
}

// wanted returns the clips that may be selected for an episode; settled says
// that there are none even without regard to the busy ones.
func (w walk) wanted(e candidate) (set *roaring.Bitmap, settled bool, err error) {
	if e.closed {
		return roaring.New(), true, nil
	}
	researched, err := decodeResearched(e.number, e.researched)
	if err != nil {
		return nil, false, err
	}
	set = roaring.AndNot(w.clips.all, researched)
	if set.IsEmpty() {
		return set, true, nil
	}
	if err := removePairProblems(w.c, e.number, set); err != nil || set.IsEmpty() {
		return set, true, err
	}
	if busy := w.busy[e.item.ID]; busy != nil {
		set.AndNot(busy)
	}
	return set, false, nil
}

// candidates reads the next few candidates after the first skip.
func candidates(c *session, skip int) (page []candidate, err error) {
	err = c.All(`SELECT e.number, e.id, e.title, e.uri, e.type, e.version, e.hash, e.priority, r.clips,
			e.gone OR EXISTS (SELECT 1 FROM problem p WHERE p.episode = e.number AND p.scope = 'episode')
		FROM candidate c JOIN episode e ON e.number = c.episode LEFT JOIN researched r ON r.episode = c.episode
		ORDER BY c.priority DESC, c.first_curated DESC, c.id LIMIT 16 OFFSET ?`, []any{skip}, func(row scanner) error {
		var e candidate
		i := &e.item
		err := row.Scan(&e.number, &i.ID, &i.Title, &i.Media.URI, &i.Media.Type, &i.Media.Version, &i.Media.Hash,
			&e.priority, &e.researched, &e.closed)
		page = append(page, e)
		return err
	})
	return page, err
}

// removePairProblems takes from set the clips that are a problem in an episode.
func removePairProblems(c *session, episode int64, set *roaring.Bitmap) error {
	return c.All("SELECT clip FROM problem WHERE episode = ? AND scope = 'pair'", []any{episode}, func(row scanner) error {
		var n uint32
		err := row.Scan(&n)
		set.Remove(n)
		return err
	})
}
