package catalogtest

import (
	"errors"
	"reflect"
	"strings"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

var partCases = []behaviour{
	{"a part of the findings is cut from those that are about something", func(w *world) {
		w.clips("a", "b")
		w.episodes("monday", "tuesday")
		for range 2 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			w.ingest(found(only(r, "The a"), 8, 3))
			w.ingest(found(only(r, "The b"), 3))
		}
		all, err := w.Findings(w.ctx)
		w.ok(err)
		of := func(a catalog.About, f func(catalog.Finding) bool) {
			w.Helper()
			wanted := filtered(all, f)
			for _, p := range parts {
				got, total, err := w.FindingsOf(w.ctx, a, p)
				w.ok(err)
				w.same(got, cut(wanted, p), total, len(wanted))
			}
		}
		of(catalog.About{}, func(catalog.Finding) bool { return true })
		of(catalog.About{Episode: episodeID("monday")}, func(f catalog.Finding) bool { return f.EpisodeID == episodeID("monday") })
		of(catalog.About{Episode: episodeID("tuesday"), Clip: clipID("a")}, func(f catalog.Finding) bool {
			return f.EpisodeID == episodeID("tuesday") && f.ClipID == clipID("a")
		})
		of(catalog.About{Clip: "nobody"}, func(catalog.Finding) bool { return false })
	}},
	{"a part of the problems is cut from those that are about something", func(w *world) {
		w.clips("silence", "jingle")
		w.episodes("monday")
		r := w.selects("monday", "silence", "jingle")
		w.ok(w.Ingest(w.ctx, failed(only(r, "The silence"), models.ScopePair, "silent"), start))
		w.ok(w.Ingest(w.ctx, failed(only(r, "The jingle"), models.ScopeClip, "too long"), start.Add(1e9)))
		all, err := w.Problems(w.ctx)
		w.ok(err)
		of := func(a catalog.About, f func(catalog.Problem) bool) {
			w.Helper()
			wanted := filtered(all, f)
			for _, p := range parts {
				got, total, err := w.ProblemsOf(w.ctx, a, p)
				w.ok(err)
				w.same(got, cut(wanted, p), total, len(wanted))
			}
		}
		of(catalog.About{}, func(catalog.Problem) bool { return true })
		of(catalog.About{Origin: spots}, func(p catalog.Problem) bool { return p.OriginID == spots })
		of(catalog.About{Origin: show, Clip: clipID("silence")}, func(p catalog.Problem) bool {
			return p.OriginID == show && p.ClipID == clipID("silence")
		})
		of(catalog.About{Episode: "nobody"}, func(catalog.Problem) bool { return false })
	}},
	{"a part of the episodes is cut from those that have a text in their title, with the progress of each", func(w *world) {
		w.clips("a", "b")
		w.episodes("monday", "tuesday", "50%_off")
		r := w.selects("50%_off", "a", "b")
		w.ingest(found(only(r, "The a"), 8, 3))
		w.ingest(failed(only(r, "The b"), models.ScopePair, "silent"))
		all, err := w.Episodes(w.ctx)
		w.ok(err)
		progress := each(all, func(e models.Episode) catalog.EpisodeProgress {
			if e.ID == r.Episode.ID {
				return catalog.EpisodeProgress{Episode: e, Researched: 1, Findings: 2, Problems: 1}
			}
			return catalog.EpisodeProgress{Episode: e}
		})
		of := func(filter catalog.EpisodeFilter, f func(title string) bool) {
			w.Helper()
			wanted := filtered(progress, func(e catalog.EpisodeProgress) bool { return f(e.Title) })
			for _, p := range parts {
				got, total, err := w.EpisodesOf(w.ctx, filter, p)
				w.ok(err)
				w.same(got, cut(wanted, p), total, len(wanted))
			}
		}
		has := func(text string) func(string) bool {
			return func(title string) bool { return strings.Contains(title, text) }
		}
		of(catalog.EpisodeFilter{}, has(""))
		of(catalog.EpisodeFilter{Origin: show}, has(""))
		of(catalog.EpisodeFilter{Origin: spots}, has("nothing"))
		of(catalog.EpisodeFilter{Origin: "nobody"}, has("nothing"))
		of(catalog.EpisodeFilter{Title: "DAY"}, has("day"))
		of(catalog.EpisodeFilter{Title: "tue", Origin: show}, has("tue"))
		of(catalog.EpisodeFilter{Title: "%_"}, has("%_"))
		of(catalog.EpisodeFilter{Title: "_"}, has("_"))
		of(catalog.EpisodeFilter{Title: "o%f"}, has("o%f"))
	}},
	{"the progress of an episode counts neither clips that are gone nor a problem twice", func(w *world) {
		w.clips("a", "b", "c")
		w.episodes("monday")
		r := w.selects("monday", "a", "b", "c")
		w.ingest(found(only(r, "The a"), 8, 3))
		failing := only(r, "The b")
		failing.Clips = append(failing.Clips, clipID("c"))
		failing.ClipMedia = result(r).ClipMedia
		w.ingest(failed(failing, models.ScopePair, "unreachable"))
		wantProgress := func(researched, findings, problems int) {
			w.Helper()
			got, _, err := w.EpisodesOf(w.ctx, catalog.EpisodeFilter{}, catalog.Part{Limit: 1})
			w.ok(err)
			if e := got[0]; e.Researched != researched || e.Findings != findings || e.Problems != problems {
				w.Fatalf("got %+v", e)
			}
		}
		wantProgress(1, 2, 1)
		w.clips("b")
		wantProgress(0, 0, 1)
	}},
	{"one recording is that of the list, and what is gone or never was is not found", func(w *world) {
		w.clips("a")
		w.episodes("monday")
		episodes, err1 := w.Episodes(w.ctx)
		clips, err2 := w.Clips(w.ctx)
		e, err3 := w.Episode(w.ctx, episodeID("monday"))
		k, err4 := w.Clip(w.ctx, clipID("a"))
		w.ok(errors.Join(err1, err2, err3, err4))
		if !reflect.DeepEqual(e, episodes[0]) || !reflect.DeepEqual(k, clips[0]) {
			w.Fatalf("got %+v and %+v, want %+v and %+v", e, k, episodes[0], clips[0])
		}
		w.clips()
		_, err1 = w.Clip(w.ctx, clipID("a"))
		_, err2 = w.Episode(w.ctx, "nobody")
		if !errors.Is(err1, fault.ErrNotFound) || !errors.Is(err2, fault.ErrNotFound) {
			w.Fatalf("got %v and %v", err1, err2)
		}
	}},
}

var parts = []catalog.Part{{Limit: -1}, {Limit: 2}, {Offset: 1, Limit: 2}, {Offset: 1, Limit: -1}, {Limit: 0}, {Offset: 100, Limit: 5}}

// cut returns a part of all; with a negative limit, all from the offset on.
func cut[T any](all []T, p catalog.Part) []T {
	all = all[min(p.Offset, len(all)):]
	if p.Limit < 0 {
		return all
	}
	return all[:min(p.Limit, len(all))]
}

// filtered returns the elements for which f is true.
func filtered[T any](all []T, f func(T) bool) (some []T) {
	for _, one := range all {
		if f(one) {
			some = append(some, one)
		}
	}
	return some
}

// same requires that a part is what it should be, and the count with it.
func (w *world) same(got, want any, total, all int) {
	w.Helper()
	empty := reflect.ValueOf(got).Len() == 0 && reflect.ValueOf(want).Len() == 0
	if total != all || !empty && !reflect.DeepEqual(got, want) {
		w.Fatalf("got %+v of %d, want %+v of %d", got, total, want, all)
	}
}
