package catalogtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// FewHistories has Exercise run a quarter of the random histories that package rapid would, because a server or the race
// detector needs a second for each of them. The flag -rapid.checks counts more. A test's main function calls it.
func FewHistories() error { return flag.Set("rapid.checks", "25") }

// exerciseHistories runs random visits, selections and results, early and late,
// against the catalog and the naive one.
func exerciseHistories(t *testing.T, open Open) {
	rapid.Check(t, func(r *rapid.T) {
		h := newHistory(r, open(t))
		defer h.store.Close()
		r.Repeat(map[string]func(*rapid.T){
			"visit episodes": h.visitEpisodes,
			"visit clips":    h.visitClips,
			"select":         h.selectWork,
			"ingest":         h.ingestOne,
			"ingest again":   h.ingestAgain,
		})
		h.finish(r)
	})
}

// history is a catalog, the naive one, and the selected work that has no result yet.
type history struct {
	store catalog.Catalog
	naive *naive
	out   []naiveWork // selected: busy until its result is ingested
	in    []naiveWork // ingested
}

var background = context.Background()

// newHistory adds the two origins to an empty catalog, and begins the naive one that it is
// compared with.
func newHistory(t *rapid.T, c catalog.Catalog) *history {
	for id, kind := range map[string]models.OriginKind{show: models.Media, spots: models.Clips} {
		if _, err := c.AddOrigin(background, models.Origin{ID: id, Kind: kind, URI: "/" + id}); err != nil {
			t.Fatal(err)
		}
	}
	return &history{store: c, naive: newNaive()}
}

// listing draws a few recordings, of few names, versions, hashes and priorities
// so that each comes back often.
func listing(t *rapid.T) []models.Recording {
	var list []models.Recording
	for _, name := range rapid.SliceOfNDistinct(rapid.StringOfN(rapid.RuneFrom([]rune("abcdef")), 1, 1, 1), 0, 6, rapid.ID).Draw(t, "names") {
		r := recording(fmt.Sprintf("%s@%d", name, rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "version")))
		r.Priority = rapid.SampledFrom([]int64{0, 0, 0, 5}).Draw(t, "priority")
		r.Media.Hash = rapid.SampledFrom([]string{"", "", "sha256:x", "sha256:y"}).Draw(t, "hash")
		list = append(list, r)
	}
	return list
}

// visitEpisodes gives a drawn list of episodes to both catalogs.
func (h *history) visitEpisodes(t *rapid.T) {
	list := listing(t)
	h.naive.curate(false, list)
	l := catalog.Listing{Complete: true, Episodes: each(list, func(r models.Recording) models.Episode { return models.Episode{Recording: r} })}
	h.curate(t, show, l)
}

// visitClips gives a drawn list of clips to both catalogs.
func (h *history) visitClips(t *rapid.T) {
	list := listing(t)
	h.naive.curate(true, list)
	l := catalog.Listing{Complete: true, Clips: each(list, func(r models.Recording) models.Clip { return models.Clip{Recording: r} })}
	h.curate(t, spots, l)
}

// curate gives a listing to the catalog under test, and fails on an error.
func (h *history) curate(t *rapid.T, origin string, l catalog.Listing) {
	if _, err := h.store.Curate(background, origin, h.at(), l); err != nil {
		t.Fatal(err)
	}
}

func (h *history) at() time.Time { return start.Add(time.Duration(h.naive.visits) * time.Minute) }

// selectWork selects with all unfinished work busy, and fails unless the naive catalog selects the same. It adds
// the selection to the unfinished work.
func (h *history) selectWork(t *rapid.T) {
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	busy := map[[2]string]bool{}
	var told []catalog.Busy
	for _, w := range h.out {
		busy[[2]string{w.episode, w.clip}] = true
		told = append(told, catalog.Busy{Episode: episodeID(w.episode), Clips: []string{clipID(w.clip)}})
	}
	wantEpisode, wantClips := h.naive.selects(busy, limit)
	got, _, err := h.store.Select(background, told, catalog.Limits{Clips: limit})
	if err != nil && !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
	if (err != nil) != (wantEpisode == "") {
		t.Fatalf("selected %+v (%v), want %q %q", got, err, wantEpisode, wantClips)
	}
	if err != nil {
		return
	}
	gotClips := titles(got)
	if got.Episode.Title != "The "+wantEpisode || !slices.Equal(gotClips, each(wantClips, func(n string) string { return "The " + n })) {
		t.Fatalf("selected %q %q, want %q %q", got.Episode.Title, gotClips, wantEpisode, wantClips)
	}
	for i, name := range wantClips {
		h.out = append(h.out, naiveWork{wantEpisode, got.Episode.Media.Version, name, got.Clips[i].Media.Version})
	}
}

// ingestOne ingests a result of some unfinished work. With a scope it is a failure of the pair, or of all pairs
// of the clip or of the episode; without one it succeeded.
func (h *history) ingestOne(t *rapid.T) {
	if len(h.out) == 0 {
		return
	}
	i := rapid.IntRange(0, len(h.out)-1).Draw(t, "work")
	w := h.out[i]
	h.out = slices.Delete(h.out, i, i+1)
	h.in = append(h.in, w)
	h.ingest(t, w, rapid.SampledFrom([]models.Scope{"", "", "", "", models.ScopePair, models.ScopeClip, models.ScopeEpisode, models.ScopePart}).Draw(t, "scope"))
}

// ingestAgain is a late result of another attempt at something ingested before.
func (h *history) ingestAgain(t *rapid.T) {
	if len(h.in) == 0 {
		return
	}
	w := rapid.SampledFrom(h.in).Draw(t, "work")
	h.ingest(t, w, rapid.SampledFrom([]models.Scope{"", models.ScopePair}).Draw(t, "scope"))
}

// ingest ingests a result of w into both catalogs; scope is the scope of its problem, or empty if it succeeded.
func (h *history) ingest(t *rapid.T, w naiveWork, scope models.Scope) {
	h.naive.ingest(w, scope)
	r := models.Researched{
		Episode: episodeID(w.episode), EpisodeMedia: models.MediaRef{Version: w.episodeVersion},
		Clips: []string{clipID(w.clip)}, ClipMedia: map[string]models.MediaRef{clipID(w.clip): {Version: w.clipVersion}},
		Scope: scope,
	}
	if scope != "" {
		r.Problem = "because"
	}
	if err := h.store.Ingest(background, r, h.at()); err != nil {
		t.Fatal(err)
	}
}

// finish ingests a success of all unfinished work, and selects and ingests until nothing is left. It fails if
// this takes more rounds than there are pairs of six episodes and six clips.
func (h *history) finish(t *rapid.T) {
	for limit := 6*6 + len(h.out); ; limit-- {
		for _, w := range h.out {
			h.ingest(t, w, "")
		}
		h.out = nil
		if e, _ := h.naive.selects(nil, 1); e == "" {
			break
		}
		if limit == 0 {
			t.Fatal("there is still something to select after all was researched")
		}
		h.selectWork(t)
	}
	h.selectWork(t)
	h.checkTotals(t)
}

// checkTotals compares the number of researched pairs.
func (h *history) checkTotals(t *rapid.T) {
	want := 0
	for _, e := range h.naive.episodes {
		for name := range e.researched {
			if !e.gone && !h.naive.clips[name].gone {
				want++
			}
		}
	}
	got, err := h.store.Totals(background)
	if err != nil || got.Researched != want {
		t.Fatalf("got %d researched pairs (%v), want %d", got.Researched, err, want)
	}
}
