package catalogtest

import (
	"context"
	"math"
	"reflect"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

var refuseCases = []behaviour{
	{"a result that cannot be stored is invalid, and nothing of it is written", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := found(result(w.selects("monday", "jingle")), 1, 2)
		before := w.snapshot()
		for name, spoil := range badResults {
			bad := r
			bad.Findings = append([]models.Finding(nil), r.Findings...)
			spoil(&bad)
			err := w.Ingest(w.ctx, bad, w.now)
			if w.wantErr(err, fault.ErrInvalid); !reflect.DeepEqual(before, w.snapshot()) {
				w.Fatalf("%s: something was written", name)
			}
		}
		w.selects("monday", "jingle")
	}},
	{"a recording without a name is invalid, and nothing of the listing is written", func(w *world) {
		_, err := w.Curate(w.ctx, show, start, catalog.Listing{Episodes: []models.Episode{episode("monday"), episode("")}})
		w.wantErr(err, fault.ErrInvalid)
		if got, want := w.totals(), (catalog.Totals{Origins: 2}); got != want {
			w.Fatalf("got %+v", got)
		}
	}},
	{"an origin needs a well-formed id, a kind and a URI of it", func(w *world) {
		for _, o := range []models.Origin{
			{ID: "a b", Kind: models.Feed, URI: "u"},
			{ID: "", Kind: models.Feed, URI: "u"},
			{ID: "a", Kind: "no kind", URI: "u"},
			{ID: "a", Kind: models.Feed},
		} {
			_, err := w.AddOrigin(w.ctx, o)
			w.wantErr(err, fault.ErrInvalid)
		}
		_, err := w.AddOrigin(w.ctx, models.Origin{ID: "a", Kind: "svn", URI: "u"})
		w.wantErr(err, fault.ErrConflict)
	}},
	{"a limit below one is invalid", func(w *world) {
		_, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 0})
		w.wantErr(err, fault.ErrInvalid)
		_, _, err = w.Select(w.ctx, nil, catalog.Limits{Clips: 1, Episodes: -1})
		w.wantErr(err, fault.ErrInvalid)
	}},
	{"a context that has ended ends a call before it changes anything", func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		_, err := w.Curate(ctx, show, w.now, catalog.Listing{Episodes: []models.Episode{episode("monday")}})
		w.wantErr(err, context.Canceled)
		if got := w.totals().Episodes; got != 0 {
			w.Fatalf("got %d episodes", got)
		}
	}},
	{"after Close every call fails with ErrClosed, and closing again returns nil", func(w *world) {
		w.ok(w.Catalog.Close())
		w.ok(w.Catalog.Close())
		_, err := w.Totals(w.ctx)
		w.wantErr(err, fault.ErrClosed)
		_, _, err = w.Select(w.ctx, nil, catalog.Limits{Clips: 1})
		w.wantErr(err, fault.ErrClosed)
		w.wantErr(w.Ingest(w.ctx, models.Researched{}, time.Time{}), fault.ErrClosed)
	}},
}

// badResults spoil a good result with two findings, each in one way.
var badResults = map[string]func(*models.Researched){
	"score is not a number":    func(r *models.Researched) { r.Findings[1].Score = math.NaN() },
	"score is infinite":        func(r *models.Researched) { r.Findings[1].Score = math.Inf(1) },
	"coverage is above 1":      func(r *models.Researched) { r.Findings[1].Coverage = 1.1 },
	"coverage is not a number": func(r *models.Researched) { r.Findings[1].Coverage = math.NaN() },
	"coverage is negative":     func(r *models.Researched) { r.Findings[1].Coverage = -0.1 },
	"speed is not a number":    func(r *models.Researched) { r.Findings[1].Speed = math.NaN() },
	"speed is infinite":        func(r *models.Researched) { r.Findings[1].Speed = math.Inf(1) },
	"part has no end":          func(r *models.Researched) { r.Findings[1].PartTo = models.Seconds(math.NaN()) },
	"part begins at no time": func(r *models.Researched) {
		r.Findings[1].PartFrom, r.Findings[1].PartTo = models.Seconds(math.Inf(1)), models.Seconds(math.Inf(1))
	},
	"offset is infinite":        func(r *models.Researched) { r.Findings[1].Offset = models.Seconds(math.Inf(1)) },
	"duration is not a number":  func(r *models.Researched) { r.Findings[1].Duration = models.Seconds(math.NaN()) },
	"a clip's problem, no clip": func(r *models.Researched) { *r = failed(found(*r), models.ScopeClip, "x"); r.Clips = nil },
	"findings of an episode":    func(r *models.Researched) { *r = failed(*r, models.ScopeEpisode, "x") },
	"part begins before clip":   func(r *models.Researched) { r.Findings[1].PartFrom = -1 },
	"part ends before it":       func(r *models.Researched) { r.Findings[1].PartFrom, r.Findings[1].PartTo = 2, 1 },
	"part is infinite":          func(r *models.Researched) { r.Findings[1].PartTo = models.Seconds(math.Inf(1)) },
	"part is not a number":      func(r *models.Researched) { r.Findings[1].PartFrom = models.Seconds(math.NaN()) },
	"speed is negative":         func(r *models.Researched) { r.Findings[1].Speed = -1 },
	"offset is negative":        func(r *models.Researched) { r.Findings[1].Offset = -0.1 },
	"offset is not a number":    func(r *models.Researched) { r.Findings[1].Offset = models.Seconds(math.NaN()) },
	"duration is negative":      func(r *models.Researched) { r.Findings[1].Duration = -1 },
	"duration is infinite":      func(r *models.Researched) { r.Findings[1].Duration = models.Seconds(math.Inf(1)) },
	"finding of another clip":   func(r *models.Researched) { r.Findings[1].Clip = "other" },
	"finding elsewhere":         func(r *models.Researched) { r.Findings[1].Episode = "other" },
	"no version of a clip":      func(r *models.Researched) { r.ClipMedia = nil },
	"a problem, no version":     func(r *models.Researched) { *r = failed(found(*r), models.ScopePair, "x"); r.ClipMedia = nil },
	"unknown scope":             func(r *models.Researched) { *r = failed(found(*r), "planet", "x") },
	"no scope":                  func(r *models.Researched) { *r = failed(found(*r), "", "x") },
	"a problem and findings":    func(r *models.Researched) { *r = failed(*r, models.ScopePair, "x") },
	"a pair's problem, no clip": func(r *models.Researched) { *r = failed(found(*r), models.ScopePair, "x"); r.Clips = nil },
}
