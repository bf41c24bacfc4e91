package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

func candidatesOf(t *testing.T, s *Store) int64 {
	t.Helper()
	return number(t, s, "SELECT count(*) FROM candidate")
}

func TestSelectStrikesOutEpisodesThatHaveNothingLeft(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 100, 10)
	if got := candidatesOf(t, s); got != 100 {
		t.Fatalf("%d candidates at first", got)
	}
	work, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 1})
	if err != nil {
		t.Fatal(err)
	}
	busy := []catalog.Busy{{Episode: work.Episode.ID}}
	for _, i := range work.Clips {
		busy[0].Clips = append(busy[0].Clips, i.ID)
	}
	research(t, s, upTo(100), firstNumbers(10))
	research(t, s, []int64{50}, firstNumbers(9))
	if _, _, err := s.Select(context.Background(), busy, catalog.Limits{Clips: 1}); err != nil {
		t.Fatal(err)
	}
	research(t, s, []int64{50}, firstNumbers(10))
	requireNothingLeft(t, s, busy, 1)
}

// requireNothingLeft fails unless Select finds nothing and strikes out all candidates.
func requireNothingLeft(t *testing.T, s *Store, busy []catalog.Busy, clips int) {
	t.Helper()
	if _, _, err := s.Select(t.Context(), busy, catalog.Limits{Clips: clips}); !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
	if got := candidatesOf(t, s); got != 0 {
		t.Fatalf("%d candidates are left", got)
	}
	if got := number(t, s, "SELECT count(*) FROM reopening"); got != 0 {
		t.Fatal("all episodes are to become candidates again, though no clip has changed")
	}
}

// A walk past many candidates must not keep the writer for long, nor be repeated without an end.
func TestAWalkThatTakesLongEndsAfterItRemovedCandidatesAndNotBefore(t *testing.T) {
	t.Parallel()
	const episodes = 2*pageSize + 8
	s := openStore(t, newPath(t))
	fill(t, s, episodes, 1)
	set, err := s.selectable(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	late := walk{store: s, clips: set, busy: map[string]*roaring.Bitmap{}, timeLimit: -1}
	step := func(w walk) (ended bool) {
		t.Helper()
		if err := s.db.Write(t.Context(), "test", func(c *sqldb.Conn) error {
			_, wanted, err := w.findFirst(c)
			ended = wanted != nil
			if ended && !wanted.IsEmpty() {
				t.Error("a clip is selected")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return ended
	}
	all, err := s.Episodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		late.busy[e.ID] = set.all
	}
	if !step(late) || candidatesOf(t, s) != episodes {
		t.Fatal("a walk past candidates that stay goes on to the end")
	}
	research(t, s, upTo(episodes), firstNumbers(1))
	for _, left := range []int64{episodes - pageSize, episodes - 2*pageSize, 0} {
		if step(late) || candidatesOf(t, s) != left {
			t.Fatalf("%d candidates are left, want %d", candidatesOf(t, s), left)
		}
	}
	if !step(late) {
		t.Fatal("nothing is left, and the walk has no end")
	}
	if err := reopen(t, s); err != nil {
		t.Fatal(err)
	}
	late.timeLimit = time.Hour
	if !step(late) || candidatesOf(t, s) != 0 {
		t.Fatal("a walk with time goes on to the end")
	}
}

// reopen makes all episodes candidates.
func reopen(t *testing.T, s *Store) error {
	t.Helper()
	if err := s.db.Write(t.Context(), "test", reopenEpisodes); err != nil {
		return err
	}
	return s.finishReopening(t.Context(), "test")
}

func TestSelectStrikesOutEpisodesWhereAllThatIsLeftIsAProblem(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 3, 2)
	for range 3 {
		work, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 2})
		if err != nil {
			t.Fatal(err)
		}
		r := models.Researched{Episode: work.Episode.ID, EpisodeMedia: work.Episode.Media, ClipMedia: map[string]models.MediaRef{}, Problem: "unreachable", Scope: models.ScopePair}
		for _, c := range work.Clips {
			r.Clips, r.ClipMedia[c.ID] = append(r.Clips, c.ID), c.Media
		}
		if err := s.Ingest(context.Background(), r, today); err != nil {
			t.Fatal(err)
		}
	}
	requireNothingLeft(t, s, nil, 2)
}

