package catalogtest

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// odd has what databases refuse in text, and is longer than what they index, also compressed.
var odd = func() string {
	rng := rand.New(rand.NewPCG(1, 2))
	text := []rune("a\x00b\xffc")
	for range 5000 {
		text = append(text, 'à'+rng.Int32N(10_000))
	}
	return string(text) + "\xff"
}()

var textCases = []behaviour{
	{"a listing with texts that databases refuse is stored, and what of it was stored changes no more", func(w *world) {
		e := episode("monday")
		e.Title, e.Media.Type, e.Media.Hash = odd, "a\x00", odd
		other := episode("tues\x00day")
		l := catalog.Listing{Episodes: []models.Episode{e, other}, Problems: []models.Problem{{Item: "a\x00", Reason: odd}}}
		w.wantCurated(w.visit(show, l), catalog.Curated{New: 2})
		w.wantCurated(w.visit(show, l), catalog.Curated{})
		all, err := w.Episodes(w.ctx)
		w.ok(err)
		for _, e := range all {
			if len(e.Title) > 1000 || !utf8.ValidString(e.Title) || strings.ContainsRune(e.Title, 0) || e.Media.Hash != "" {
				w.Fatalf("got the title %q, the hash %q", e.Title, e.Media.Hash)
			}
		}
		if got := w.totals().Problems; got != 1 {
			w.Fatalf("got %d problems", got)
		}
	}},
	{"a result with texts that databases refuse is stored", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle")
		r := found(result(w.selects("monday", "jingle")), 1)
		r.EpisodeMedia.Hash, r.Problem, r.Scope = odd, odd, models.ScopePart
		w.ingest(r)
		r = result(w.selects("tuesday", "jingle"))
		r.Problem, r.Scope = odd, models.ScopeEpisode
		w.ingest(r)
		if got := w.totals(); got.Problems != 2 || got.Findings != 1 {
			w.Fatalf("got %+v", got)
		}
	}},
	{"an outcome and a check with texts that databases refuse are stored", func(w *world) {
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Failed, At: w.now, Error: odd}))
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Eventful, At: w.now.Add(1e9), Move: &models.Move{To: "https://a\x00", Problem: odd}}))
		w.episodes("monday")
		all, err := w.AudioToCheck(w.ctx, show, 1)
		w.ok(err)
		for i := range all {
			all[i].ETag, all[i].Modified = "a\x00", "\xff"
		}
		_, err = w.AudioChecked(w.ctx, w.now, all)
		w.ok(err)
	}},
	{"an origin whose URI databases refuse is invalid", func(w *world) {
		_, err := w.AddOrigin(w.ctx, models.Origin{ID: "a", Kind: models.Feed, URI: "https://a.example/\x00"})
		w.wantErr(err, fault.ErrInvalid)
	}},
}
