package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/store"
)

// failing is a catalog in which each call fails at each of its statements once, and then succeeds.
// A call that loses such an error would answer success, though a part of it was not done.
type failing struct {
	catalog.Catalog
	t testing.TB
}

// maxFailed bounds the statements of one call that fail: those after it are of further items of a list.
const maxFailed = 60

// ending calls do until none of its statements has failed.
func (f failing) ending(ctx context.Context, name string, do func(context.Context) error) error {
	for n := 1; n <= maxFailed; n++ {
		at, failed := sqldb.FailAt(ctx, n)
		err := do(at)
		if !failed() {
			return err
		}
		if !errors.Is(err, sqldb.ErrFailed) {
			f.t.Errorf("%s: statement %d failed, and the call answered %v", name, n, err)
		}
	}
	return do(ctx)
}

func (f failing) AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error) {
	err = f.ending(ctx, "AddOrigin", func(ctx context.Context) (err error) { isNew, err = f.Catalog.AddOrigin(ctx, o); return err })
	return isNew, err
}

func (f failing) Origin(ctx context.Context, id string) (o models.Origin, err error) {
	err = f.ending(ctx, "Origin", func(ctx context.Context) (err error) { o, err = f.Catalog.Origin(ctx, id); return err })
	return o, err
}

func (f failing) Origins(ctx context.Context) (all []models.Origin, err error) {
	err = f.ending(ctx, "Origins", func(ctx context.Context) (err error) { all, err = f.Catalog.Origins(ctx); return err })
	return all, err
}

func (f failing) RemoveOrigin(ctx context.Context, id string) error {
	return f.ending(ctx, "RemoveOrigin", func(ctx context.Context) error { return f.Catalog.RemoveOrigin(ctx, id) })
}

func (f failing) RecordOutcome(ctx context.Context, o models.Outcome) error {
	return f.ending(ctx, "RecordOutcome", func(ctx context.Context) error { return f.Catalog.RecordOutcome(ctx, o) })
}

func (f failing) Curate(ctx context.Context, origin string, at time.Time, l catalog.Listing) (c catalog.Curated, err error) {
	for n := 1; n <= maxFailed; n++ { // later transactions would change what the repeated call counts
		at1, failed := sqldb.FailInFirst(ctx, n)
		c, err = f.Catalog.Curate(at1, origin, at, l)
		if !failed() {
			return c, err
		}
		require.ErrorIs(f.t, err, sqldb.ErrFailed, "Curate: statement %d failed", n)
	}
	return f.Catalog.Curate(ctx, origin, at, l)
}

func (f failing) AudioToCheck(ctx context.Context, origin string, limit int) (all []models.Audio, err error) {
	err = f.ending(ctx, "AudioToCheck", func(ctx context.Context) (err error) {
		all, err = f.Catalog.AudioToCheck(ctx, origin, limit)
		return err
	})
	return all, err
}

func (f failing) AudioChecked(ctx context.Context, at time.Time, checked []models.Audio) (replaced int, err error) {
	err = f.ending(ctx, "AudioChecked", func(ctx context.Context) (err error) {
		replaced, err = f.Catalog.AudioChecked(ctx, at, checked)
		return err
	})
	return replaced, err
}

func (f failing) Episodes(ctx context.Context) (all []models.Episode, err error) {
	err = f.ending(ctx, "Episodes", func(ctx context.Context) (err error) { all, err = f.Catalog.Episodes(ctx); return err })
	return all, err
}

func (f failing) Episode(ctx context.Context, id string) (e models.Episode, err error) {
	err = f.ending(ctx, "Episode", func(ctx context.Context) (err error) { e, err = f.Catalog.Episode(ctx, id); return err })
	return e, err
}

func (f failing) Clips(ctx context.Context) (all []models.Clip, err error) {
	err = f.ending(ctx, "Clips", func(ctx context.Context) (err error) { all, err = f.Catalog.Clips(ctx); return err })
	return all, err
}

func (f failing) Clip(ctx context.Context, id string) (c models.Clip, err error) {
	err = f.ending(ctx, "Clip", func(ctx context.Context) (err error) { c, err = f.Catalog.Clip(ctx, id); return err })
	return c, err
}

func (f failing) SetOriginPriority(ctx context.Context, id string, priority int64) (o models.Origin, err error) {
	err = f.ending(ctx, "SetOriginPriority", func(ctx context.Context) (err error) {
		o, err = f.Catalog.SetOriginPriority(ctx, id, priority)
		return err
	})
	return o, err
}

func (f failing) SetEpisodePriority(ctx context.Context, id string, priority *int64) (e models.Episode, err error) {
	err = f.ending(ctx, "SetEpisodePriority", func(ctx context.Context) (err error) {
		e, err = f.Catalog.SetEpisodePriority(ctx, id, priority)
		return err
	})
	return e, err
}

