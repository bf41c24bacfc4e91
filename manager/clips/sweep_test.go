package clips

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
)

// researched lists so many episodes whose clip c0 is researched, and then clip c1.
func (b *bench) researched(episodes int) { b.researchedAs("", episodes) }

// researchedAs is researched with an end for the URI of each episode.
func (b *bench) researchedAs(end string, episodes int) {
	var l catalog.Listing
	for i := range episodes {
		media := models.MediaRef{URI: fmt.Sprint("file:///e", i, end), Hash: fmt.Sprint("sha256:", i)}
		l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: fmt.Sprint("e", i), Media: media}})
	}
	for _, name := range []string{"c0", "c1"} {
		l.Clips = append(l.Clips, models.Clip{Recording: models.Recording{Name: name, Media: models.MediaRef{URI: "file:///c"}}})
		_, err := b.store.Curate(b.Context(), "o", time.Now(), l)
		require.NoError(b, err)
		if name == "c1" {
			return
		}
		for {
			r, _, err := b.store.Select(b.Context(), nil, catalog.Limits{Clips: 9})
			if err != nil {
				break
			}
			c := r.Clips[0]
			require.NoError(b, b.store.Ingest(b.Context(), models.Researched{
				Episode: r.Episode.ID, Clips: []string{c.ID}, EpisodeMedia: r.Episode.Media, ClipMedia: map[string]models.MediaRef{c.ID: c.Media},
			}, time.Now()))
		}
	}
}

// sweep reports episodes of a sweep, with a finding in each.
func (b *bench) sweep(i task.Item, r models.Research, episodes []models.ResearchItem, final, less bool) {
	s := models.Swept{Clip: r.Clips[0].ID, ClipMedia: r.Clips[0].Media, Episodes: map[string]models.MediaRef{}, Less: less}
	var parts []string
	for _, e := range episodes {
		s.Episodes[e.ID] = e.Media
		s.Findings = append(s.Findings, models.Finding{Episode: e.ID, Clip: s.Clip, Occurrence: models.Occurrence{Offset: 7, Duration: 1, Score: .9}})
		parts = append(parts, e.ID)
	}
	if parts == nil {
		parts = []string{r.Episodes[0].ID}
	}
	require.NoError(b, task.Client{Repo: b.repo}.Report(b.Context(), i, lease.JoinParts(parts), final, s))
}

func TestANewClipIsOneSweepOfAllKnownEpisodes(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.researched(20)
		b.manage("manager-1", b.store)
		b.manage("manager-2", b.store)
		i, r := b.claim()
		require.Len(b, r.Episodes, 20)
		require.Empty(b, r.Episode.ID)
		b.sweep(i, r, r.Episodes[:15], false, false)
		b.sweep(i, r, r.Episodes[15:], true, false)
		totals := b.totals()
		require.Equal(b, 40, totals.Researched)
		require.Equal(b, 20, totals.Findings)
		<-time.After(time.Minute)
		require.EqualValues(b, 1, b.leases()[lease.Granted])
		require.EqualValues(b, 1, b.leases()[lease.Revoked])
	})
}

func TestEpisodesThatNoSweepKnowsAreIssuedAlone(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.researched(20)
		b.manage("manager-1", b.store)
		i, r := b.claim()
		b.sweep(i, r, r.Episodes[:13], true, false)
		i, r = b.claim()
		require.Len(b, r.Episodes, 7, "most of the first sweep were known, so there is another")
		b.sweep(i, r, nil, true, true)
		for range 7 {
			i, r := b.claim()
			require.Empty(b, r.Episodes)
			b.report(i, r, 0)
			b.totals()
		}
		require.Equal(b, 40, b.totals().Researched)
	})
}

func TestASweepAndATaskOfAnEpisodeNeverHaveAPairInCommon(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.researched(20)
		c := slowSelect{b.store, make(chan struct{})}
		b.manage("manager-1", c) // it has selected the sweep, and not issued it
		b.totals()
		b.manage("manager-2", unswept{b.store})
		i, r := b.claim()
		require.Empty(b, r.Episodes)
		close(c.let)
		b.totals()
		seen := map[string]bool{r.Episode.ID: true}
		b.report(i, r, 0)
		for b.totals().Researched < 40 {
			i, r := b.claim()
			for _, p := range r.Pairs() {
				require.False(b, seen[p.Episode.ID], "%s twice", p.Episode.ID)
				seen[p.Episode.ID] = true
			}
			if r.Episodes != nil {
				b.sweep(i, r, r.Episodes, true, false)
			} else {
				b.report(i, r, 0)
			}
		}
		require.Len(b, seen, 20)
	})
}

// unswept is a catalog that selects no sweeps.
type unswept struct{ catalog.Catalog }

func (c unswept) Select(ctx context.Context, busy []catalog.Busy, l catalog.Limits) (models.Research, int64, error) {
	l.Episodes = 0
	return c.Catalog.Select(ctx, busy, l)
}

func TestADeadSweepIsAProblemOfEachOfItsPairs(t *testing.T) {
	t.Parallel()
	research := models.Research{Clips: []models.ResearchItem{{ID: "c", Media: models.MediaRef{Version: "1"}}}, Episodes: []models.ResearchItem{{ID: "e"}, {ID: "f"}}}
	data, err := json.Marshal(research)
	require.NoError(t, err)
	all, err := problemsOf(models.Failure{Problem: "broke", Task: &models.Task{Data: data}})
	require.NoError(t, err)
	require.Len(t, all, 2)
	for i, e := range []string{"e", "f"} {
		require.Equal(t, e, all[i].Episode)
		require.Equal(t, []string{"c"}, all[i].Clips)
		require.Equal(t, map[string]models.MediaRef{"c": {Version: "1"}}, all[i].ClipMedia)
		require.Equal(t, models.ScopePair, all[i].Scope)
		require.Equal(t, "broke", all[i].Problem)
	}
}
