package catalogtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// world is a catalog under test, with verbs that fail the test on an error. A
// recording is called by its name; the version of its media is "1" unless the
// test states another.
type world struct {
	*testing.T
	catalog.Catalog
	ctx context.Context
	now time.Time // moves by a minute with each visit
}

// The origins that a new world has.
const (
	show  = "show"  // a media folder
	spots = "spots" // a folder of clips
)

// newWorld opens a catalog with two origins, one of episodes and one of clips. It is closed when
// the test ends.
func newWorld(t *testing.T, open Open) *world {
	t.Helper()
	w := &world{T: t, Catalog: open(t), ctx: context.Background(), now: start}
	t.Cleanup(func() { w.ok(w.Catalog.Close()) })
	w.addOrigin(show, models.Media)
	w.addOrigin(spots, models.Clips)
	return w
}

var start = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// ok fails if err is not nil.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// wantErr fails unless err is of a kind.
func (w *world) wantErr(err, kind error) {
	w.Helper()
	if !errors.Is(err, kind) {
		w.Fatalf("got error %v, want %v", err, kind)
	}
}

// addOrigin adds an origin whose URI is /srv/ and its id.
func (w *world) addOrigin(id string, kind models.OriginKind) {
	w.Helper()
	_, err := w.AddOrigin(w.ctx, models.Origin{ID: id, Kind: kind, URI: "/srv/" + id, AddedAt: start})
	w.ok(err)
}

// visit curates a listing a minute after the last.
func (w *world) visit(origin string, l catalog.Listing) catalog.Curated {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	n, err := w.Curate(w.ctx, origin, w.now, l)
	w.ok(err)
	return n
}

// episodes and clips visit the two origins, which then list exactly these names.
func (w *world) episodes(names ...string) catalog.Curated {
	w.Helper()
	return w.visit(show, catalog.Listing{Complete: true, Episodes: each(names, episode)})
}

func (w *world) clips(names ...string) catalog.Curated {
	w.Helper()
	return w.visit(spots, catalog.Listing{Complete: true, Clips: each(names, clip)})
}

// episode and clip read "name", "name@version" or "name@version#hash".
func episode(s string) models.Episode { return models.Episode{Recording: recording(s)} }
func clip(s string) models.Clip       { return models.Clip{Recording: recording(s)} }

func titleOf(name string) string { return "The " + name }

// recording returns a recording for NAME[@VERSION][#HASH]; the version is 1 unless it is given.
func recording(s string) models.Recording {
	s, hash, _ := strings.Cut(s, "#")
	name, version, ok := strings.Cut(s, "@")
	if !ok {
		version = "1"
	}
	return models.Recording{Name: name, Title: titleOf(name),
		Media: models.MediaRef{URI: "file:///srv/" + name, Type: "audio/wav", Version: version, Hash: hash}}
}

// each returns f of each element.
func each[S, T any](list []S, f func(S) T) []T {
	mapped := make([]T, 0, len(list))
	for _, s := range list {
		mapped = append(mapped, f(s))
	}
	return mapped
}

func episodeID(name string) string { return models.NewID(show, name) }
func clipID(name string) string    { return models.NewID(spots, name) }

// selects sees that Select chooses the clips, in any order, in the episode.
func (w *world) selects(episode string, clips ...string) models.Research {
	w.Helper()
	return w.selectsWhile(nil, episode, clips...)
}

// selectsWhile requires that exactly these clips of the episode are selected, in any
// order, while busy is.
func (w *world) selectsWhile(busy []catalog.Busy, episode string, clips ...string) models.Research {
	w.Helper()
	r, _, err := w.Select(w.ctx, busy, catalog.Limits{Clips: 100})
	w.ok(err)
	if want := "The " + episode; r.Episode.Title != want {
		w.Fatalf("selected episode %q, want %q", r.Episode.Title, want)
	}
	got, want := titles(r), each(clips, func(n string) string { return "The " + n })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.Fatalf("selected clips %q, want %q", got, want)
	}
	return r
}

func titles(r models.Research) []string {
	return each(r.Clips, func(i models.ResearchItem) string { return i.Title })
}

// requireNothingLeft requires that Select has nothing to choose.
func (w *world) requireNothingLeft() {
	w.Helper()
	r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
	if !errors.Is(err, fault.ErrNotFound) {
		w.Fatalf("selected %q %q (%v), want nothing left", r.Episode.Title, titles(r), err)
	}
}

// result is what research of some selected work found: nothing.
func result(r models.Research) models.Researched {
	done := models.Researched{Episode: r.Episode.ID, EpisodeMedia: r.Episode.Media, ClipMedia: map[string]models.MediaRef{}}
	for _, c := range r.Clips {
		done.Clips = append(done.Clips, c.ID)
		done.ClipMedia[c.ID] = c.Media
	}
	return done
}

func (w *world) ingest(r models.Researched) {
	w.Helper()
	w.ok(w.Ingest(w.ctx, r, w.now))
}

// researchAll selects and ingests results without findings until Select returns
// fault.ErrNotFound.
func (w *world) researchAll() {
	w.Helper()
	for {
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
		if errors.Is(err, fault.ErrNotFound) {
			return
		}
		w.ok(err)
		w.ingest(result(r))
	}
}

// totals returns the totals of the catalog.
func (w *world) totals() catalog.Totals {
	w.Helper()
	t, err := w.Totals(w.ctx)
	w.ok(err)
	return t
}

// reasons lists the problems as "item: reason".
func (w *world) reasons() []string {
	w.Helper()
	list, err := w.Problems(w.ctx)
	w.ok(err)
	return each(list, func(p catalog.Problem) string { return p.Item + ": " + p.Reason })
}

// wantReasons fails unless the problems have these reasons, in this order.
func (w *world) wantReasons(want ...string) {
	w.Helper()
	if got := w.reasons(); !slices.Equal(got, want) {
		w.Fatalf("problems\n got %q\nwant %q", got, want)
	}
}