func (f failing) SetClipPriority(ctx context.Context, id string, priority *int64) (c models.Clip, err error) {
	err = f.ending(ctx, "SetClipPriority", func(ctx context.Context) (err error) {
		c, err = f.Catalog.SetClipPriority(ctx, id, priority)
		return err
	})
	return c, err
}

func (f failing) Select(ctx context.Context, busy []catalog.Busy, l catalog.Limits) (r models.Research, left int64, err error) {
	err = f.ending(ctx, "Select", func(ctx context.Context) (err error) { r, left, err = f.Catalog.Select(ctx, busy, l); return err })
	return r, left, err
}

func (f failing) Ingest(ctx context.Context, r models.Researched, at time.Time) error {
	return f.ending(ctx, "Ingest", func(ctx context.Context) error { return f.Catalog.Ingest(ctx, r, at) })
}

func (f failing) Lift(ctx context.Context, episode string, clips []string) error {
	return f.ending(ctx, "Lift", func(ctx context.Context) error { return f.Catalog.Lift(ctx, episode, clips) })
}

func (f failing) Findings(ctx context.Context) (all []catalog.Finding, err error) {
	err = f.ending(ctx, "Findings", func(ctx context.Context) (err error) { all, err = f.Catalog.Findings(ctx); return err })
	return all, err
}

func (f failing) FindingsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Finding, total int, err error) {
	err = f.ending(ctx, "FindingsOf", func(ctx context.Context) (err error) { list, total, err = f.Catalog.FindingsOf(ctx, a, p); return err })
	return list, total, err
}

func (f failing) EpisodesOf(ctx context.Context, of catalog.EpisodeFilter, p catalog.Part) (list []catalog.EpisodeProgress, total int, err error) {
	err = f.ending(ctx, "EpisodesOf", func(ctx context.Context) (err error) {
		list, total, err = f.Catalog.EpisodesOf(ctx, of, p)
		return err
	})
	return list, total, err
}

func (f failing) Problems(ctx context.Context) (all []catalog.Problem, err error) {
	err = f.ending(ctx, "Problems", func(ctx context.Context) (err error) { all, err = f.Catalog.Problems(ctx); return err })
	return all, err
}

func (f failing) ProblemsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Problem, total int, err error) {
	err = f.ending(ctx, "ProblemsOf", func(ctx context.Context) (err error) { list, total, err = f.Catalog.ProblemsOf(ctx, a, p); return err })
	return list, total, err
}

func (f failing) Totals(ctx context.Context) (n catalog.Totals, err error) {
	err = f.ending(ctx, "Totals", func(ctx context.Context) (err error) { n, err = f.Catalog.Totals(ctx); return err })
	return n, err
}

func TestEachCallReportsTheFailureOfEachStatementAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	catalogtest.ExerciseBehaviours(t, func(t *testing.T) catalog.Catalog {
		s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		return failing{s, t}
	})
}

func TestACurationThatFailedAnywhereIsFinishedByTheNextOne(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var want []any
	for _, fails := range []bool{false, true} {
		s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		_, err = s.AddOrigin(t.Context(), models.Origin{ID: "o", Kind: models.Media, URI: "/o", AddedAt: at})
		require.NoError(t, err)
		item := func(name, version string) models.Recording {
			return models.Recording{Origin: "o", Name: name, Media: models.MediaRef{URI: "/o/" + name, Version: version}}
		}
		for _, l := range []catalog.Listing{
			{Complete: true, Episodes: []models.Episode{{Recording: item("1", "a")}, {Recording: item("2", "a")}},
				Clips: []models.Clip{{Recording: item("x", "a")}, {Recording: item("y", "a")}}},
			{Complete: true, Episodes: []models.Episode{{Recording: item("2", "b")}, {Recording: item("3", "a")}, {Recording: item("3", "a")}},
				Clips:    []models.Clip{{Recording: item("y", "b")}},
				Problems: []models.Problem{{Item: "bad", Reason: "no sound"}}},
			{Latest: true, Episodes: []models.Episode{{Recording: item("2", "b")}}}, // the feed no longer lists 3
		} {
			curate := func(ctx context.Context) error { _, err := s.Curate(ctx, "o", at, l); return err }
			if fails {
				require.NoError(t, failing{s, t}.ending(t.Context(), "Curate", curate))
			} else {
				require.NoError(t, curate(t.Context()))
			}
		}
		episodes, err1 := s.Episodes(t.Context())
		clips, err2 := s.Clips(t.Context())
		problems, err3 := s.Problems(t.Context())
		totals, err4 := s.Totals(t.Context())
		require.NoError(t, errors.Join(err1, err2, err3, err4))
		got := []any{episodes, clips, problems, totals}
		if !fails {
			want = got
			continue
		}
		require.Equal(t, want, got)
	}
}
