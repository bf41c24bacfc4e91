package catalogtest

import (
	"reflect"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/catalog"
)

var listCases = []behaviour{
	{"findings come by episode, latest curated first, then offset, then clip title", func(w *world) {
		w.clips("b", "a")
		w.episodes("old")
		w.episodes("old", "new")
		for range 2 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			w.ingest(found(only(r, "The a"), 8, 3))
			w.ingest(found(only(r, "The b"), 3))
		}
		list, err := w.Findings(w.ctx)
		w.ok(err)
		type line struct {
			episode, clip string
			offset        models.Seconds
		}
		got := each(list, func(f catalog.Finding) line { return line{f.EpisodeTitle, f.ClipTitle, f.Offset} })
		want := []line{
			{"The new", "The a", 3}, {"The new", "The b", 3}, {"The new", "The a", 8},
			{"The old", "The a", 3}, {"The old", "The b", 3}, {"The old", "The a", 8},
		}
		if !slices.Equal(got, want) {
			w.Fatalf("got %v, want %v", got, want)
		}
	}},
	{"a finding comes back as it was, with the names that people know", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		r.Findings = []models.Finding{{Episode: r.Episode, Clip: r.Clips[0], Occurrence: models.Occurrence{Offset: 754.56, Duration: 2.125, Score: 0.987, PartFrom: 0.5, PartTo: 2.625, Coverage: 0.75, Speed: 1.03}}}
		w.ingest(r)
		got, err := w.Findings(w.ctx)
		w.ok(err)
		want := []catalog.Finding{{
			EpisodeTitle: "The monday", EpisodeID: r.Episode, EpisodeURI: "file:///srv/monday", ClipTitle: "The jingle", ClipID: r.Clips[0],
			Occurrence: models.Occurrence{Offset: 754.56, Duration: 2.125, Score: 0.987, PartFrom: 0.5, PartTo: 2.625, Coverage: 0.75, Speed: 1.03},
		}}
		if !reflect.DeepEqual(got, want) {
			w.Fatalf("got %+v, want %+v", got, want)
		}
	}},
	{"a finding within a longer one names it, and of several the shortest, whatever came first", func(w *world) {
		w.listRankedEpisodes([]string{"monday", "tuesday"}, 2, 1)
		w.clips("drop", "jingle", "theme", "twin")
		lasts := map[string]models.Seconds{"drop": 1, "jingle": 5, "theme": 30, "twin": 1.05}
		plays := func(episode string, at map[string]models.Seconds) {
			r := w.selects(episode, "drop", "jingle", "theme", "twin")
			for _, clip := range []string{"drop", "theme", "jingle", "twin"} {
				one := found(only(r, "The "+clip), at[clip])
				one.Findings[0].Duration = lasts[clip]
				w.ingest(one)
			}
		}
		wants := func(want ...string) {
			w.Helper()
			list, err := w.Findings(w.ctx)
			w.ok(err)
			got := each(list, func(f catalog.Finding) string {
				within := strings.TrimPrefix(f.WithinTitle, "The ")
				if within != "" && f.WithinID != clipID(within) {
					w.Fatalf("%q is not the id of %q", f.WithinID, within)
				}
				return f.EpisodeTitle[4:7] + " " + f.ClipTitle[4:] + " in " + within
			})
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				w.Fatalf("got %q, want %q", got, want)
			}
		}
		plays("monday", map[string]models.Seconds{"theme": 100, "jingle": 100.02, "drop": 104.06, "twin": 129.01})
		plays("tuesday", map[string]models.Seconds{"theme": 100, "jingle": 126, "drop": 128.9, "twin": 98.94})
		monday := []string{"mon theme in ", "mon jingle in theme", "mon drop in jingle", "mon twin in "}
		tuesday := []string{"tue theme in ", "tue jingle in ", "tue drop in jingle", "tue twin in "}
		wants(slices.Concat(monday, tuesday)...)
		w.clips("drop", "theme", "twin") // the jingle is gone
		wants("mon theme in ", "mon drop in theme", "mon twin in ", "tue theme in ", "tue drop in theme", "tue twin in ")
	}},
	{"a problem comes with the names that people know, oldest first", func(w *world) {
		w.clips("silence", "long", "jingle")
		w.listRankedEpisodes([]string{"monday", "noise"}, 2, 1)
		r := w.selects("monday", "silence", "long", "jingle")
		silent, long := only(r, "The silence"), only(r, "The long")
		w.ok(w.Ingest(w.ctx, failed(silent, models.ScopeClip, "silent"), start))
		w.ok(w.Ingest(w.ctx, failed(long, models.ScopePair, "too long"), start.Add(1e9)))
		w.ok(w.Ingest(w.ctx, result(models.Research{Episode: r.Episode, Clips: r.Clips}), start)) // all is done for monday
		noise := result(w.selects("noise", "long", "jingle"))
		w.ok(w.Ingest(w.ctx, failed(noise, models.ScopeEpisode, "not audio"), start.Add(2e9)))
		got, err := w.Problems(w.ctx)
		w.ok(err)
		want := []catalog.Problem{
			{Reason: "silent", At: start, OriginID: spots, OriginURI: "/srv/spots", Item: "silence", ClipID: clipID("silence"), ClipTitle: "The silence"},
			{Reason: "not audio", At: start.Add(2e9), OriginID: show, OriginURI: "/srv/show", Item: "noise", EpisodeID: episodeID("noise"), EpisodeTitle: "The noise"},
		}
		if !reflect.DeepEqual(got, want) {
			w.Fatalf("got %+v\nwant %+v", got, want)
		}
	}},
	{"a problem of a pair names both", func(w *world) {
		w.episodes("monday")
		w.clips("long")
		w.ok(w.Ingest(w.ctx, failed(result(w.selects("monday", "long")), models.ScopePair, "too long"), start))
		got, err := w.Problems(w.ctx)
		w.ok(err)
		want := []catalog.Problem{{
			Reason: "too long", At: start, OriginID: show, OriginURI: "/srv/show", Item: "monday",
			EpisodeID: episodeID("monday"), EpisodeTitle: "The monday", ClipID: clipID("long"), ClipTitle: "The long",
		}}
		if !reflect.DeepEqual(got, want) {
			w.Fatalf("got %+v\nwant %+v", got, want)
		}
	}},
	{"clips are listed in the order in which they are selected", func(w *world) {
		w.listRankedClips([]string{"old", "low"}, 0, -1)
		w.listRankedClips([]string{"old", "low", "new", "high"}, 0, -1, 0, 8)
		list, err := w.Clips(w.ctx)
		w.ok(err)
		got := each(list, func(c models.Clip) string { return c.Name })
		if want := []string{"high", "new", "old", "low"}; !slices.Equal(got, want) {
			w.Fatalf("got %q, want %q", got, want)
		}
	}},
}
