package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// Curate works in transactions of a few recordings each. After a kill between two of them the catalog is
// consistent, and curating the listing again completes it. After an error nothing is counted, although a part may
// be stored.
func (s *Store) Curate(ctx context.Context, origin string, at time.Time, l catalog.Listing) (catalog.Curated, error) {
	v := curation{store: s, ctx: ctx, op: "catalog.Curate " + origin, id: origin, at: at.UTC(), problems: redacted(l.Problems)}
	if err := v.run(l); err != nil {
		return catalog.Curated{}, err
	}
	return v.count, nil
}

// curation stores one listing.
type curation struct {
	store    *Store
	ctx      context.Context
	op       string
	id       string // of the origin
	number   int64  // of the origin
	at       time.Time
	problems []models.Problem
	count    catalog.Curated
}

// run stores a listing in steps: the recordings, those that are gone, then the problems. The lock of the origin
// keeps other visits of it out, because each step relies on those before it. Repeating it after an error
// completes it. fault.ErrInvalid: a recording has no name; fault.ErrNotFound: the origin is unknown. Nothing is
// stored then.
func (v *curation) run(l catalog.Listing) error {
	listedEpisodes, listedClips, err := v.prepareAll(l)
	if err != nil {
		return err
	}
	unlock, err := v.store.lockOrigin(v.ctx, v.op, v.id)
	if err != nil {
		return err
	}
	defer unlock()
	err = v.store.db.Read(v.ctx, v.op, func(c *sqldb.Conn) (err error) {
		v.number, err = originNumber(c, v.id)
		return err
	})
	if err != nil {
		return err
	}
	if err := v.curateTable(episodes, listedEpisodes, l.Complete); err != nil {
		return err
	}
	if err := v.curateTable(clips, listedClips, l.Complete); err != nil {
		return err
	}
	if l.Latest {
		if err := v.hideUnlisted(listedEpisodes); err != nil {
			return err
		}
	}
	if err := v.replaceItemProblems(); err != nil {
		return err
	}
	return v.store.deleteRetired(v.ctx, v.op)
}

// listed is one recording of a listing.
type listed struct {
	models.Recording
	aired time.Time // of an episode
}

// prepareAll returns the recordings of a listing as prepare does.
func (v *curation) prepareAll(l catalog.Listing) (listedEpisodes, listedClips []listed, err error) {
	for _, e := range l.Episodes {
		listedEpisodes = append(listedEpisodes, listed{Recording: e.Recording, aired: e.Aired})
	}
	for _, c := range l.Clips {
		listedClips = append(listedClips, listed{Recording: c.Recording})
	}
	if listedEpisodes, err = v.prepare(episodes, listedEpisodes); err != nil {
		return nil, nil, err
	}
	listedClips, err = v.prepare(clips, listedClips)
	return listedEpisodes, listedClips, err
}

// prepare checks the recordings and sets their ids and titles. Of two with one name the first counts; a problem
// states that, because otherwise the two would replace each other at each visit. The result is in the order of
// ids, so that the one to research of several clips with the same content is stored first. It reuses the memory
// of list.
func (v *curation) prepare(t table, list []listed) ([]listed, error) {
	seen := make(map[string]bool, len(list))
	kept := list[:0]
	for _, r := range list {
		if r.Name == "" {
			return nil, fmt.Errorf("%s: %s %q: a recording needs a name: %w", v.op, t, r.Title, fault.ErrInvalid)
		}
		r.Title = cmp.Or(r.Title, r.Name)
		storable(&r.Recording)
		r.ID = models.NewID(v.id, r.Name)
		if seen[r.ID] {
			v.problems = append(slices.Clip(v.problems), models.Problem{Item: r.Name, Reason: "listed twice under this name; the first was taken"})
			continue
		}
		seen[r.ID] = true
		kept = append(kept, r)
	}
	slices.SortFunc(kept, func(a, b listed) int { return cmp.Compare(a.ID, b.ID) })
	return kept, nil
}

