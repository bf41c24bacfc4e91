package catalogtest

import (
	"leasehold/models"
	"leasehold/shared/fault"
)

var liftCases = []behaviour{
	{"a pair whose problem is lifted is selected again, and no other", func(w *world) {
		w.episodes("monday")
		w.clips("long", "longer", "silence")
		r := w.selects("monday", "long", "longer", "silence")
		w.ingest(failed(only(r, "The long"), models.ScopePair, "gave up"))
		w.ingest(failed(only(r, "The longer"), models.ScopePair, "gave up"))
		w.ingest(failed(only(r, "The silence"), models.ScopeClip, "silent"))
		w.requireNothingLeft()
		w.ok(w.Lift(w.ctx, episodeID("monday"), []string{"nobody", clipID("long"), clipID("silence")}))
		w.selects("monday", "long")
		w.wantReasons("monday: gave up", "silence: silent")
	}},
	{"lifting twice, or what has no problem, changes nothing", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.researchAll()
		w.ok(w.Lift(w.ctx, episodeID("monday"), []string{clipID("jingle")}))
		w.ok(w.Lift(w.ctx, "nobody", []string{clipID("jingle")}))
		w.ok(w.Lift(w.ctx, episodeID("monday"), nil))
		w.requireNothingLeft()
	}},
	{"after Close nothing is lifted", func(w *world) {
		w.ok(w.Catalog.Close())
		w.wantErr(w.Lift(w.ctx, "x", nil), fault.ErrClosed)
	}},
}
