package database

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// testdata/layout1 is a data folder of a program that kept the schedule in visits.db, and
// expect.json what that program knew: origins of every kind, listed ones, visits that are
// under way, asked for and disabled, outcomes, findings and problems. One origin is only
// in the catalog, one only in the schedule.
const layout1 = "testdata/layout1"

// oldFolder copies the fixture to a folder that the test may change.
func oldFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"catalog.db", "visits.db"} {
		text, err := os.ReadFile(filepath.Join(layout1, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

func openFolder(t *testing.T, dir string) *Database {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(dir, "catalog.db"), "value", policy.DefaultRules())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// requireMigrated opens a folder and compares it with what the old program knew.
func requireMigrated(t *testing.T, dir string) {
	t.Helper()
	d := openFolder(t, dir)
	got, err := json.Marshal(known(t, d))
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join(layout1, "expect.json"))
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))

	now := time.Date(2021, 4, 1, 0, 0, 0, 0, time.UTC)
	_, err = d.Visits.Schedule(t.Context(), now, "o-removed")
	require.ErrorIs(t, err, fault.ErrNotFound, "it is not in the catalog")
	added, err := d.Visits.Schedule(t.Context(), now, "o-unscheduled")
	require.NoError(t, err)
	require.Equal(t, "first", added.Pool, "it was not in the schedule")
	require.NoError(t, d.Close())
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	slices.Sort(names)
	require.Equal(t, []string{filepath.Join(dir, "catalog.db"), filepath.Join(dir, "catalog.db-lock")}, names)
}

// known is what a database knows, in the form of expect.json.
func known(t *testing.T, d *Database) map[string]any {
	t.Helper()
	ctx, all := t.Context(), map[string]any{}
	keep := func(name string, x any, err error) {
		t.Helper()
		require.NoError(t, err)
		all[name] = x
	}
	origins, err := d.Catalog.Origins(ctx)
	schedules := map[string]any{}
	for i, o := range origins {
		s, err := d.Visits.Schedule(ctx, time.Now(), o.ID)
		if o.Kind == models.API {
			require.ErrorIs(t, err, fault.ErrNotFound)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, s.Listed != "", o.Listed, o.ID)
		origins[i].Listed = false // expect.json has it in schedules
		s.Key = 0
		if o.ID != "o-unscheduled" {
			schedules[o.ID] = map[string]any{"state": s.State, "visit": s.Visit, "urgent": s.Urgent, "lister": s.Listed, "history": s.History}
		}
	}
	keep("origins", origins, err)
	keep("schedules", schedules, nil)
	episodes, err := d.Catalog.Episodes(ctx)
	keep("episodes", episodes, err)
	clips, err := d.Catalog.Clips(ctx)
	keep("clips", clips, err)
	totals, err := d.Catalog.Totals(ctx)
	keep("totals", totals, err)
	findings, err := d.Catalog.Findings(ctx)
	var places [][]any
	for _, f := range findings {
		places = append(places, []any{f.EpisodeID, f.ClipID, f.EpisodeTitle, f.ClipTitle, f.Offset})
	}
	keep("findings", places, err)
	problems, err := d.Catalog.Problems(ctx)
	var reasons [][]any
	for _, p := range problems {
		reasons = append(reasons, []any{p.OriginID, p.Item, p.EpisodeID, p.ClipID, p.Reason, p.At})
	}
	keep("problems", reasons, err)
	under, err := d.Visits.Claimed(ctx)
	keep("under_way", under, err)
	m, err := d.Visits.Metrics(ctx, time.Now())
	keep("metrics", map[string]any{"facts": m.Facts, "position": m.Position, "active": m.Active}, err)
	return all
}

func TestAFolderOfTheOldLayoutIsMigrated(t *testing.T) {
	t.Parallel()
	requireMigrated(t, oldFolder(t))
}

// migrationSteps are the names of the steps of a whole migration.
func migrationSteps(t *testing.T) (steps []string) {
	t.Helper()
	d, err := open(t.Context(), filepath.Join(oldFolder(t), "catalog.db"), defaultPlan(t), func(step string) error {
		steps = append(steps, step)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Contains(t, steps, "within schedule 1")
	require.Contains(t, steps, "before removal of visits.db")
	return steps
}

func TestAMigrationThatFailsAtAStepSucceedsAtTheNextStart(t *testing.T) {
	t.Parallel()
	for _, at := range migrationSteps(t) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir, full := oldFolder(t), errors.New("the disk is full")
			_, err := open(t.Context(), filepath.Join(dir, "catalog.db"), defaultPlan(t), func(step string) error {
				if step == at {
					return full
				}
				return nil
			})
			require.ErrorIs(t, err, full)
			requireMigrated(t, dir)
		})
	}
}

// TestAMigrationThatIsKilledAtAStepSucceedsAtTheNextStart runs this test again in other
// processes; each kills itself at one step.
func TestAMigrationThatIsKilledAtAStepSucceedsAtTheNextStart(t *testing.T) {
	const keyStep, keyDir = "MIGRATION_STEP", "MIGRATION_DIR"
	if dir := os.Getenv(keyDir); dir != "" {
		_, err := open(t.Context(), filepath.Join(dir, "catalog.db"), defaultPlan(t), func(step string) error {
			if step == os.Getenv(keyStep) {
				self, err := os.FindProcess(os.Getpid())
				require.NoError(t, err)
				require.NoError(t, self.Kill())
				select {}
			}
			return nil
		})
		require.NoError(t, err)
		return
	}
	t.Parallel()
	for _, at := range migrationSteps(t) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir := oldFolder(t)
			cmd := exec.Command(os.Args[0], "-test.run=^TestAMigrationThatIsKilledAtAStepSucceedsAtTheNextStart$")
			cmd.Env = append(os.Environ(), keyStep+"="+at, keyDir+"="+dir)
			out, err := cmd.CombinedOutput()
			require.ErrorContains(t, err, "killed", "%s", out)
			requireMigrated(t, dir)
		})
	}
}

func TestALegacyFileThatIsNotOneStopsTheMigrationAndStays(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]func(dir string) []byte{
		"text": func(string) []byte { return []byte("not a database, and long enough to be read as one ") },
		"another database": func(dir string) []byte {
			content, err := os.ReadFile(filepath.Join(dir, "catalog.db"))
			require.NoError(t, err)
			return content
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := oldFolder(t)
			text := content(dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "visits.db"), text, 0o600))
			_, err := Open(t.Context(), filepath.Join(dir, "catalog.db"), "value", policy.DefaultRules())
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, "visits.db")
			got, err := os.ReadFile(filepath.Join(dir, "visits.db"))
			require.NoError(t, err)
			require.Equal(t, text, got)
			require.NoError(t, os.Remove(filepath.Join(dir, "visits.db")))
			d := openFolder(t, dir) // without the schedule, every origin is new
			due, err := d.Visits.Due(t.Context(), time.Now())
			require.NoError(t, err)
			require.True(t, due)
		})
	}
}

func TestAFileWithAScheduleIsNotOpenedAsACatalogAlone(t *testing.T) {
	t.Parallel()
	dir := oldFolder(t)
	require.NoError(t, openFolder(t, dir).Close())
	_, err := sqlite.Open(t.Context(), filepath.Join(dir, "catalog.db"))
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func defaultPlan(t *testing.T) *policy.Plan {
	t.Helper()
	plan, err := policy.Uniform("value", policy.DefaultRules())
	require.NoError(t, err)
	return plan
}
