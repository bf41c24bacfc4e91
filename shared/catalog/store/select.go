package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// Select chooses what to research next (see catalog.Catalog): clips for one episode, or a sweep. It removes the
// candidates that have nothing left, so that the next call does not read them again. A walk past many of them
// takes several transactions, so that other writers need not wait. Errors: fault.ErrNotFound if nothing is left
// to select, fault.ErrInvalid for limits out of range, fault.ErrCorrupt for a damaged set of researched clips.
func (s *Store) Select(ctx context.Context, busy []catalog.Busy, l catalog.Limits) (work models.Research, priority int64, err error) {
	const op = "catalog.Select"
	if l.Clips < 1 || l.Episodes < 0 {
		return work, 0, fmt.Errorf("%s: the limit of clips must be at least 1, and that of episodes at least 0; got %d and %d: %w", op, l.Clips, l.Episodes, fault.ErrInvalid)
	}
	if err := s.endRests(ctx, op); err != nil {
		return work, 0, err
	}
	if err := s.finishReopening(ctx, op); err != nil {
		return work, 0, err
	}
	set, err := s.selectable(ctx, op)
	if err != nil {
		return work, 0, err
	}
	w := walk{store: s, clips: set, busy: set.busy(busy), timeLimit: walkTime}
	var first candidate
	var wantedClips *roaring.Bitmap // of first
	for done := false; !done; {
		err := s.db.Note(ctx, op, func(c *sqldb.Conn) error {
			e, wanted, err := w.findFirst(c) // nil: again in a new transaction; empty: nothing is left
			done = wanted != nil
			if err == nil && done && !wanted.IsEmpty() {
				work = models.Research{Episode: e.item, Clips: set.choose(wanted, l.Clips), Waveform: !e.drawn}
				first, wantedClips, priority = e, wanted, e.priority
			}
			return err
		})
		if err != nil {
			return models.Research{}, 0, err
		}
	}
	if len(work.Clips) == 0 {
		return work, 0, fmt.Errorf("%s: nothing left to select: %w", op, fault.ErrNotFound)
	}
	sweep, err := w.chooseSweep(ctx, op, first, wantedClips, l)
	if err != nil || len(sweep.Episodes) == 0 {
		return work, priority, err
	}
	return sweep, priority, nil
}

// busy returns the numbers of the clips in progress, by the id of the episode. If none of an episode's clips in
// progress is selectable, its set is empty. An entry whose Episode is the id of a selectable clip is a sweep: its
// Clips are the episodes.
func (s *clipSet) busy(list []catalog.Busy) map[string]*roaring.Bitmap {
	byEpisode := make(map[string]*roaring.Bitmap, len(list))
	setOf := func(episode string) *roaring.Bitmap {
		if byEpisode[episode] == nil {
			byEpisode[episode] = roaring.New()
		}
		return byEpisode[episode]
	}
	for _, b := range list {
		if i, ok := s.place[b.Episode]; ok { // a sweep
			for _, episode := range b.Clips {
				setOf(episode).Add(s.numbers[i])
			}
			continue
		}
		for _, id := range b.Clips {
			if i, ok := s.place[id]; ok {
				setOf(b.Episode).Add(s.numbers[i])
			} else {
				setOf(b.Episode) // empty: the episode is in progress
			}
		}
	}
	return byEpisode
}

// candidate is an episode that may have something to select.
type candidate struct {
	number     int64
	item       models.ResearchItem
	priority   int64
	drawn      bool   // the catalog has its waveform
	closed     bool   // the episode is gone, has a problem or rests, so nothing is selected for it
	researched []byte // the set of its researched clips, as loadResearched decodes it
}

// walk goes through the candidates in the order of selection.
type walk struct {
	store     *Store
	clips     *clipSet
	busy      map[string]*roaring.Bitmap // see clipSet.busy
	timeLimit time.Duration              // of one transaction that removes candidates
}

// walkTime is for how long one transaction goes through candidates.
const walkTime = 5 * time.Millisecond

