package catalogtest

import (
	"leasehold/models"
	"leasehold/shared/catalog"
)

const sameAsA = "b: same content as a (/srv/spots); researched once, under that name"

var duplicateCases = []behaviour{
	{"of two clips with the same content the one curated first is selected", func(w *world) {
		w.episodes("monday")
		w.clips("a#sha256:11")
		w.clips("a#sha256:11", "b#sha256:11", "c#sha256:22")
		w.selects("monday", "a", "c")
		w.wantReasons(sameAsA)
	}},
	{"clips whose content is unknown are not taken for the same", func(w *world) {
		w.episodes("monday")
		w.clips("a", "b")
		w.selects("monday", "a", "b")
		w.wantReasons()
	}},
	{"when the original is gone the other is selected, until it comes back", func(w *world) {
		w.episodes("monday")
		w.clips("a#sha256:11")
		w.clips("a#sha256:11", "b#sha256:11")
		w.researchAll()
		w.clips("b#sha256:11")
		w.wantReasons()
		w.selects("monday", "b")
		w.clips("a#sha256:11", "b#sha256:11")
		w.wantReasons(sameAsA)
		w.requireNothingLeft()
	}},
	{"when the original's origin is removed the other is selected", func(w *world) {
		w.episodes("monday")
		w.addOrigin("old", models.Clips)
		w.visit("old", catalog.Listing{Clips: []models.Clip{clip("a#sha256:11")}})
		w.clips("b#sha256:11")
		w.wantReasons("b: same content as a (/srv/old); researched once, under that name")
		w.researchAll()
		w.ok(w.RemoveOrigin(w.ctx, "old"))
		w.wantReasons()
		w.selects("monday", "b")
	}},
	{"when the original changes the other is selected too", func(w *world) {
		w.episodes("monday")
		w.clips("a#sha256:11")
		w.clips("a#sha256:11", "b#sha256:11")
		w.researchAll()
		w.clips("a@2#sha256:33", "b#sha256:11")
		w.wantReasons()
		w.selects("monday", "a", "b")
	}},
	{"when the other changes it is selected", func(w *world) {
		w.episodes("monday")
		w.clips("a#sha256:11")
		w.clips("a#sha256:11", "b#sha256:11")
		w.researchAll()
		w.clips("a#sha256:11", "b@2#sha256:44")
		w.wantReasons()
		w.selects("monday", "b")
	}},
	{"of three the next oldest takes the original's place", func(w *world) {
		w.episodes("monday")
		w.clips("a#sha256:11")
		w.clips("a#sha256:11", "b#sha256:11")
		w.clips("a#sha256:11", "b#sha256:11", "c#sha256:11")
		w.clips("b#sha256:11", "c#sha256:11")
		w.selects("monday", "b")
		w.wantReasons("c: same content as b (/srv/spots); researched once, under that name")
	}},
	{"a hash that research tells shows a duplicate", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("a#sha256:11")
		w.clips("a#sha256:11", "b")
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		done := result(r)
		m := done.ClipMedia[clipID("b")]
		m.Hash = "sha256:11"
		done.ClipMedia[clipID("b")] = m
		w.ingest(done)
		w.wantReasons(sameAsA)
		r, _, err = w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		if got := titles(r); len(got) != 1 || got[0] != "The a" {
			w.Fatalf("selected %q", got)
		}
	}},
}