func TestSelectKeepsEpisodesWhoseProblemsCannotBeRead(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 1, 1)
	if err := s.db.Write(t.Context(), "spoil", func(c *sqldb.Conn) error {
		const number = 1 << 33 // no number of a clip is as large
		err := c.Exec(`INSERT INTO clip (number, id, origin, name, title, priority, uri, type, version, hash, first_curated, last_curated, gone)
			SELECT ?, 'spoilt', origin, name, title, priority, uri, type, version, hash, first_curated, last_curated, 1 FROM clip`, number)
		if err != nil {
			return err
		}
		return c.Exec("INSERT INTO problem (scope, episode, clip, reason, at) SELECT 'pair', number, ?, 'spoilt', 0 FROM episode", number)
	}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 1}); err == nil || errors.Is(err, fault.ErrNotFound) {
		t.Fatalf("got %v", err)
	}
	if got := candidatesOf(t, s); got != 1 {
		t.Fatalf("%d candidates", got)
	}
}

func TestSelectKeepsEpisodesWhereAllThatIsLeftIsBusy(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 1, 1)
	work, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 1})
	if err != nil {
		t.Fatal(err)
	}
	busy := []catalog.Busy{{Episode: work.Episode.ID, Clips: []string{work.Clips[0].ID}}}
	if _, _, err := s.Select(context.Background(), busy, catalog.Limits{Clips: 1}); !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
	if got := candidatesOf(t, s); got != 1 {
		t.Fatalf("%d candidates", got)
	}
}

// A walk that began before a clip was listed closes an episode for lack of clips, after
// another call has opened all episodes for that clip.
func TestAnEpisodeThatIsClosedWithAnOlderSetOfClipsIsOpenedAgain(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 1, 1)
	research(t, s, upTo(1), firstNumbers(1))
	old, err := s.selectable(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	l := catalog.Listing{Clips: []models.Clip{{Recording: numbered("file:///srv/spots/", 7)}}}
	if _, err := s.Curate(t.Context(), "spots", today, l); err != nil {
		t.Fatal(err)
	}
	if err := s.finishReopening(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	err = s.db.Write(t.Context(), "test", func(c *sqldb.Conn) error {
		_, wanted, err := walk{store: s, clips: old}.findFirst(c)
		if err == nil && wanted != nil && !wanted.IsEmpty() { // nil: the walk took long
			t.Error("the older set has no clip that is left")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if work, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 1}); err != nil || len(work.Clips) != 1 {
		t.Fatalf("got %+v, %v", work, err)
	}
}

// A process that dies after a clip was stored, and before its listing is complete, leaves
// a note that all episodes must be opened; curating the listing again completes it.
func TestAListingThatWasCutOffIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openStore(t, path)
	fill(t, s, 3, 10)
	research(t, s, upTo(3), firstNumbers(10))
	if _, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 1}); !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
	var l catalog.Listing
	for i := range 30 {
		r := numbered("file:///srv/spots/", i)
		if i < 5 {
			r.Media.Version = "another"
		}
		l.Clips = append(l.Clips, models.Clip{Recording: r})
	}
	l.Complete = true
	for cut := range 12 { // one more transaction of three recordings succeeds each time
		n, died := 0, errors.New("died")
		v := curation{store: s, ctx: t.Context(), op: "test", id: "spots", at: today}
		list, err := v.prepare(clips, toListed(l.Clips))
		if err != nil {
			t.Fatal(err)
		}
		v.number = 2
		for n <= cut && len(list) > 0 {
			some := list[:min(3, len(list))]
			list = list[len(some):]
			n++
			if err := s.db.Write(t.Context(), "test", func(c *sqldb.Conn) error {
				for _, r := range some {
					if _, err := v.put(c, clips, r); err != nil {
						return err
					}
				}
				if n > cut {
					return died
				}
				return nil
			}); err != nil && !errors.Is(err, died) {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, path)
	}
	if _, err := s.Curate(t.Context(), "spots", today, l); err != nil {
		t.Fatal(err)
	}
	for {
		work, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 100})
		if errors.Is(err, fault.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ingest(t.Context(), doneWith(work), today); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Totals(t.Context())
	if err != nil || got.Clips != 30 || got.Researched != 90 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if n := number(t, s, "SELECT count(*) FROM clip WHERE gone = 2"); n != 0 {
		t.Fatalf("%d retired clips are left", n)
	}
}

func toListed(all []models.Clip) (list []listed) {
	for _, c := range all {
		list = append(list, listed{Recording: c.Recording})
	}
	return list
}
