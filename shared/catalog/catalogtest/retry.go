package catalogtest

import (
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// unfetched is a result of a recording that could not be fetched.
func unfetched(r models.Researched, scope models.Scope, retry models.Retry) models.Researched {
	f := failed(r, scope, "unreachable")
	f.Retry = retry
	return f
}

// fails ingests a failure at a time, and returns the problem that it is.
func (w *world) fails(r models.Researched, at time.Time) catalog.Problem {
	w.Helper()
	w.ok(w.Ingest(w.ctx, r, at))
	return w.onlyProblem()
}

func (w *world) onlyProblem() catalog.Problem {
	w.Helper()
	w.wantProblems(1)
	all, err := w.Problems(w.ctx)
	w.ok(err)
	return all[0]
}

// retries calls Retry for what a selects and requires that it tries n recordings again.
func (w *world) retries(a catalog.About, lasting bool, n int) {
	w.Helper()
	got, err := w.Retry(w.ctx, a, lasting)
	w.ok(err)
	if got != n {
		w.Fatalf("%d recordings are tried again, want %d", got, n)
	}
}

var retryCases = []behaviour{
	{"an episode that could not be fetched rests for twice as long after each failure, from a minute to two days", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := w.selects("monday", "jingle")
		at := time.Now().UTC().Truncate(time.Second)
		first := at
		for n := range 16 {
			p := w.fails(unfetched(result(r), models.ScopeEpisode, models.RetryLater), at)
			want := min(time.Minute<<max(n-1, 0), 48*time.Hour)
			if pause := p.RetryAt.Sub(at); pause != want || !p.At.Equal(first) || p.Reason != "unreachable" {
				w.Fatalf("after failure %d: got %+v, want a pause of %s since %s", n+1, p, want, first)
			}
			w.requireNothingLeft()
			at = p.RetryAt
		}
	}},
	{"once its rest is over it is selected, and its problem goes when it was read", func(w *world) {
		w.episodes("monday")
		w.episodes("monday", "tuesday")
		w.clips("jingle")
		r := w.selects("tuesday", "jingle")
		w.fails(unfetched(result(r), models.ScopeEpisode, models.RetryLater), time.Now().Add(-2*time.Minute))
		r = w.selects("tuesday", "jingle")
		w.wantReasons("tuesday: unreachable")
		w.ingest(findsAt(r, 3))
		w.wantReasons()
		w.selects("monday", "jingle")
		w.wantFindings("The tuesday The jingle 3")
	}},
	{"its findings of an earlier version stay while it cannot be fetched", func(w *world) {
		w.addResearchedFeed()
		w.checked("monday", "old", false)
		w.checked("monday", "new", true)
		w.fails(unfetched(result(w.selects("monday", "jingle", "spot")), models.ScopeEpisode, models.RetryLater), time.Now())
		w.wantFindings("The monday The jingle 1", "The monday The spot 1")
	}},
	{"a server that asks to wait is not asked before", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		f := unfetched(result(w.selects("monday", "jingle")), models.ScopeEpisode, models.RetryLater)
		f.RetryAfter = models.SecondsOf(time.Hour)
		at := time.Now().UTC()
		if p := w.fails(f, at); p.RetryAt.Sub(at).Round(time.Second) != time.Hour {
			w.Fatalf("got %+v", p)
		}
	}},
	{"content that is read and is not audio is a lasting problem, and no other", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := w.selects("monday", "jingle")
		w.fails(unfetched(result(r), models.ScopeEpisode, models.RetryLater), time.Now().Add(-time.Hour))
		if p := w.fails(failed(result(w.selects("monday", "jingle")), models.ScopeEpisode, "not audio"), time.Now()); p.Reason != "not audio" || !p.RetryAt.IsZero() {
			w.Fatalf("got %+v", p)
		}
		w.requireNothingLeft()
	}},
	{"a clip that cannot be fetched rests for every episode", func(w *world) {
		w.episodes("monday")
		w.episodes("monday", "tuesday")
		w.clips("jingle", "spot")
		r := w.selects("tuesday", "jingle", "spot")
		p := w.fails(unfetched(only(r, "The spot"), models.ScopeClip, models.RetryLater), time.Now())
		if p.ClipTitle != "The spot" || p.RetryAt.IsZero() {
			w.Fatalf("got %+v", p)
		}
		w.ingest(result(w.selects("tuesday", "jingle")))
		w.ingest(result(w.selects("monday", "jingle")))
		w.requireNothingLeft()
		w.retries(catalog.About{Clip: clipID("spot")}, false, 1)
		w.ingest(result(w.selects("tuesday", "spot")))
		w.wantReasons()
		w.selects("monday", "spot")
	}},
	{"an address that settings refuse is left until a visit or an operator", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := w.selects("monday", "jingle")
		if p := w.fails(unfetched(result(r), models.ScopeEpisode, models.RetryChanged), time.Now().Add(-1000*time.Hour)); !p.RetryAt.IsZero() {
			w.Fatalf("got %+v", p)
		}
		w.requireNothingLeft()
		w.retries(catalog.About{Episode: episodeID("monday")}, false, 1)
		w.selects("monday", "jingle")
	}},
	{"another version does not rest", func(w *world) {
		w.episodes("monday@1")
		w.clips("jingle")
		w.fails(unfetched(result(w.selects("monday", "jingle")), models.ScopeEpisode, models.RetryLater), time.Now())
		w.episodes("monday@2")
		w.selects("monday", "jingle")
		w.wantReasons()
	}},
	{"a check that is answered after the first failure ends the rest, and later only another answer does", func(w *world) {
		w.addResearchedFeed()
		w.clips("jingle", "spot", "theme")
		w.checked("monday", "a", false)
		fail := func() {
			w.Helper()
			w.fails(unfetched(result(w.selects("monday", "theme")), models.ScopeEpisode, models.RetryLater), time.Now())
			w.requireNothingLeft()
		}
		silent := func() {
			w.Helper()
			n, err := w.AudioChecked(w.ctx, w.now, []models.Audio{{Episode: models.NewID("feed", "monday"), URI: "https://example.org/monday.mp3", Silent: true}})
			w.ok(err)
			if n != 0 {
				w.Fatal("a check without an answer counts")
			}
		}
		check := func(etag string, again int) {
			w.Helper()
			if n := w.checked("monday", etag, false); n != again {
				w.Fatalf("%d are fetched again, want %d", n, again)
			}
		}
		fail()
		check("a", 1)
		fail()
		check("a", 0)
		w.requireNothingLeft()
		check("b", 1)
		fail()
		silent()
		w.requireNothingLeft()
		check("b", 1)
		w.ingest(result(w.selects("monday", "theme")))
		silent()
		check("b", 0)
	}},
	{"those that could not be fetched are checked beside the others", func(w *world) {
		w.addOrigin("feed", models.Feed)
		w.clips("jingle")
		w.published("a", "b", "c")
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		w.fails(unfetched(result(r), models.ScopeEpisode, models.RetryLater), time.Now())
		list := w.toCheck(1)
		if want := r.Episode.Media.URI + "   0"; len(list) != 2 || list[1] != want {
			w.Fatalf("got %q, want another one and %s", list, want)
		}
	}},
	{"by hand, what failed for good is tried again too, and duplicates stay", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle#sha256:x", "copy#sha256:x", "silence")
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		w.ingest(failed(only(r, "The silence"), models.ScopeClip, "silent"))
		w.ingest(failed(result(r), models.ScopeEpisode, "not audio"))
		r, _, err = w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		w.ingest(failed(result(r), models.ScopePair, "gave up"))
		w.requireNothingLeft()
		w.retries(catalog.About{}, false, 0)
		w.retries(catalog.About{Episode: r.Episode.ID}, true, 1)
		w.retries(catalog.About{Origin: spots}, true, 1)
		w.retries(catalog.About{}, true, 1)
		w.retries(catalog.About{}, true, 0)
		if len(w.reasons()) != 1 {
			w.Fatalf("got %q, want the duplicate", w.reasons())
		}
		w.researchAll()
		if n := w.totals().Researched; n != 4 {
			w.Fatalf("%d pairs were researched, want 4", n)
		}
	}},
	{"unknown recordings and invalid results are refused", func(w *world) {
		_, err := w.Retry(w.ctx, catalog.About{Episode: "nobody"}, true)
		w.wantErr(err, fault.ErrNotFound)
		_, err = w.Retry(w.ctx, catalog.About{Clip: "nobody"}, true)
		w.wantErr(err, fault.ErrNotFound)
		w.episodes("monday")
		w.clips("jingle")
		r := w.selects("monday", "jingle")
		for _, f := range []models.Researched{unfetched(result(r), models.ScopePair, models.RetryLater), unfetched(result(r), models.ScopeEpisode, "soon")} {
			w.wantErr(w.Ingest(w.ctx, f, w.now), fault.ErrInvalid)
		}
		w.selects("monday", "jingle")
		w.ok(w.Catalog.Close())
		_, err = w.Retry(w.ctx, catalog.About{}, true)
		w.wantErr(err, fault.ErrClosed)
	}},
}
