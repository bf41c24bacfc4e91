package node

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// realmFixture is a dump of a realm that v0.1.0 wrote, with what fixture holds. It is made again with it:
//
//	go test ./node -run OfV010IsOpened -update
const realmFixture = fixture + "/realm.sql"

// Row 59 of the catalogue of faults: the realm was restored from a dump. It is served, and all that it holds is there.
func TestARealmOfV010IsOpenedWithAllThatItHolds(t *testing.T) {
	if *update {
		makeRealmFixture(t)
	}
	t.Parallel()
	url := pgserver.Database(t)
	restoreDump(t, url)
	cfg := memberConfig(t, url)
	require.ErrorIs(t, RunCoordinator(t.Context(), cfg, discard, nil), fault.ErrConflict, "it is in another database")
	cfg.AcceptMissing = acceptDatabase
	want, err := os.ReadFile(filepath.Join(fixture, "expect.json"))
	require.NoError(t, err)
	var all struct{ Origins []any }
	require.NoError(t, json.Unmarshal(want, &all))
	for range 2 { // the first start may migrate it
		m := startMember(t, cfg)
		m.waitReady("ok\n")
		require.Equal(t, len(all.Origins), m.origins())
		m.stop()
	}
	back, err := NewMoving(url, filepath.Join(t.TempDir(), "data"), "default", "")
	require.NoError(t, err)
	folder, err := config.Load(nil)
	require.NoError(t, err)
	require.NoError(t, back.Run(t.Context(), folder, discard))
	require.JSONEq(t, string(want), contentsOf(t, back.Folder))
}

// restoreDump runs the statements of the dump.
func restoreDump(t *testing.T, url string) {
	t.Helper()
	dump, err := os.ReadFile(realmFixture)
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.PgConn().Exec(t.Context(), string(dump)).ReadAll()
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

// makeRealmFixture makes the dump again.
func makeRealmFixture(t *testing.T) {
	t.Helper()
	data, url := filepath.Join(t.TempDir(), "data"), pgserver.Database(t)
	require.NoError(t, os.CopyFS(data, os.DirFS(filepath.Join(fixture, "data"))))
	there, err := NewMoving(data, url, "default", "")
	require.NoError(t, err)
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	require.NoError(t, there.Run(t.Context(), cfg, discard))
	m := startMember(t, memberConfig(t, url)) // which notes where the realm is
	m.waitReady("ok\n")
	m.stop()
	dump, err := exec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", url).Output()
	require.NoError(t, err)
	var sql bytes.Buffer
	for line := range bytes.Lines(dump) {
		if !bytes.HasPrefix(line, []byte(`\`)) && !bytes.HasPrefix(line, []byte("--")) { // commands of psql, and comments
			sql.Write(line)
		}
	}
	require.NoError(t, os.WriteFile(realmFixture, sql.Bytes(), 0o600))
}
