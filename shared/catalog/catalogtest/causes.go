package catalogtest

import (
	"leasehold/models"
	"leasehold/shared/catalog"
)

var causeCases = []behaviour{
	{"an episode that fails for one reason is one problem, not one for each clip", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle", "spot", "theme")
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		w.ingest(failed(result(r), models.ScopePair, "unreachable"))
		first := r.Episode.Title
		w.wantProblems(1)
		all, err := w.Problems(w.ctx)
		w.ok(err)
		if p := all[0]; p.Clips != 3 || p.ClipID != "" || p.ClipTitle != "" || p.EpisodeTitle != first || p.Reason != "unreachable" {
			w.Fatalf("got %+v, want one problem of 3 clips in %s", p, first)
		}
		of, total, err := w.ProblemsOf(w.ctx, catalog.About{Clip: clipID("spot")}, catalog.Part{Limit: 10})
		w.ok(err)
		if total != 1 || len(of) != 1 || of[0].ClipID != clipID("spot") || of[0].Clips != 0 {
			w.Fatalf("got %d: %+v, want the one pair of the clip", total, of)
		}

		r, _, err = w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		w.ingest(failed(only(r, "The spot"), models.ScopePair, "unreachable"))
		w.ingest(failed(only(r, "The theme"), models.ScopePair, "other"))
		w.wantProblems(3)
	}},
	{"the problems of an episode that its feed no longer lists are hidden, and it is not selected", func(w *world) {
		w.addOrigin("feed", models.Feed)
		lists := func(names ...string) {
			w.visit("feed", catalog.Listing{Episodes: each(names, episode), Latest: true})
		}
		w.clips("jingle", "spot")
		lists("monday", "tuesday")
		for range 2 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			w.ingest(failed(result(r), models.ScopePair, "unreachable "+r.Episode.Title))
		}
		w.wantProblems(2)
		lists("tuesday")
		w.wantReasons("tuesday: unreachable The tuesday")
		w.wantProblems(1)
		w.requireNothingLeft()
		if n := w.totals().Episodes; n != 2 {
			w.Fatalf("%d episodes, want both", n)
		}
		w.visit("feed", catalog.Listing{Episodes: each([]string{"wednesday"}, episode)})
		w.wantProblems(1)
		lists("monday")
		w.wantReasons("monday: unreachable The monday")
	}},
}

// wantProblems requires that the list, its parts and the totals have n problems.
func (w *world) wantProblems(n int) {
	w.Helper()
	all, err := w.Problems(w.ctx)
	w.ok(err)
	part, total, err := w.ProblemsOf(w.ctx, catalog.About{}, catalog.Part{Limit: 1})
	w.ok(err)
	if len(all) != n || total != n || len(part) != min(1, n) || w.totals().Problems != n {
		w.Fatalf("%d problems are listed, %d in parts, %d in totals; want %d: %+v", len(all), total, w.totals().Problems, n, all)
	}
}