// findFirst returns the first candidate with clips to select, and the set of these. An empty set means that no
// candidate has any. nil, without an error, means that the caller must call it again in a new transaction,
// because this one has kept the writer for long. On the way it removes the candidates that have nothing left;
// those that wait for busy clips stay. It returns nil only after it removed at least one, so repeating it comes
// to an end.
func (w walk) findFirst(c *sqldb.Conn) (candidate, *roaring.Bitmap, error) {
	began := time.Now()
	kept, removed := 0, false // candidates passed that stay, and whether one was removed
	for {
		page, err := candidates(c, kept, pageSize)
		if err != nil {
			return candidate{}, nil, err
		}
		if len(page) == 0 {
			return candidate{}, roaring.New(), nil
		}
		var done []int64
		for _, e := range page {
			wanted, finished, err := w.wanted(c, e)
			if err != nil {
				return candidate{}, nil, err
			}
			if !wanted.IsEmpty() {
				return e, wanted, w.removeCandidates(c, done)
			}
			if finished {
				done = append(done, e.number)
			} else {
				kept++
			}
		}
		if err := w.removeCandidates(c, done); err != nil {
			return candidate{}, nil, err
		}
		removed = removed || len(done) > 0
		if removed && time.Since(began) > w.timeLimit {
			return candidate{}, nil, nil
		}
	}
}

// removeCandidates removes the candidates with these numbers, at most pageSize, because they have nothing to select. If a clip has
// changed since the set of selectable clips was read, it may have become selectable for them: then all episodes
// become candidates again.
func (w walk) removeCandidates(c *sqldb.Conn, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	if err := c.Exec("DELETE FROM candidate WHERE episode IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...); err != nil {
		return err
	}
	if w.clips.epoch != w.store.clipsEpoch {
		return reopenEpisodes(c)
	}
	return nil
}

// wanted returns the clips that may be selected for an episode now: the selectable ones that are
// neither researched, a problem of the pair, nor busy. An episode without any researched clip gets
// none while one of its clips is busy, because a worker is decoding it and a second one would
// decode it too. finished is true if there would be none either if nothing were busy: the episode
// is done. The set is nil only with an error: fault.ErrCorrupt for a damaged set of researched
// clips, or another one of the file.
func (w walk) wanted(c *sqldb.Conn, e candidate) (set *roaring.Bitmap, finished bool, err error) {
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
	if err := removePairProblems(c, e.number, set); err != nil || set.IsEmpty() {
		return set, true, err
	}
	if busy := w.busy[e.item.ID]; busy != nil {
		if researched.IsEmpty() {
			return roaring.New(), false, nil
		}
		set.AndNot(busy)
	}
	return set, false, nil
}

// pageSize is how many candidates a walk reads at a time; it rarely passes many.
const pageSize = 16

// candidates reads at most limit candidates in the order of selection, the highest priority first, without the
// first skip of them. If the media need the user of the origin's URL, the item names the origin, so that a worker
// can ask for it. closed tells that the episode is gone, has a problem
// or rests, so that nothing of it may be selected.
func candidates(c *sqldb.Conn, skip, limit int) (page []candidate, err error) {
	err = c.All(`SELECT e.number, e.id, e.title, e.uri, e.type, e.version, e.hash, e.priority, r.clips, o.id, o.uri,
			EXISTS (SELECT 1 FROM waveform w WHERE w.episode = e.number), e.gone <> 0 OR EXISTS (SELECT 1 FROM problem p WHERE p.episode = e.number AND p.scope IN ('episode', 'rest'))
		FROM candidate c JOIN episode e ON e.number = c.episode JOIN origin o ON o.number = e.origin LEFT JOIN researched r ON r.episode = c.episode
		ORDER BY c.priority DESC, c.first_curated DESC, c.aired DESC, c.title, c.id LIMIT ? OFFSET ?`, []any{limit, skip}, func(row sqldb.Row) error {
		var e candidate
		i := &e.item
		var origin, originURI string
		err := row.Scan(&e.number, &i.ID, &i.Title, &i.Media.URI, &i.Media.Type, &i.Media.Version, &i.Media.Hash,
			&e.priority, &e.researched, &origin, &originURI, &e.drawn, &e.closed)
		if models.WithUserOf(originURI, i.Media.URI) != i.Media.URI {
			i.Media.Origin = origin
		}
		page = append(page, e)
		return err
	})
	return page, err
}

func removePairProblems(c *sqldb.Conn, episode int64, set *roaring.Bitmap) error {
	return c.All("SELECT clip FROM problem WHERE episode = ? AND scope = 'pair'", []any{episode}, func(row sqldb.Row) error {
		var n uint32
		err := row.Scan(&n)
		set.Remove(n)
		return err
	})
}