// curateTable stores the recordings of list, and then, if the listing is complete, marks those of the origin that
// are not in it as gone. Each recording is a step, so an error leaves the earlier ones stored.
func (v *curation) curateTable(t table, list []listed, complete bool) error {
	next := list
	err := v.runSteps(func(c *sqldb.Conn) (done bool, err error) {
		if len(next) == 0 {
			return true, nil
		}
		stored, err := v.put(c, t, next[0])
		if err != nil {
			return false, fmt.Errorf("%s %q: %w", t, next[0].Name, err)
		}
		if stored {
			next = next[1:]
		}
		return len(next) == 0, nil
	})
	if err != nil || !complete {
		return err
	}
	return v.markGone(t, list)
}

// markGone marks the recordings of the origin that are not in list as gone, in a step each. A gone clip may leave
// a duplicate as the first of its content.
func (v *curation) markGone(t table, list []listed) error {
	var gone []version
	err := v.store.db.Read(v.ctx, v.op, func(c *sqldb.Conn) (err error) {
		gone, err = missing(c, t, v.number, list, "gone = 0")
		return err
	})
	if err != nil {
		return err
	}
	return v.runSteps(func(c *sqldb.Conn) (done bool, err error) {
		if len(gone) == 0 {
			return true, nil
		}
		g := gone[0]
		gone = gone[1:]
		v.count.Gone++
		if err := c.Exec(`UPDATE `+string(t)+` SET gone = 1 WHERE number = ?`, g.number); err != nil || t == episodes {
			return false, err
		}
		v.store.forgetClips(c)
		_, err = v.store.markDuplicates(c, g.hash, g.number)
		return false, err
	})
}

// hideUnlisted marks the episodes that the feed no longer lists, so that their problems are not shown.
// updateRecording unmarks those that it lists again. After an error, those marked stay so; a repeated visit marks
// the rest.
func (v *curation) hideUnlisted(list []listed) error {
	var unlisted []version
	err := v.store.db.Read(v.ctx, v.op, func(c *sqldb.Conn) (err error) {
		unlisted, err = missing(c, episodes, v.number, list, "unlisted = 0")
		return err
	})
	if err != nil || len(unlisted) == 0 {
		return err
	}
	return v.runSteps(func(c *sqldb.Conn) (done bool, err error) {
		err = c.Exec("UPDATE episode SET unlisted = 1 WHERE number = ?", unlisted[0].number)
		unlisted = unlisted[1:]
		return len(unlisted) == 0, err
	})
}

// runSteps calls next in one transaction after the other until it reports done, several times in one transaction
// if it is fast (sqldb.Database.Steps).
func (v *curation) runSteps(next func(*sqldb.Conn) (done bool, err error)) error {
	return v.store.db.Steps(v.ctx, v.op, next)
}

// put stores one listed recording, and what follows from it: an episode becomes a candidate if it is new or has
// another priority, and a clip may be a duplicate or have some. A changed episode keeps its row, because its
// findings stay until it is researched again; a changed clip gets a new row. It returns false if it must be
// called again in another transaction, because the old version of an episode has much to delete; nothing is
// counted then.
func (v *curation) put(c *sqldb.Conn, t table, r listed) (stored bool, err error) {
	r.FirstCurated, r.LastCurated = v.at, v.at
	old, known, err := versionOf(c, t, r.ID)
	if err != nil {
		return false, err
	}
	number, renewed := old.number, true // renewed: new, of another version, or listed again after it was gone
	if known {
		r.FirstCurated, r.LastCurated = moment(old.first), moment(max(old.last, stamp(v.at)))
	}
	switch {
	case known && old.listed == r.Media.Version:
		r.Media.Hash = cmp.Or(r.Media.Hash, old.hash)
		renewed = old.gone
		if renewed {
			v.count.Changed++
		}
		err = updateRecording(c, t, number, r.Recording)
	case known && t == episodes: // of another version; its row stays, because its findings do
		if cleared, err := clearResearch(c, number); err != nil || !cleared {
			return false, err
		}
		v.count.Changed++
		if err = updateRecording(c, t, number, r.Recording); err == nil {
			err = c.Exec("UPDATE episode SET version = ?, listed_version = NULL, audio_uri = '' WHERE number = ?", r.Media.Version, number)
		}
	case known: // a clip of another version, whose findings go with its row
		v.count.Changed++
		if err = retire(c, t, old.number); err == nil {
			number, err = v.insert(c, t, r, old)
		}
	default:
		v.count.New++
		number, err = v.insert(c, t, r, old)
	}
	if err != nil {
		return false, err
	}
	if t == episodes {
		return true, v.putEpisode(c, r, old, number, renewed)
	}
	return true, v.putClip(c, r, old, number, renewed)
}

