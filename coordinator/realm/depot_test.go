package realm

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/code/embedded"
	"leasehold/shared/fault"
)

// owned returns a realm whose owner has epoch 1. The table of the owner is the journal's.
func owned(t *testing.T) *Realm {
	t.Helper()
	r := open(t, pgserver.Database(t), "default")
	_, err := r.pool.Exec(t.Context(), `CREATE TABLE owner (epoch bigint NOT NULL); INSERT INTO owner VALUES (1)`)
	require.NoError(t, err)
	return r
}

// file makes a file of random bytes.
func file(t *testing.T, size int) (path string, content []byte) {
	t.Helper()
	content = make([]byte, size)
	_, _ = rand.Read(content)
	path = filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path, content
}

// parts returns how many rows of content there are.
func (r *Realm) parts(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, r.pool.QueryRow(t.Context(), `SELECT count(*) FROM index_part`).Scan(&n))
	return n
}

func TestADepotGivesBackWhatItKeeps(t *testing.T) {
	t.Parallel()
	r := owned(t)
	d := r.Depot(1)
	for _, size := range []int{0, 1, partBytes - 1, partBytes, partBytes + 1, 3*partBytes + 7} {
		path, content := file(t, size)
		f := embedded.File{Name: "a.generation", RepoID: "id \x00 of any bytes \xff", Repo: "repo"}
		require.NoError(t, d.Keep(t.Context(), f, path))
		all, err := d.List(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1, "of one name the latest is kept")
		require.Equal(t, f, all[0].File)
		to := filepath.Join(t.TempDir(), "fetched")
		require.NoError(t, d.Fetch(t.Context(), all[0], to))
		fetched, err := os.ReadFile(to)
		require.NoError(t, err)
		require.Equal(t, content, fetched)
		require.Equal(t, max(1, (size+partBytes-1)/partBytes), r.parts(t), "of the former content nothing is left")
	}
	require.NoError(t, d.Drop(t.Context(), "a.generation", "unknown"))
	require.Zero(t, r.parts(t))
}

func TestADeposedMemberChangesNothingInTheDepot(t *testing.T) {
	t.Parallel()
	r := owned(t)
	path, _ := file(t, 10)
	old := r.Depot(1)
	require.NoError(t, old.Keep(t.Context(), embedded.File{Name: "a.segment"}, path))
	_, err := r.pool.Exec(t.Context(), `UPDATE owner SET epoch = 2`)
	require.NoError(t, err)
	late, _ := file(t, 10)
	require.ErrorIs(t, old.Keep(t.Context(), embedded.File{Name: "b.segment"}, late), fault.ErrUnavailable)
	require.ErrorIs(t, old.Drop(t.Context(), "a.segment"), fault.ErrUnavailable)
	require.Equal(t, 2, r.parts(t), "its content is there, without a name")
	all, err := r.Depot(2).List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, r.Depot(2).Tidy(t.Context()))
	require.Equal(t, 1, r.parts(t))
}

func TestContentThatIsDamagedOrMissingIsNotTaken(t *testing.T) {
	t.Parallel()
	r := owned(t)
	d := r.Depot(1)
	path, _ := file(t, partBytes+5)
	require.NoError(t, d.Keep(t.Context(), embedded.File{Name: "a.segment"}, path))
	all, err := d.List(t.Context())
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "fetched")
	for sql, want := range map[string]error{
		`UPDATE index_part SET content = 'other' WHERE part = 1`: fault.ErrCorrupt,
		`DELETE FROM index_part WHERE part = 1`:                  fault.ErrNotFound,
	} {
		_, err := r.pool.Exec(context.Background(), sql)
		require.NoError(t, err)
		require.ErrorIs(t, d.Fetch(t.Context(), all[0], to), want)
		require.NoFileExists(t, to)
		require.NoError(t, d.Keep(t.Context(), embedded.File{Name: "a.segment"}, path))
		_, err = r.pool.Exec(context.Background(), `DELETE FROM index_part WHERE part = 1`)
		require.NoError(t, err)
		require.NoError(t, d.Keep(t.Context(), embedded.File{Name: "a.segment"}, path), "it is written again")
		require.NoError(t, d.Fetch(t.Context(), all[0], to))
		require.NoError(t, os.Remove(to))
	}
}
