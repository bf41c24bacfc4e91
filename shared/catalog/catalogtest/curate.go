package catalogtest

import (
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// oneEpisode and oneClip return the only listed one.
func (w *world) oneEpisode() models.Episode {
	w.Helper()
	list, err := w.Episodes(w.ctx)
	w.ok(err)
	if len(list) != 1 {
		w.Fatalf("got %d episodes, want 1", len(list))
	}
	return list[0]
}

// oneClip returns the only clip of the catalog, and fails if there is another number of them.
func (w *world) oneClip() models.Clip {
	w.Helper()
	list, err := w.Clips(w.ctx)
	w.ok(err)
	if len(list) != 1 {
		w.Fatalf("got %d clips, want 1", len(list))
	}
	return list[0]
}

// wantCurated fails unless a visit counted these changes.
func (w *world) wantCurated(got, want catalog.Curated) {
	w.Helper()
	if got != want {
		w.Fatalf("got %+v, want %+v", got, want)
	}
}

var curateCases = []behaviour{
	{"an episode comes back as it was listed, with its id, origin and dates", func(w *world) {
		e := episode("monday@v1#sha256:00")
		e.Aired, e.Priority = start.Add(-time.Hour), -4
		w.wantCurated(w.visit(show, catalog.Listing{Episodes: []models.Episode{e}}), catalog.Curated{New: 1})
		e.ID, e.Origin, e.FirstCurated, e.LastCurated = episodeID("monday"), show, w.now, w.now
		if got := w.oneEpisode(); got != e {
			w.Fatalf("got %+v, want %+v", got, e)
		}
	}},
	{"times in another zone are kept in UTC", func(w *world) {
		zone := time.FixedZone("east", 3*3600)
		e := episode("monday")
		e.Aired = start.In(zone)
		_, err := w.Curate(w.ctx, show, start.In(zone), catalog.Listing{Episodes: []models.Episode{e}})
		w.ok(err)
		if got := w.oneEpisode(); got.Aired != start || got.FirstCurated != start || got.LastCurated != start {
			w.Fatalf("got %+v", got)
		}
	}},
	{"a title that is empty becomes the name", func(w *world) {
		e := episode("monday")
		e.Title = ""
		w.visit(show, catalog.Listing{Episodes: []models.Episode{e}})
		if got := w.oneEpisode(); got.Title != "monday" {
			w.Fatalf("got %q", got.Title)
		}
	}},
	{"listing the same again keeps the first date, moves the last, and is uneventful", func(w *world) {
		w.episodes("monday")
		first := w.now
		n := w.episodes("monday")
		got := w.oneEpisode()
		if n.Eventful() || got.FirstCurated != first || got.LastCurated != w.now {
			w.Fatalf("%+v %+v", n, got)
		}
	}},
	{"a visit recorded late does not move the last date back", func(w *world) {
		w.episodes("monday")
		_, err := w.Curate(w.ctx, show, w.now.Add(-time.Hour), catalog.Listing{Episodes: []models.Episode{episode("monday")}})
		w.ok(err)
		if got := w.oneEpisode(); got.LastCurated != w.now || got.FirstCurated != w.now {
			w.Fatalf("got %+v", got)
		}
	}},
	{"another title, priority or address is taken over without new research", func(w *world) {
		w.clips("jingle")
		w.episodes("monday")
		w.researchAll()
		e := episode("monday")
		e.Title, e.Priority, e.Media.URI = "Mardi", 9, "file:///other"
		w.wantCurated(w.visit(show, catalog.Listing{Episodes: []models.Episode{e}}), catalog.Curated{})
		if got := w.oneEpisode(); got.Title != "Mardi" || got.Priority != 9 || got.Media.URI != "file:///other" {
			w.Fatalf("got %+v", got)
		}
		w.requireNothingLeft()
	}},
	{"an episode of another version is researched again for all clips", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle", "advert")
		first := w.now.Add(-time.Minute)
		w.researchAll()
		w.wantCurated(w.episodes("monday@2", "tuesday"), catalog.Curated{Changed: 1})
		w.selects("monday", "jingle", "advert")
		w.researchAll()
		list, err := w.Episodes(w.ctx)
		w.ok(err)
		for _, e := range list {
			if e.FirstCurated != first {
				w.Fatalf("first date of %s moved to %v", e.Name, e.FirstCurated)
			}
		}
	}},
	{"a clip of another version is researched again in all episodes", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle", "advert")
		w.researchAll()
		w.wantCurated(w.clips("jingle@2", "advert"), catalog.Curated{Changed: 1})
		for range 2 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			if got := titles(r); !slices.Equal(got, []string{"The jingle"}) {
				w.Fatalf("got %q", got)
			}
			w.ingest(result(r))
		}
		w.requireNothingLeft()
		if got := w.totals().Researched; got != 4 {
			w.Fatalf("got %d researched pairs, want 4", got)
		}
	}},
	{"a listing's hash is stored, and kept while the version stays", func(w *world) {
		w.clips("jingle@1#sha256:aa")
		w.clips("jingle@1")
		if got := w.oneClip().Media.Hash; got != "sha256:aa" {
			w.Fatalf("got %q", got)
		}
		w.clips("jingle@1#sha256:bb")
		if got := w.oneClip().Media.Hash; got != "sha256:bb" {
			w.Fatalf("got %q", got)
		}
		w.clips("jingle@2")
		if got := w.oneClip().Media.Hash; got != "" {
			w.Fatalf("got %q after a new version", got)
		}
	}},
	{"of two with one name the first counts, the other is a problem", func(w *world) {
		l := catalog.Listing{Episodes: []models.Episode{episode("monday@1"), episode("monday@2")}}
		w.wantCurated(w.visit(show, l), catalog.Curated{New: 1})
		w.wantCurated(w.visit(show, l), catalog.Curated{})
		if got := w.oneEpisode().Media.Version; got != "1" {
			w.Fatalf("got version %q", got)
		}
		w.wantReasons("monday: listed twice under this name; the first was taken")
	}},
	{"a clip listed twice does not make the clips behind it gone", func(w *world) {
		w.clips("advert", "jingle", "noise", "theme")
		for range 2 {
			w.wantCurated(w.clips("advert", "jingle", "jingle@2", "noise", "jingle", "theme"), catalog.Curated{})
			list, err := w.Clips(w.ctx)
			w.ok(err)
			if len(list) != 4 || len(w.reasons()) != 2 {
				w.Fatalf("got %+v and problems %q", list, w.reasons())
			}
		}
	}},
	{"the problems of a listing replace those of the last, and keep their date", func(w *world) {
		w.visit(show, catalog.Listing{Problems: []models.Problem{{Item: "a", Reason: "empty"}, {Item: "b", Reason: "no enclosure"}}})
		since := w.now
		w.visit(show, catalog.Listing{Problems: []models.Problem{{Item: "b", Reason: "no enclosure"}, {Item: "c", Reason: "empty"}}})
		w.wantReasons("b: no enclosure", "c: empty")
		list, err := w.Problems(w.ctx)
		w.ok(err)
		if list[0].At != since || list[1].At != w.now || list[0].OriginID != show || list[0].OriginURI != "/srv/show" {
			w.Fatalf("got %+v", list)
		}
	}},
	{"a problem that is listed twice is there twice, until it is listed once", func(w *world) {
		twice := models.Problem{Item: "a", Reason: "empty"}
		w.visit(show, catalog.Listing{Problems: []models.Problem{twice, twice}})
		w.wantReasons("a: empty", "a: empty")
		w.visit(show, catalog.Listing{Problems: []models.Problem{twice, twice}})
		w.wantReasons("a: empty", "a: empty")
		w.visit(show, catalog.Listing{Problems: []models.Problem{twice}})
		w.wantReasons("a: empty")
		w.visit(show, catalog.Listing{})
		w.wantReasons()
	}},
	{"the problems of a listing have no user and password of a URL", func(w *world) {
		const url = "https://bob:s3cret@example.org/a"
		l := catalog.Listing{Problems: []models.Problem{{Item: "x", Reason: "y"}, {Item: url, Reason: url + " is no sound"}}}
		w.visit(show, l)
		for _, r := range w.reasons() {
			if strings.Contains(r, "s3cret") {
				w.Fatalf("got %q", r)
			}
		}
		if l.Problems[1].Item != url {
			w.Fatal("the caller's listing is changed")
		}
	}},
	{"one origin's listing leaves another's recordings alone", func(w *world) {
		w.episodes("monday")
		w.addOrigin("other", models.Media)
		w.visit("other", catalog.Listing{Complete: true})
		w.oneEpisode()
	}},
}

