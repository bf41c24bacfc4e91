package database

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// requireUsable opens the database of a folder, adds an origin, and finds its visit.
func requireUsable(t *testing.T, dir string) {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(dir, "catalog.db"), "value", policy.DefaultRules())
	require.NoError(t, err)
	_, err = d.Catalog.AddOrigin(t.Context(), models.Origin{ID: "o", Kind: models.Feed, URI: "https://o.example"})
	require.NoError(t, err)
	due, err := d.Visits.Due(t.Context(), time.Now())
	require.NoError(t, err)
	require.True(t, due)
	require.NoError(t, d.Close())
}

// stepsToMake are the names of the steps in which a database is made.
func stepsToMake(t *testing.T) (steps []string) {
	t.Helper()
	d, err := open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), defaultPlan(t), func(step string) error {
		steps = append(steps, step)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Contains(t, steps, "within catalog 2")
	require.Contains(t, steps, "after schedule 2")
	require.Contains(t, steps, "before pair 1")
	return steps
}

func TestADatabaseWhoseMakingFailsAtAStepIsMadeAtTheNextStart(t *testing.T) {
	t.Parallel()
	for _, at := range stepsToMake(t) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir, full := t.TempDir(), errors.New("the disk is full")
			_, err := open(t.Context(), filepath.Join(dir, "catalog.db"), defaultPlan(t), func(step string) error {
				if step == at {
					return full
				}
				return nil
			})
			require.ErrorIs(t, err, full)
			requireUsable(t, dir)
		})
	}
}

// TestADatabaseWhoseMakingIsKilledAtAStepIsMadeAtTheNextStart runs this test again in other
// processes; each kills itself at one step.
func TestADatabaseWhoseMakingIsKilledAtAStepIsMadeAtTheNextStart(t *testing.T) {
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
	for _, at := range stepsToMake(t) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run=^TestADatabaseWhoseMakingIsKilledAtAStepIsMadeAtTheNextStart$")
			cmd.Env = append(os.Environ(), keyStep+"="+at, keyDir+"="+dir)
			out, err := cmd.CombinedOutput()
			require.ErrorContains(t, err, "killed", "%s", out)
			_, err = FindState(t.Context(), filepath.Join(dir, "catalog.db"))
			require.NoError(t, err)
			requireUsable(t, dir)
		})
	}
}

func TestAFileWithAScheduleIsNotOpenedAsACatalogAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	requireUsable(t, dir)
	_, err := store.Open(t.Context(), filepath.Join(dir, "catalog.db"))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "which this program does not know")
}

// If a schema changes without another version, databases of one version differ: see docs/upgrade.md.
func TestANewDatabaseHasTheSchemaOfTheFixture(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../node/testdata/v0.1.0/data/catalog.db")
	require.NoError(t, err)
	old := filepath.Join(t.TempDir(), "catalog.db")
	require.NoError(t, os.WriteFile(old, content, 0o600))
	require.Equal(t, schemaOf(t, old), schemaOf(t, filepath.Join(t.TempDir(), "catalog.db")))
}

func schemaOf(t *testing.T, path string) (all []string) {
	t.Helper()
	d, err := Open(t.Context(), path, "value", policy.DefaultRules())
	require.NoError(t, err)
	require.NoError(t, d.file.Read(t.Context(), "schema", func(c *sqldb.Conn) error {
		return c.All("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name", nil, func(row sqldb.Row) error {
			var text string
			err := row.Scan(&text)
			all = append(all, text)
			return err
		})
	}))
	require.NoError(t, d.Close())
	return all
}

func defaultPlan(t *testing.T) *policy.Plan {
	t.Helper()
	plan, err := policy.Uniform("value", policy.DefaultRules())
	require.NoError(t, err)
	return plan
}
