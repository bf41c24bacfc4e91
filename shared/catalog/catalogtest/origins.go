package catalogtest

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

var originCases = []behaviour{
	{"an origin comes back as it was added", func(w *world) {
		o := models.Origin{ID: "news", Kind: models.Feed, URI: "https://example.org/feed?a=1", Priority: 7, AddedAt: start.Add(time.Hour)}
		isNew, err := w.AddOrigin(w.ctx, o)
		w.ok(err)
		got, err := w.Origin(w.ctx, "news")
		w.ok(err)
		if !isNew || !reflect.DeepEqual(got, o) {
			w.Fatalf("new %v, got %+v, want %+v", isNew, got, o)
		}
	}},
	{"adding a known origin sets its priority and nothing else", func(w *world) {
		isNew, err := w.AddOrigin(w.ctx, models.Origin{ID: show, Kind: models.Media, URI: "/elsewhere", Priority: 3})
		w.ok(err)
		got, err := w.Origin(w.ctx, show)
		w.ok(err)
		if isNew || got.Priority != 3 || got.URI != "/srv/show" || !got.AddedAt.Equal(start) {
			w.Fatalf("new %v, got %+v", isNew, got)
		}
	}},
	{"branches and tags of a known origin are replaced apart", func(w *world) {
		o := models.Origin{ID: "tagged", Kind: models.Git, URI: "/srv/tagged", AddedAt: start}
		for _, c := range []struct{ branches, tags, wantBranches, wantTags []string }{
			{nil, []string{"v*"}, nil, []string{"v*"}},
			{[]string{"main"}, nil, []string{"main"}, []string{"v*"}},
			{nil, []string{"v1", "v2"}, []string{"main"}, []string{"v1", "v2"}},
			{[]string{}, nil, nil, []string{"v1", "v2"}},
			{[]string{"dev"}, []string{}, []string{"dev"}, nil},
		} {
			o.Branches, o.Tags = c.branches, c.tags
			_, err := w.AddOrigin(w.ctx, o)
			w.ok(err)
			got, err := w.Origin(w.ctx, "tagged")
			w.ok(err)
			if !slices.Equal(got.Branches, c.wantBranches) || !slices.Equal(got.Tags, c.wantTags) {
				w.Fatalf("added %q and %q: got %q and %q, want %q and %q", c.branches, c.tags, got.Branches, got.Tags, c.wantBranches, c.wantTags)
			}
		}
		o.Tags = []string{"a b"}
		_, err := w.AddOrigin(w.ctx, o)
		w.wantErr(err, fault.ErrInvalid)
	}},
	{"adding a known origin replaces its branches, unless it names none", func(w *world) {
		o := models.Origin{ID: "repo", Kind: models.Git, URI: "/srv/repo", AddedAt: start}
		for _, c := range []struct{ add, want []string }{
			{[]string{"main", "release-*"}, []string{"main", "release-*"}},
			{nil, []string{"main", "release-*"}},
			{[]string{"HEAD"}, []string{"HEAD"}},
			{[]string{}, nil},
		} {
			o.Branches = c.add
			_, err := w.AddOrigin(w.ctx, o)
			w.ok(err)
			got, err := w.Origin(w.ctx, "repo")
			w.ok(err)
			if !slices.Equal(got.Branches, c.want) {
				w.Fatalf("added %q: got %q, want %q", c.add, got.Branches, c.want)
			}
		}
		for _, bad := range []string{"", "-f", "a b", "[", "a\nb", "a\x00"} {
			o.Branches = []string{"main", bad}
			_, err := w.AddOrigin(w.ctx, o)
			w.wantErr(err, fault.ErrInvalid)
		}
		o.Branches = make([]string, 65)
		for i := range o.Branches {
			o.Branches[i] = "b"
		}
		_, err := w.AddOrigin(w.ctx, o)
		w.wantErr(err, fault.ErrInvalid)
	}},
	{"origins are listed oldest first", func(w *world) {
		_, err := w.AddOrigin(w.ctx, models.Origin{ID: "older", Kind: models.Feed, URI: "u", AddedAt: start.Add(-time.Hour)})
		w.ok(err)
		list, err := w.Origins(w.ctx)
		w.ok(err)
		if len(list) != 3 || list[0].ID != "older" || list[1].ID != show || list[2].ID != spots {
			w.Fatalf("got %+v", list)
		}
	}},
	{"the outcome of a visit is kept, an older one changes nothing", func(w *world) {
		at := start.Add(time.Hour)
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Failed, Error: "no such folder", At: at}))
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Eventful, At: at.Add(-time.Minute)}))
		got, err := w.Origin(w.ctx, show)
		w.ok(err)
		w.wantProblems(1)
		if got.LastOutcome != models.Failed || got.LastError != "no such folder" || !got.LastVisit.Equal(at) {
			w.Fatalf("got %+v", got)
		}
	}},
	{"a failed visit is a problem of its origin until another visit ends", func(w *world) {
		at := start.Add(time.Hour)
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Failed, Error: "no such folder", At: at}))
		problems, err := w.Problems(w.ctx)
		w.ok(err)
		if len(problems) != 1 || problems[0].OriginID != show || problems[0].Reason != "no such folder" || !problems[0].At.Equal(at) {
			w.Fatalf("got %+v", problems)
		}
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.NotFound, Error: "nothing there", At: at.Add(time.Second)}))
		if got := w.reasons(); len(got) != 1 || !strings.Contains(got[0], "nothing there") {
			w.Fatalf("got %q", got)
		}
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Uneventful, At: at.Add(time.Minute)}))
		if got := w.totals().Problems; got != 0 {
			w.Fatalf("got %d problems", got)
		}
	}},
	{"an origin moves to an address that its feed gave for a day and at which a feed answers", func(w *world) {
		const to = "https://new.example/feed.xml"
		before, err := w.Origin(w.ctx, show)
		w.ok(err)
		w.episodes("monday")
		visit := func(after time.Duration, status models.Status, m *models.Move) models.Origin {
			w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: status, At: start.Add(after), Move: m}))
			o, err := w.Origin(w.ctx, show)
			w.ok(err)
			return o
		}
		want := func(o models.Origin, uri, movesTo string, since time.Duration) {
			w.Helper()
			if o.URI != uri || o.MovesTo != movesTo || movesTo != "" && !o.MovesSince.Equal(start.Add(since)) {
				w.Fatalf("got %+v, want %s, and a move to %q since %s", o, uri, movesTo, since)
			}
		}
		want(visit(time.Hour, models.Eventful, &models.Move{To: to, Answers: true}), before.URI, to, time.Hour)
		want(visit(20*time.Hour, models.Uneventful, &models.Move{To: to, Answers: true}), before.URI, to, time.Hour)
		want(visit(26*time.Hour, models.Uneventful, &models.Move{To: to}), before.URI, to, time.Hour)
		want(visit(27*time.Hour, models.Failed, nil), before.URI, to, time.Hour)
		want(visit(28*time.Hour, models.Uneventful, nil), before.URI, "", 0)
		want(visit(29*time.Hour, models.Uneventful, &models.Move{To: "https://other.example/"}), before.URI, "https://other.example/", 29*time.Hour)
		want(visit(60*time.Hour, models.Uneventful, &models.Move{To: to, Answers: true}), before.URI, to, 60*time.Hour)
		moved := visit(84*time.Hour, models.Uneventful, &models.Move{To: to, Answers: true})
		want(moved, to, "", 0)
		if moved.MovedFrom != before.URI || moved.ID != show || !moved.Listed {
			w.Fatalf("got %+v, want the old URI kept, and no trust in a host that the feed named", moved)
		}
		if got := w.totals(); got.Origins != 2 || got.Episodes != 1 {
			w.Fatalf("got %+v", got)
		}
		_, err = w.AddOrigin(w.ctx, before)
		w.ok(err)
		back, err := w.Origin(w.ctx, show)
		w.ok(err)
		want(back, before.URI, "", 0)
		if back.MovedFrom != "" || back.Listed {
			w.Fatalf("got %+v, want it as it was added", back)
		}
	}},
	{"an origin does not move to the address of another one", func(w *world) {
		const to = "https://new.example/feed.xml"
		before, err := w.Origin(w.ctx, show)
		w.ok(err)
		_, err = w.AddOrigin(w.ctx, models.Origin{ID: "other", Kind: before.Kind, URI: to, AddedAt: start})
		w.ok(err)
		for _, after := range []time.Duration{time.Hour, 26 * time.Hour} {
			w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Uneventful, At: start.Add(after), Move: &models.Move{To: to, Answers: true}}))
		}
		got, err := w.Origin(w.ctx, show)
		w.ok(err)
		if got.URI != before.URI || got.MovesTo != "" {
			w.Fatalf("got %+v", got)
		}
		problems, err := w.Problems(w.ctx)
		w.ok(err)
		if len(problems) != 1 || problems[0].Reason != "its new address, "+to+", is another origin, other" || !problems[0].At.Equal(start.Add(time.Hour)) {
			w.Fatalf("got %+v, want one problem since the first visit that found the address", problems)
		}
		w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Uneventful, At: start.Add(27 * time.Hour)}))
		w.wantProblems(0)
	}},
	{"an origin whose server redirects to an address that cannot be used stays, with a problem", func(w *world) {
		for i, problem := range []string{"not a public address", "not a public address", "the origin moved from there"} {
			w.ok(w.RecordOutcome(w.ctx, models.Outcome{Origin: show, Status: models.Uneventful, At: start.Add(time.Duration(i+1) * time.Hour), Move: &models.Move{Problem: problem}}))
			if got := w.reasons(); len(got) != 1 || !strings.Contains(got[0], problem) {
				w.Fatalf("got %q", got)
			}
		}
	}},
	{"removing an origin forgets its recordings, findings and problems", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "advert")
		r := result(w.selects("monday", "jingle", "advert"))
		r.Findings = []models.Finding{{Episode: r.Episode, Clip: r.Clips[0], Occurrence: models.Occurrence{Offset: 1, Duration: 2, Score: 1}}}
		w.ingest(r)
		w.visit(show, catalog.Listing{Episodes: []models.Episode{episode("monday")}, Problems: []models.Problem{{Item: "x", Reason: "empty"}}})
		w.ok(w.RemoveOrigin(w.ctx, show))
		if got, want := w.totals(), (catalog.Totals{Origins: 1, Clips: 2}); got != want {
			w.Fatalf("got %+v, want %+v", got, want)
		}
		w.requireNothingLeft()
	}},
	{"removing the origin of clips leaves no researched pairs", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.researchAll()
		w.ok(w.RemoveOrigin(w.ctx, spots))
		if got, want := w.totals(), (catalog.Totals{Origins: 1, Episodes: 1}); got != want {
			w.Fatalf("got %+v, want %+v", got, want)
		}
	}},
	{"an origin removed and added again is researched again", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.researchAll()
		w.ok(w.RemoveOrigin(w.ctx, spots))
		w.addOrigin(spots, models.Clips)
		w.clips("jingle")
		w.selects("monday", "jingle")
	}},
	{"an unknown origin is not found", func(w *world) {
		_, err := w.Origin(w.ctx, "nobody")
		w.wantErr(err, fault.ErrNotFound)
		w.wantErr(w.RemoveOrigin(w.ctx, "nobody"), fault.ErrNotFound)
		w.wantErr(w.RecordOutcome(w.ctx, models.Outcome{Origin: "nobody", Status: models.Failed, At: start}), fault.ErrNotFound)
		_, err = w.Curate(w.ctx, "nobody", start, catalog.Listing{})
		w.wantErr(err, fault.ErrNotFound)
	}},
}
