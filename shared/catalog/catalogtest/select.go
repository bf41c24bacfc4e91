package catalogtest

import (
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// ranked lists recordings with priorities, in one visit.
func ranked[T any](list []T, priority func(*T) *int64, priorities ...int64) []T {
	for i, p := range priorities {
		*priority(&list[i]) = p
	}
	return list
}

// listRankedEpisodes lists these episodes, and no others, with priorities.
func (w *world) listRankedEpisodes(names []string, priorities ...int64) {
	w.Helper()
	list := ranked(each(names, episode), func(e *models.Episode) *int64 { return &e.Priority }, priorities...)
	w.visit(show, catalog.Listing{Complete: true, Episodes: list})
}

// listRankedClips lists these clips, and no others, with priorities.
func (w *world) listRankedClips(names []string, priorities ...int64) {
	w.Helper()
	list := ranked(each(names, clip), func(c *models.Clip) *int64 { return &c.Priority }, priorities...)
	w.visit(spots, catalog.Listing{Complete: true, Clips: list})
}

// sweeps selects a sweep of a clip in these episodes; of "", no sweep. The order of the episodes
// does not matter.
func (w *world) sweeps(busy []catalog.Busy, l catalog.Limits, clip string, episodes ...string) models.Research {
	w.Helper()
	r, _, err := w.Select(w.ctx, busy, l)
	w.ok(err)
	var got []string
	for _, e := range r.Episodes {
		got = append(got, e.ID)
	}
	want := each(episodes, episodeID)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || clip != "" && (len(r.Clips) != 1 || r.Clips[0].ID != clipID(clip) || r.Episode.ID != "") {
		w.Fatalf("got %+v, want a sweep of %q in %q", r, clip, episodes)
	}
	return r
}

var selectCases = []behaviour{
	{"an empty catalog has nothing to select", func(w *world) { w.requireNothingLeft() }},
	{"episodes without clips have nothing to select", func(w *world) {
		w.episodes("monday")
		w.requireNothingLeft()
	}},
	{"selecting changes nothing: the same is selected until it is researched", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.selects("monday", "jingle")
		w.ingest(result(w.selects("monday", "jingle")))
		w.requireNothingLeft()
	}},
	{"the work carries titles and media", func(w *world) {
		w.episodes("monday@5#sha256:ee")
		w.clips("jingle@6#sha256:cc")
		r := w.selects("monday", "jingle")
		if r.Episode.ID != episodeID("monday") || r.Episode.Media != episode("monday@5#sha256:ee").Media {
			w.Fatalf("got episode %+v", r.Episode)
		}
		if r.Clips[0].ID != clipID("jingle") || r.Clips[0].Media != clip("jingle@6#sha256:cc").Media {
			w.Fatalf("got clip %+v", r.Clips[0])
		}
	}},
	{"the episode with the highest priority is first, and gives the work its priority", func(w *world) {
		w.clips("jingle")
		w.listRankedEpisodes([]string{"low", "high", "middle"}, -1, 5, 2)
		for _, want := range []struct {
			name     string
			priority int64
		}{{"high", 5}, {"middle", 2}, {"low", -1}} {
			r, priority, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 10})
			w.ok(err)
			if r.Episode.Title != "The "+want.name || priority != want.priority {
				w.Fatalf("got %q with %d, want %+v", r.Episode.Title, priority, want)
			}
			w.ingest(result(r))
		}
	}},
	{"a priority changed later counts", func(w *world) {
		w.clips("jingle")
		w.listRankedEpisodes([]string{"a", "b"}, 2, 1)
		w.listRankedEpisodes([]string{"a", "b"}, 2, 3)
		w.selects("b", "jingle")
	}},
	{"of equal priority the latest curated episode is first", func(w *world) {
		w.clips("jingle")
		w.episodes("old")
		w.episodes("old", "new")
		w.episodes("old", "new", "newest")
		w.ingest(result(w.selects("newest", "jingle")))
		w.ingest(result(w.selects("new", "jingle")))
		w.selects("old", "jingle")
	}},
	{"of episodes that were listed together the newest is first, then by title, as Episodes lists them", func(w *world) {
		w.clips("jingle")
		aired := map[string]int{"may": 5, "march": 3, "april": 4, "zebra": 0, "aardvark": 0}
		var list []models.Episode
		for _, name := range []string{"april", "zebra", "may", "aardvark", "march"} {
			e := episode(name)
			if month := aired[name]; month > 0 {
				e.Aired = time.Date(2026, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
			}
			list = append(list, e)
		}
		w.visit(show, catalog.Listing{Complete: true, Episodes: list})
		listed, err := w.Episodes(w.ctx)
		w.ok(err)
		for i, want := range []string{"may", "april", "march", "aardvark", "zebra"} {
			if listed[i].Name != want {
				w.Fatalf("episode %d is %q, want %q", i, listed[i].Name, want)
			}
			w.ingest(result(w.selects(want, "jingle")))
		}
	}},
	{"an episode whose date changes changes its place", func(w *world) {
		w.clips("jingle")
		a, b := episode("a"), episode("b")
		w.visit(show, catalog.Listing{Complete: true, Episodes: []models.Episode{a, b}})
		w.selects("a", "jingle")
		b.Aired = start
		w.visit(show, catalog.Listing{Complete: true, Episodes: []models.Episode{a, b}})
		w.selects("b", "jingle")
	}},
	{"all clips of the first episode come before the next episode", func(w *world) {
		w.clips("a", "b", "c", "d", "e")
		w.episodes("monday", "tuesday")
		for _, want := range []string{"monday", "monday", "monday", "tuesday"} {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 2})
			w.ok(err)
			if r.Episode.Title != titleOf(want) {
				w.Fatalf("got %q, want %q", r.Episode.Title, want)
			}
			w.ingest(result(r))
		}
	}},
	{"clips come by priority, then latest curated, at most the limit", func(w *world) {
		w.episodes("monday")
		w.listRankedClips([]string{"old", "low"}, 0, -1)
		w.listRankedClips([]string{"old", "low", "new", "high"}, 0, -1, 0, 8)
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 3})
		w.ok(err)
		if got, want := titles(r), []string{"The high", "The new", "The old"}; !slices.Equal(got, want) {
			w.Fatalf("got %q, want %q", got, want)
		}
		w.ingest(result(r))
		w.selects("monday", "low")
	}},
	{"a clip added later is selected alone", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle", "advert")
		w.researchAll()
		w.requireNothingLeft()
		w.clips("jingle", "advert", "news")
		for range 2 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			if got := titles(r); len(got) != 1 || got[0] != "The news" {
				w.Fatalf("got %q", got)
			}
			w.ingest(result(r))
		}
		w.requireNothingLeft()
	}},
	{"an episode added later is selected with all clips", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "advert")
		w.researchAll()
		w.episodes("monday", "tuesday")
		w.selects("tuesday", "jingle", "advert")
	}},
	{"busy clips are left out, in their episode only", func(w *world) {
		w.clips("theme")
		w.listRankedEpisodes([]string{"monday", "tuesday"}, 2, 1)
		w.researchAll()
		w.clips("theme", "jingle", "advert")
		busy := []catalog.Busy{{Episode: episodeID("monday"), Clips: []string{clipID("jingle")}}}
		w.selectsWhile(busy, "monday", "advert")
		busy = append(busy, catalog.Busy{Episode: episodeID("monday"), Clips: []string{clipID("advert")}})
		w.selectsWhile(busy, "tuesday", "jingle", "advert")
	}},
	{"a new episode that a worker is about to decode is passed over until it has a result", func(w *world) {
		w.clips("jingle")
		w.listRankedEpisodes([]string{"monday", "tuesday"}, 2, 1)
		first := w.selects("monday", "jingle")
		w.clips("jingle", "advert")
		busy := []catalog.Busy{{Episode: episodeID("monday"), Clips: []string{clipID("jingle")}}}
		w.selectsWhile(busy, "tuesday", "jingle", "advert")
		w.ingest(result(first))
		w.selects("monday", "advert")
		w.listRankedEpisodes([]string{"monday@2", "tuesday"}, 2, 1)
		w.selectsWhile(busy, "tuesday", "jingle", "advert")
	}},
	{"what was busy and came to nothing is selected again", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		busy := []catalog.Busy{{Episode: episodeID("monday"), Clips: []string{clipID("jingle")}}}
		_, _, err := w.Select(w.ctx, busy, catalog.Limits{Clips: 100})
		w.wantErr(err, fault.ErrNotFound)
		w.selects("monday", "jingle")
	}},
	{"busy without clips, or of unknown ids, stands for none", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.selectsWhile([]catalog.Busy{{Episode: episodeID("monday")}, {Episode: "nobody", Clips: []string{"nothing"}}}, "monday", "jingle")
		w.researchAll()
		w.clips("jingle", "advert")
		w.selectsWhile([]catalog.Busy{{Episode: episodeID("monday"), Clips: []string{"nothing"}}}, "monday", "advert")
	}},
	{"the work names the origin of an episode whose server wants its user and password, and has neither", func(w *world) {
		const uri = "https://example.org/one.mp3"
		_, err := w.AddOrigin(w.ctx, models.Origin{ID: "private", Kind: models.Feed, URI: "https://bob:s3cret@example.org/feed.xml", AddedAt: start})
		w.ok(err)
		w.clips("jingle")
		e := episode("one")
		e.Media.URI = uri
		w.visit("private", catalog.Listing{Episodes: []models.Episode{e}})
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 1})
		w.ok(err)
		if m := r.Episode.Media; m.Origin != "private" || m.URI != uri {
			w.Fatalf("got %+v", m)
		}
	}},
	{"a clip that many researched episodes lack is selected for all of them at once", func(w *world) {
		names := []string{"a", "b", "c", "d", "e"}
		w.clips("theme")
		hashed := each(names, func(n string) string { return n + "#sha256:" + n })
		w.listRankedEpisodes(hashed, 1, 1, 1, 1, 1)
		w.researchAll()
		w.listRankedEpisodes(append(hashed, "new", "low"), 1, 1, 1, 1, 1, 1, 0)
		w.clips("theme", "jingle")
		w.ingest(result(w.selects("new", "theme", "jingle"))) // it is first, and not known
		sweep := catalog.Limits{Clips: 10, Episodes: 10}
		r := w.sweeps(nil, sweep, "jingle", "a", "b", "c", "d", "e")
		w.sweeps([]catalog.Busy{{Episode: episodeID("b"), Clips: []string{clipID("jingle")}}}, sweep, "jingle", "a", "c", "d", "e")
		four, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 10, Episodes: 4})
		w.ok(err)
		if len(four.Episodes) != 4 {
			w.Fatalf("got %d episodes, want 4", len(four.Episodes))
		}
		busy := []catalog.Busy{{Episode: clipID("jingle"), Clips: each(names, episodeID)}} // that sweep
		w.selectsWhile(busy, "low", "theme", "jingle")
		for _, l := range []catalog.Limits{{Clips: 10, Episodes: 3}, {Clips: 10}, {Clips: 10, Episodes: 10, Unswept: []string{clipID("jingle")}}} {
			w.sweeps(nil, l, "")
		}
		for _, p := range r.Pairs()[:2] {
			w.ingest(result(p))
		}
		w.sweeps(nil, sweep, "") // three episodes are too few
	}},
	{"an episode whose hash or landmarks are unknown is in no sweep", func(w *world) {
		w.clips("theme")
		names := []string{"a#sha256:a", "b#sha256:b", "c#sha256:c", "d#sha256:d", "unknown"}
		w.listRankedEpisodes(names, 1, 1, 1, 1, 1)
		w.researchAll()
		w.clips("theme", "jingle")
		r := w.sweeps(nil, catalog.Limits{Clips: 10, Episodes: 10}, "jingle", "a", "b", "c", "d")
		for _, p := range r.Pairs()[:1] {
			w.ingest(result(p))
		}
		w.sweeps(nil, catalog.Limits{Clips: 10, Episodes: 10}, "") // three are too few
	}},
	{"more busy episodes than one call takes are all passed over", func(w *world) {
		w.clips("jingle")
		var busy []catalog.Busy
		var names []string
		for _, n := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
			names = append(names, string(n))
		}
		w.episodes("last")
		w.visit(show, catalog.Listing{Episodes: each(names, episode)})
		for i, n := range names {
			if i%3 == 0 { // nothing left here, and to be struck out on the way
				r := result(models.Research{Episode: models.ResearchItem{ID: episodeID(n), Media: episode(n).Media},
					Clips: []models.ResearchItem{{ID: clipID("jingle"), Media: clip("jingle").Media}}})
				w.ingest(r)
				continue
			}
			busy = append(busy, catalog.Busy{Episode: episodeID(n), Clips: []string{clipID("jingle")}})
		}
		w.selectsWhile(busy, "last", "jingle")
		w.selectsWhile(busy, "last", "jingle")
	}},
}
