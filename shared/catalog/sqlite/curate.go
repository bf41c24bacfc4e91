package sqlite

import (
	"context"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// Curate is part of catalog.Catalog.
func (s *Store) Curate(ctx context.Context, origin string, at time.Time, l catalog.Listing) (catalog.Curated, error) {
	v := curation{ctx: ctx, id: origin, at: at.UTC(), complete: l.Complete, problems: l.Problems}
	err := s.change(ctx, "catalog.Curate "+origin, func(c *session) (err error) {
		v.c = c
		if v.origin, err = originNumber(c, origin); err != nil {
			return err
		}
		if err := v.episodes(l.Episodes); err != nil {
			return err
		}
		err = s.changeClips(c, func(touched hashes) error {
			v.touched = touched
			return v.clips(l.Clips)
		})
		if err != nil {
			return err
		}
		return replaceItemProblems(c, v.origin, v.problems, v.at)
	})
	if err != nil {
		return catalog.Curated{}, err
	}
	return v.count, nil
}

// curation is one listing on its way into the store.
type curation struct {
	ctx      context.Context
	c        *session
	id       string // of the origin
	origin   int64
	at       time.Time
	complete bool
	touched  hashes // of clips whose hash or presence changed
	problems []models.Problem
	count    catalog.Curated
}

func (v *curation) episodes(list []models.Episode) error {
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		id := models.NewID(v.id, e.Name)
		if v.twice(seen, id, e.Name) {
			continue
		}
		fate, _, err := v.put(episodes, id, e.Recording)
		if err != nil {
			return fmt.Errorf("episode %q: %w", e.Name, err)
		}
		if err := v.c.Exec("UPDATE episode SET aired = ?2 WHERE id = ?1 AND aired <> ?2", id, stamp(e.Aired)); err != nil {
			return err
		}
		if fate == unchanged {
			continue
		}
		if err := openEpisode(v.c, id); err != nil {
			return err
		}
	}
	_, err := v.sweep(episodes, seen)
	return err
}

func (v *curation) clips(list []models.Clip) error {
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		id := models.NewID(v.id, e.Name)
		if v.twice(seen, id, e.Name) {
			continue
		}
		fate, hashes, err := v.put(clips, id, e.Recording)
		if err != nil {
			return fmt.Errorf("clip %q: %w", e.Name, err)
		}
		if fate != unchanged || hashes[0] != hashes[1] {
			v.touched.add(hashes[0], hashes[1])
		}
	}
	gone, err := v.sweep(clips, seen)
	for _, g := range gone {
		v.touched.add(g.hash)
	}
	return err
}

// twice notes that id is listed, and reports whether it had been before; then a
// problem says so, since neither of the two may win by turns.
func (v *curation) twice(seen map[string]bool, id, name string) bool {
	if seen[id] {
		v.problems = append(v.problems, models.Problem{Item: name, Reason: "listed twice under this name; the first was taken"})
		return true
	}
	seen[id] = true
	return false
}

// fate is what a listing did to one recording.
type fate int

const (
	unchanged fate = iota
	reordered      // another priority
	renewed        // new, of another version, or listed again
)

// put stores one listed recording, and returns the hash it had and the one it
// has now.
func (v *curation) put(t table, id string, r models.Recording) (fate, [2]string, error) {
	if r.Name == "" {
		return 0, [2]string{}, fmt.Errorf("a recording needs a name: %w", fault.ErrInvalid)
	}
	if err := v.ctx.Err(); err != nil {
		return 0, [2]string{}, context.Cause(v.ctx)
	}
	r.ID, r.FirstCurated, r.LastCurated = id, v.at, v.at
	if r.Title == "" {
		r.Title = r.Name
	}
	old, known, err := versionOf(v.c, t, id)
	if err != nil {
		return 0, [2]string{}, err
	}
	if known {
		r.FirstCurated = moment(old.first)
		if stamp(v.at) < old.last {
			r.LastCurated = moment(old.last)
		}
	}
	if known && old.version == r.Media.Version {
		f, err := v.keep(t, old, &r)
		return f, [2]string{old.hash, r.Media.Hash}, err
	}
	if known {
		v.count.Changed++
		err = forgetRecording(v.c, t, old.number)
	} else {
		v.count.New++
	}
	if err == nil {
		_, err = insertRecording(v.c, t, v.origin, r)
	}
	return renewed, [2]string{old.hash, r.Media.Hash}, err
}

// keep updates a recording whose version is what it was.
func (v *curation) keep(t table, old version, r *models.Recording) (fate, error) {
	if r.Media.Hash == "" {
		r.Media.Hash = old.hash
	}
	if err := updateRecording(v.c, t, old.number, *r); err != nil {
		return 0, err
	}
	switch {
	case old.gone:
		v.count.Changed++
		return renewed, nil
	case old.priority != r.Priority:
		return reordered, nil
	}
	return unchanged, nil
}

// sweep marks what a complete listing did not name.
func (v *curation) sweep(t table, seen map[string]bool) ([]version, error) {
	if !v.complete {
		return nil, nil
	}
	gone, err := missing(v.c, t, v.origin, seen)
	if err != nil {
		return nil, err
	}
	for _, g := range gone {
		if err := markGone(v.c, t, g.number); err != nil {
			return nil, err
		}
	}
	v.count.Gone += len(gone)
	return gone, nil
}
