package catalogtest

import (
	"reflect"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

var priorityCases = []behaviour{
	{"the priority of an origin is set and nothing else, and an unknown origin is not added", func(w *world) {
		before, err := w.Origin(w.ctx, show)
		w.ok(err)
		before.Priority = -4
		after, err := w.SetOriginPriority(w.ctx, show, -4)
		w.ok(err)
		got, err := w.Origin(w.ctx, show)
		w.ok(err)
		if !reflect.DeepEqual(after, before) || !reflect.DeepEqual(got, before) {
			w.Fatalf("got %+v and %+v, want %+v", after, got, before)
		}
		w.ok(w.RemoveOrigin(w.ctx, show))
		_, err = w.SetOriginPriority(w.ctx, show, 5)
		w.wantErr(err, fault.ErrNotFound)
		_, err = w.Origin(w.ctx, show)
		w.wantErr(err, fault.ErrNotFound)
	}},
	{"an episode whose priority is set is selected next, also after its listing and a new version", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle")
		other := map[string]string{"monday": "tuesday", "tuesday": "monday"}
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		w.ok(err)
		last := other[r.Episode.Title[len("The "):]]
		seven := int64(7)
		e, err := w.SetEpisodePriority(w.ctx, episodeID(last), &seven)
		w.ok(err)
		w.wantPriority(e.Recording, 7, true)
		w.selects(last, "jingle")

		w.episodes("monday", "tuesday")
		w.selects(last, "jingle")
		w.episodes("monday@2", "tuesday@2")
		w.selects(last, "jingle")
		e, err = w.Episode(w.ctx, episodeID(last))
		w.ok(err)
		w.wantPriority(e.Recording, 7, true)
		w.episodes(other[last])
		w.episodes("monday@3", "tuesday@3")
		w.selects(last, "jingle")
	}},
	{"an episode that is reset has the priority that its origin lists now", func(w *world) {
		list := func(priority int64) {
			e := episode("monday")
			e.Priority = priority
			w.visit(show, catalog.Listing{Complete: true, Episodes: []models.Episode{e, episode("tuesday")}})
		}
		list(3)
		w.clips("jingle")
		low := int64(-1)
		_, err := w.SetEpisodePriority(w.ctx, episodeID("monday"), &low)
		w.ok(err)
		w.selects("tuesday", "jingle")
		list(5)
		w.selects("tuesday", "jingle")
		e, err := w.SetEpisodePriority(w.ctx, episodeID("monday"), nil)
		w.ok(err)
		w.wantPriority(e.Recording, 5, false)
		w.selects("monday", "jingle")
		list(-5)
		w.selects("tuesday", "jingle")
	}},
	{"a clip whose priority is set is selected first, also after its listing", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "spot", "theme")
		first := func(want string) {
			w.Helper()
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 1})
			w.ok(err)
			if got := r.Clips[0].Title; got != "The "+want {
				w.Fatalf("selected %s, want %s", got, want)
			}
		}
		for n, name := range []string{"jingle", "spot", "theme"} {
			priority := int64(n + 1)
			k, err := w.SetClipPriority(w.ctx, clipID(name), &priority)
			w.ok(err)
			w.wantPriority(k.Recording, priority, true)
			first(name)
		}
		w.clips("jingle", "spot", "theme@2")
		first("theme")
		_, err := w.SetClipPriority(w.ctx, clipID("theme"), nil)
		w.ok(err)
		first("spot")
	}},
	{"the priority of a recording that is unknown or gone cannot be set", func(w *world) {
		w.episodes("monday")
		w.episodes()
		one := int64(1)
		_, err := w.SetEpisodePriority(w.ctx, episodeID("monday"), &one)
		w.wantErr(err, fault.ErrNotFound)
		_, err = w.SetClipPriority(w.ctx, "unknown", nil)
		w.wantErr(err, fault.ErrNotFound)
	}},
}

// wantPriority fails unless a recording has this priority, and is or is not marked as set by the
// user.
func (w *world) wantPriority(r models.Recording, priority int64, set bool) {
	w.Helper()
	if r.Priority != priority || r.PrioritySet != set {
		w.Fatalf("got priority %d (set: %t), want %d (%t)", r.Priority, r.PrioritySet, priority, set)
	}
}
