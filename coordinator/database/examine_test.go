package database

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// filled returns the path of a closed database with an origin of episodes, one of clips, and a finding.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.db")
	d := opened(t, path)
	fill(t, d)
	require.NoError(t, d.Close())
	return path
}

func opened(t *testing.T, path string) *Database {
	t.Helper()
	d, err := Open(t.Context(), path, "value", policy.DefaultRules())
	require.NoError(t, err)
	return d
}

func fill(t *testing.T, d *Database) {
	t.Helper()
	now := time.Now()
	feed := models.Origin{ID: models.NewID("feed", "https://example.org/f.xml"), Kind: models.Feed, URI: "https://example.org/f.xml", AddedAt: now}
	spots := models.Origin{ID: models.NewID("clips", "/srv/clips"), Kind: models.Clips, URI: "/srv/clips", AddedAt: now}
	private := models.Origin{ID: "private", Kind: models.Feed, URI: "https://bob:s3cret@example.org/p.xml", AddedAt: now}
	for _, o := range []models.Origin{feed, spots, private} {
		_, err := d.Catalog.AddOrigin(t.Context(), o)
		require.NoError(t, err)
	}
	recording := func(name string) models.Recording {
		return models.Recording{Name: name, Title: "The " + name, Media: models.MediaRef{URI: "https://example.org/" + name, Version: "1"}}
	}
	_, err := d.Catalog.Curate(t.Context(), feed.ID, now, catalog.Listing{Complete: true, Episodes: []models.Episode{{Recording: recording("one")}, {Recording: recording("two")}}})
	require.NoError(t, err)
	_, err = d.Catalog.Curate(t.Context(), spots.ID, now, catalog.Listing{Complete: true, Clips: []models.Clip{{Recording: recording("jingle")}}})
	require.NoError(t, err)
	r, _, err := d.Catalog.Select(t.Context(), nil, catalog.Limits{Clips: 1})
	require.NoError(t, err)
	clip := r.Clips[0]
	result := models.Researched{Episode: r.Episode.ID, EpisodeMedia: r.Episode.Media, Clips: []string{clip.ID}, ClipMedia: map[string]models.MediaRef{clip.ID: clip.Media}}
	result.Findings = []models.Finding{{Episode: r.Episode.ID, Clip: clip.ID}}
	result.Findings[0].Offset, result.Findings[0].Duration, result.Findings[0].Score = 3, 2, .75
	require.NoError(t, d.Catalog.Ingest(t.Context(), result, now))
}

func TestDamageThatSQLiteAcceptsIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, change, want string }{
		{"nothing", "", ""},
		{"a URI of an origin", "UPDATE origin SET uri = 'https://example.orG/f.xml' WHERE kind = 'feed'", "schedule: origin "},
		{"a URI in the schedule only", "UPDATE schedule SET uri = uri || 'x'", "schedule: origin "},
		{"an origin that the catalog lacks", "PRAGMA foreign_keys=OFF; DELETE FROM origin WHERE kind = 'clips'", "references: row "},
		{"a name of an episode", "UPDATE episode SET name = 'onf' WHERE name = 'one'", "episodes: the id of "},
		{"a name of a clip", "UPDATE clip SET name = 'jinglf'", "clips: the id of "},
		{"a title of an episode to research", "UPDATE episode SET title = 'Thd two' WHERE number = (SELECT max(episode) FROM candidate)", "candidates: "},
		{"a hash", "UPDATE clip SET hash = 'rha256:00'", "recordings: clip "},
		{"a flag", "UPDATE episode SET gone = 16 WHERE name = 'one'", "recordings: episode "},
		{"an offset", "UPDATE finding SET offset = -3", "findings: clip "},
		{"an exponent of a score", "UPDATE finding SET score = 1.5e300", "findings: clip "},
		{"a share", "UPDATE finding SET coverage = 64", "findings: clip "},
		{"a set of clips", "UPDATE researched SET clips = x'3a30000001000000'", "researched clips: the set of episode number "},
		{"a number in a set of clips", "UPDATE researched SET clips = x'3a30000001000000000000001000000007a1'", "researched clips: the set of episode number "},
		{"a scope", "INSERT INTO problem (scope, reason, at) VALUES ('pajr', 'r', 1)", "problems: problem "},
		{"JSON", "INSERT INTO description VALUES (1, '', '{\"a\":')", "schedule: the metadata of origin number 1 are not JSON"},
		{"a state", "UPDATE schedule SET disabled = 'gonf'", "schedule: origin "},
		{"a value of a visit", "INSERT INTO outcome VALUES (1, -1, '', '', 0, 0, 0, 0, '')", "outcomes: "},
		{"a mark", "INSERT OR REPLACE INTO pair VALUES (1, 'i', -4, 0, 0, '', 0)", "mark: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), c.change)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			damage, err := Examine(t.Context(), path)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, damage)
			} else {
				require.NotEmpty(t, damage)
				require.Contains(t, damage[0], c.want)
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(before, after), "it changes nothing")
		})
	}
}