var goneCases = []behaviour{
	{"what a complete listing does not name is gone from lists and totals", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle")
		w.researchAll()
		w.wantCurated(w.episodes("tuesday"), catalog.Curated{Gone: 1})
		if got := w.oneEpisode().Name; got != "tuesday" {
			w.Fatalf("got %q", got)
		}
		if got, want := w.totals(), (catalog.Totals{Origins: 2, Episodes: 1, Clips: 1, Researched: 1}); got != want {
			w.Fatalf("got %+v, want %+v", got, want)
		}
	}},
	{"an incomplete listing makes nothing gone", func(w *world) {
		w.episodes("monday")
		w.wantCurated(w.visit(show, catalog.Listing{}), catalog.Curated{})
		w.oneEpisode()
	}},
	{"what is gone is not selected", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle", "advert")
		w.episodes("tuesday")
		w.clips("advert")
		w.ingest(result(w.selects("tuesday", "advert")))
		w.requireNothingLeft()
	}},
	{"a clip that goes, or has another address, between two selections is so in the second", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "advert")
		w.selects("monday", "jingle", "advert")
		w.clips("advert")
		w.selects("monday", "advert")
		k := clip("advert")
		k.Media.URI = "file:///other"
		w.visit(spots, catalog.Listing{Complete: true, Clips: []models.Clip{k}})
		if got := w.selects("monday", "advert").Clips[0].Media.URI; got != "file:///other" {
			w.Fatalf("got %q", got)
		}
		w.ok(w.RemoveOrigin(w.ctx, spots))
		w.requireNothingLeft()
	}},
	{"an episode listed again comes back as it was", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle")
		w.researchAll()
		w.episodes("tuesday")
		w.clips("jingle", "advert")
		w.researchAll()
		w.wantCurated(w.episodes("monday", "tuesday"), catalog.Curated{Changed: 1})
		w.selects("monday", "advert")
	}},
	{"a clip listed again comes back as it was", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.researchAll()
		w.clips()
		w.episodes("monday", "tuesday")
		w.requireNothingLeft()
		w.clips("jingle")
		w.ingest(result(w.selects("tuesday", "jingle")))
		w.requireNothingLeft()
	}},
	{"a recording listed again in another version is researched again", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.researchAll()
		w.episodes()
		w.episodes("monday@2")
		w.selects("monday", "jingle")
	}},
	{"findings and problems hide with what is gone", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "noise")
		both := w.selects("monday", "jingle", "noise")
		found, failed := only(both, "The jingle"), only(both, "The noise")
		found.Findings = []models.Finding{{Episode: found.Episode, Clip: found.Clips[0], Occurrence: models.Occurrence{Offset: 1, Duration: 1, Score: 1}}}
		failed.Problem, failed.Scope = "too long", models.ScopePair
		w.ingest(found)
		w.ingest(failed)
		for _, now := range []struct {
			clips []string
			want  catalog.Totals
		}{
			{nil, catalog.Totals{Origins: 2, Episodes: 1}},
			{[]string{"jingle", "noise"}, catalog.Totals{Origins: 2, Episodes: 1, Clips: 2, Findings: 1, Problems: 1, Researched: 1}},
		} {
			w.clips(now.clips...)
			found, err := w.Findings(w.ctx)
			w.ok(err)
			if got := w.totals(); got != now.want || len(found) != got.Findings || len(w.reasons()) != got.Problems {
				w.Fatalf("with %q: got %+v, want %+v; %d findings", now.clips, got, now.want, len(found))
			}
		}
	}},
}

// only is the result of research for one of the selected clips, by title.
func only(r models.Research, title string) models.Researched {
	r.Clips = slices.DeleteFunc(slices.Clone(r.Clips), func(i models.ResearchItem) bool { return i.Title != title })
	return result(r)
}