// insert makes a row for a recording, which is new or replaces an old one, and returns its number. It keeps the
// priority of the old one if the user set it.
func (v *curation) insert(c *sqldb.Conn, t table, r listed, old version) (number int64, err error) {
	number, err = insertRecording(c, t, v.number, r.Recording)
	if err == nil && old.prioritySet {
		err = fixPriority(c, t, number, old.priority)
	}
	return number, err
}

// putEpisode stores what follows from a stored episode: its date, and whether it is a candidate. old is the
// episode before, zero if it is new. renewed means that it is new, of another version, or listed again.
func (v *curation) putEpisode(c *sqldb.Conn, r listed, old version, number int64, renewed bool) error {
	if err := c.Exec("UPDATE episode SET aired = ?2 WHERE number = ?1 AND aired <> ?2", number, stamp(r.aired)); err != nil {
		return err
	}
	if renewed || old.priority != r.Priority && !old.prioritySet {
		return openEpisode(c, r.ID)
	}
	return c.Exec("UPDATE candidate SET aired = ?2, title = ?3 WHERE episode = ?1 AND (aired <> ?2 OR title <> ?3)", number, stamp(r.aired), r.Title)
}

// putClip stores what follows from a stored clip. renewed means that it is new, of another version, or listed
// again: then all episodes are candidates. number is its number now; old is the clip before, empty if it is new.
// With another hash, the clips of the old and of the new hash get new duplicates.
func (v *curation) putClip(c *sqldb.Conn, r listed, old version, number int64, renewed bool) error {
	v.store.forgetClips(c)
	if renewed {
		if err := reopenEpisodes(c); err != nil {
			return err
		}
	}
	if !renewed && old.hash == r.Media.Hash {
		return nil
	}
	for _, hash := range slices.Compact([]string{old.hash, r.Media.Hash}) {
		if _, err := v.store.markDuplicates(c, hash, number); err != nil {
			return err
		}
	}
	return nil
}

// redacted returns the problems without the users and passwords of URLs.
func redacted(problems []models.Problem) []models.Problem {
	clean := slices.Clone(problems)
	for i := range clean {
		clean[i].Item, clean[i].Reason = shown(clean[i].Item), shown(clean[i].Reason)
	}
	return clean
}

// replaceItemProblems makes the problems of the listing the item problems of the origin. One that was stored
// before with the same item and reason stays, with its date. It changes one problem in each step; repeating it
// after an error completes it.
func (v *curation) replaceItemProblems() error {
	stored, err := v.storedItemProblems()
	if err != nil {
		return err
	}
	var added []models.Problem
	for _, p := range v.problems {
		key := itemProblem{p.Item, p.Reason}
		if len(stored[key]) > 0 {
			stored[key] = stored[key][1:]
		} else {
			added = append(added, p)
		}
	}
	var removed []int64
	for _, numbers := range stored {
		removed = append(removed, numbers...)
	}
	if len(added)+len(removed) == 0 {
		return nil
	}
	return v.runSteps(func(c *sqldb.Conn) (done bool, err error) {
		switch {
		case len(removed) > 0:
			err = c.Exec("DELETE FROM problem WHERE number = ?", removed[0])
			removed = removed[1:]
		case len(added) > 0:
			err = c.Exec("INSERT INTO problem (scope, origin, item, reason, at) VALUES (?, ?, ?, ?, ?)",
				scopeItem, v.number, added[0].Item, added[0].Reason, stamp(v.at))
			added = added[1:]
		}
		return len(added)+len(removed) == 0, err
	})
}

// itemProblem is what two item problems of an origin have in common if they are the same.
type itemProblem struct{ item, reason string }

func (v *curation) storedItemProblems() (map[itemProblem][]int64, error) {
	stored := map[itemProblem][]int64{}
	err := v.store.db.Read(v.ctx, v.op, func(c *sqldb.Conn) error {
		return c.All("SELECT number, item, reason FROM problem WHERE origin = ? AND scope = ? ORDER BY at DESC", []any{v.number, scopeItem}, func(row sqldb.Row) error {
			var key itemProblem
			var number int64
			err := row.Scan(&number, &key.item, &key.reason)
			stored[key] = append(stored[key], number)
			return err
		})
	})
	return stored, err
}
