package catalogtest

import (
	"fmt"
	"slices"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// published lists episodes, which are on a web server, as the latest of a feed.
func (w *world) published(names ...string) catalog.Curated {
	w.Helper()
	return w.visit("feed", catalog.Listing{Latest: true, Episodes: each(names, func(s string) models.Episode {
		e := episode(s)
		e.Media.URI = "https://example.org/" + e.Name + ".mp3"
		return e
	})})
}

// checked records a check of an episode of the feed, which found another file at its address if
// replaced is true, and returns what AudioChecked returns.
func (w *world) checked(name, etag string, replaced bool) int {
	w.Helper()
	a := models.Audio{Episode: models.NewID("feed", name), URI: "https://example.org/" + name + ".mp3", ETag: etag, Modified: "today", Bytes: 9, Replaced: replaced}
	n, err := w.AudioChecked(w.ctx, w.now, []models.Audio{a})
	w.ok(err)
	return n
}

// toCheck returns the address and the last headers of the episodes to check, at most limit.
func (w *world) toCheck(limit int) (list []string) {
	w.Helper()
	all, err := w.AudioToCheck(w.ctx, "feed", limit)
	w.ok(err)
	for _, a := range all {
		list = append(list, fmt.Sprint(a.URI, " ", a.ETag, " ", a.Modified, " ", a.Bytes))
	}
	return list
}

// wantFindings requires exactly these findings, in this order: "episode title clip title
// offset".
func (w *world) wantFindings(want ...string) {
	w.Helper()
	list, err := w.Findings(w.ctx)
	w.ok(err)
	if got := each(list, func(f catalog.Finding) string { return fmt.Sprint(f.EpisodeTitle, " ", f.ClipTitle, " ", f.Offset) }); !slices.Equal(got, want) {
		w.Fatalf("findings\n got %q\nwant %q", got, want)
	}
	if n := w.totals().Findings; n != len(want) {
		w.Fatalf("%d findings in the totals, want %d", n, len(want))
	}
}

// findsAt is a result in which each clip occurs once.
func findsAt(r models.Research, offset models.Seconds) models.Researched {
	done := result(r)
	for _, c := range r.Clips {
		done.Findings = append(done.Findings, models.Finding{Episode: r.Episode.ID, Clip: c.ID, Occurrence: models.Occurrence{Offset: offset, Duration: 1, Score: 1}})
	}
	return done
}

// addResearchedFeed adds a feed of one episode that was researched for two clips.
func (w *world) addResearchedFeed() {
	w.Helper()
	w.addOrigin("feed", models.Feed)
	w.clips("jingle", "spot")
	w.published("monday")
	w.ingest(findsAt(w.selects("monday", "jingle", "spot"), 1))
	w.wantFindings("The monday The jingle 1", "The monday The spot 1")
}

var audioCases = []behaviour{
	{"the audio that was checked longest ago comes first, then the latest curated, with what the server reported", func(w *world) {
		w.addOrigin("feed", models.Feed)
		w.published("a")
		w.published("a", "b")
		w.episodes("file")
		want := func(limit int, want ...string) {
			w.Helper()
			if got := w.toCheck(limit); !slices.Equal(got, want) {
				w.Fatalf("\n got %q\nwant %q", got, want)
			}
		}
		const a, b = "https://example.org/a.mp3 ", "https://example.org/b.mp3 "
		want(10, b+"  0", a+"  0")
		w.checked("b", "x", false)
		want(10, a+"  0", b+"x today 9")
		want(1, a+"  0")
		want(0)
		w.published("b")
		want(10, b+"x today 9")
		e := episode("b")
		e.Media.URI = "https://example.org/moved.mp3"
		w.visit("feed", catalog.Listing{Episodes: []models.Episode{e}})
		want(10, "https://example.org/moved.mp3   0")
		if n := w.checked("b", "y", true); n != 0 {
			w.Fatal("the check of another URI counts")
		}
		_, err := w.AudioToCheck(w.ctx, "nobody", 1)
		w.wantErr(err, fault.ErrNotFound)
		n, err := w.AudioChecked(w.ctx, w.now, []models.Audio{{Episode: "nobody", Replaced: true}})
		w.ok(err)
		if n != 0 {
			w.Fatal("an unknown episode counts")
		}
	}},
	{"replaced audio is researched again, and its findings stay until a result replaces them", func(w *world) {
		w.addResearchedFeed()
		w.checked("monday", "old", false)
		w.requireNothingLeft()
		for range 2 {
			w.checked("monday", "new", true)
		}
		r := w.selects("monday", "jingle", "spot")
		if r.Episode.Media.Version == "1" || r.Episode.Media.Hash != "" {
			w.Fatalf("got %+v", r.Episode.Media)
		}
		if got := w.totals().Researched; got != 0 {
			w.Fatalf("%d pairs count as researched", got)
		}
		w.wantFindings("The monday The jingle 1", "The monday The spot 1")
		spot := r
		spot.Clips = slices.DeleteFunc(slices.Clone(r.Clips), func(i models.ResearchItem) bool { return i.Title != "The spot" })
		w.ingest(findsAt(spot, 2))
		w.wantFindings("The monday The jingle 1", "The monday The spot 2")
		w.ingest(result(w.selects("monday", "jingle")))
		w.wantFindings("The monday The spot 2")
		w.requireNothingLeft()
		w.wantCurated(w.published("monday"), catalog.Curated{})
		w.requireNothingLeft()
	}},
	{"audio is replaced once, however often the check is recorded", func(w *world) {
		w.addResearchedFeed()
		if n := w.checked("monday", "new", true); n != 1 {
			w.Fatalf("%d are replaced", n)
		}
		if n := w.checked("monday", "new", true); n != 0 {
			w.Fatalf("%d are replaced again", n)
		}
	}},
	{"of several checks each is recorded, but none of an episode that is gone", func(w *world) {
		w.addOrigin("feed", models.Feed)
		w.clips("jingle")
		w.published("a", "b", "c")
		w.researchAll()
		n, err := w.AudioChecked(w.ctx, w.now, nil)
		w.ok(err)
		var list []models.Audio
		for i, name := range []string{"c", "a", "b"} {
			list = append(list, models.Audio{Episode: models.NewID("feed", name), URI: "https://example.org/" + name + ".mp3", ETag: "new", Replaced: i > 0})
		}
		_, err = w.AudioChecked(w.ctx, w.now, list)
		w.ok(err)
		if left := w.totals().Researched; n != 0 || left != 1 {
			w.Fatalf("%d are replaced by no check, and %d are researched, want none and one", n, left)
		}
		got := w.toCheck(10)
		slices.Sort(got)
		if !slices.Equal(got, []string{"https://example.org/a.mp3 new  0", "https://example.org/b.mp3 new  0", "https://example.org/c.mp3 new  0"}) {
			w.Fatalf("got %q", got)
		}
		w.researchAll()
		w.visit("feed", catalog.Listing{Complete: true})
		if n := w.checked("a", "newer", true); n != 0 {
			w.Fatal("the check of an episode that is gone counts")
		}
	}},
	{"another version in the listing ends what was checked", func(w *world) {
		w.addResearchedFeed()
		w.checked("monday", "new", true)
		w.wantCurated(w.published("monday@2"), catalog.Curated{Changed: 1})
		if got := w.selects("monday", "jingle", "spot").Episode.Media.Version; got != "2" {
			w.Fatalf("got version %q", got)
		}
		if got := w.toCheck(1); !slices.Equal(got, []string{"https://example.org/monday.mp3   0"}) {
			w.Fatalf("got %q", got)
		}
		w.wantFindings("The monday The jingle 1", "The monday The spot 1")
	}},
	{"a problem of replaced audio ends the old findings, and only those", func(w *world) {
		w.addResearchedFeed()
		w.checked("monday", "new", true)
		r := w.selects("monday", "jingle", "spot")
		w.ingest(failed(only(r, "The spot"), models.ScopePair, "too long"))
		w.wantFindings("The monday The jingle 1")
		w.ingest(findsAt(w.selects("monday", "jingle"), 3))
		w.ingest(failed(result(r), models.ScopeEpisode, "gone"))
		w.wantFindings("The monday The jingle 3")
		w.checked("monday", "newer", true)
		w.wantProblems(0)
		w.ingest(failed(result(w.selects("monday", "jingle", "spot")), models.ScopeEpisode, "gone"))
		w.wantFindings()
		w.requireNothingLeft()
	}},
	{"all problems of replaced audio go, however many they are", func(w *world) {
		w.addOrigin("feed", models.Feed)
		var names []string
		for i := range 250 {
			names = append(names, fmt.Sprint("c", i))
		}
		w.clips(names...)
		w.published("monday")
		for range 3 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			w.ingest(failed(result(r), models.ScopePair, "unreachable"))
		}
		w.wantProblems(1)
		w.checked("monday", "new", true)
		w.wantProblems(0)
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 1000})
		w.ok(err)
		if len(r.Clips) != 250 {
			w.Fatalf("%d clips are selected", len(r.Clips))
		}
	}},
}