func TestADamagedPageIsNamedAndOtherChecksGoOn(t *testing.T) {
	t.Parallel()
	path := filled(t)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	const page = 4096
	for at := 8 * page; at < 12*page; at += page {
		copy(b[at:], bytes.Repeat([]byte{0xa5}, 64))
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	damage, err := Examine(t.Context(), path)
	require.NoError(t, err)
	require.NotEmpty(t, damage)
	require.Contains(t, damage[0], "structure: ")
	require.NoError(t, os.WriteFile(path, []byte("not a database at all, although it is long enough to be one, if one looks at the length alone, with 100 bytes"), 0o600))
	damage, err = Examine(t.Context(), path)
	require.NoError(t, err)
	require.NotEmpty(t, damage)
}

func TestADatabaseOfAnotherVersionIsNotExamined(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE schema_version SET version = 1 WHERE name = 'catalog'")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = Examine(t.Context(), path)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "the catalog has version 1, this program reads version ")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	damage, err := Examine(t.Context(), path)
	require.NoError(t, err)
	require.Contains(t, damage[0], "the file is empty")
}

func TestAnExaminationEndsWithItsContextAndLeavesTheDatabaseUsable(t *testing.T) {
	t.Parallel()
	d := opened(t, filepath.Join(t.TempDir(), "catalog.db"))
	fill(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Examine(ctx)
	require.ErrorIs(t, err, context.Canceled)
	damage, err := d.Examine(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
	found, err := d.Catalog.Findings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, d.Close())
}

func TestTheDatabaseIsExaminedEachNight(t *testing.T) {
	path := filled(t)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE finding SET coverage = 64")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	synctest.Test(t, func(t *testing.T) {
		d := opened(t, path)
		var logged bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.RunExaminations(ctx, slog.New(slog.NewTextHandler(&logged, nil)))
		}()
		synctest.Wait()
		require.Zero(t, d.LastExamination().At)
		time.Sleep(24*time.Hour + time.Minute)
		synctest.Wait()
		first := d.LastExamination()
		require.Equal(t, nightHour, first.At.Hour())
		require.Len(t, first.Damage, 1)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.Equal(t, 24*time.Hour, d.LastExamination().At.Sub(first.At))
		cancel()
		<-done
		require.Contains(t, logged.String(), "the database is damaged")
		require.Contains(t, logged.String(), "out of its range")
		require.NoError(t, d.Close())
	})
}

func TestTheNextNightIsTomorrowAfterThree(t *testing.T) {
	t.Parallel()
	day := func(hour, minute int) time.Time { return time.Date(2026, 3, 5, hour, minute, 0, 0, time.UTC) }
	require.Equal(t, day(3, 0), nextNight(day(2, 59)))
	require.Equal(t, day(27, 0), nextNight(day(3, 0)))
	require.Equal(t, day(27, 0), nextNight(day(23, 59)))
}
