package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/code/embedded"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// usedFolder is a data folder whose coordinator authenticates, with a tuple, an origin and a file of the code index.
func usedFolder(t *testing.T) config.Config {
	t.Helper()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Auth = filepath.Join(t.TempDir(), "data"), true
	d, err := OpenDataDir(t.Context(), cfg, discard)
	require.NoError(t, err)
	_, err = d.openAuth(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.AddOrigins(t.Context(), []models.Origin{{ID: "o", Kind: models.Feed, URI: "https://o.example/feed"}}, false))
	spaces, err := d.openJournal()
	require.NoError(t, err)
	require.NoError(t, d.beginPair(t.Context(), spaces))
	_, err = spaces.Load(t.Context(), func(journal.Fact) error { return nil })
	require.NoError(t, err)
	facts := []journal.Fact{&journal.Space{Name: "mine"}, &journal.Entry{Ref: 1, Space: "mine", Place: 1, Tuple: tuple.New("kept")}}
	require.NoError(t, spaces.Commit(t.Context(), 0, []journal.Record{{Facts: facts}}))
	require.NoError(t, d.endPair(t.Context(), true))
	require.NoError(t, spaces.Close())
	index := filepath.Join(cfg.Data, indexDir)
	x, err := embedded.Open(index, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, x.Close())
	require.NoError(t, d.Close())
	return cfg
}

// A folder is moved to a database, where members serve what it had, and back to another folder.
func TestEverythingIsMovedToADatabaseAndBack(t *testing.T) {
	t.Parallel()
	folder, url, key := usedFolder(t), pgserver.Database(t), authority.NewSealingKey().Reveal()
	before, err := authority.Open(filepath.Join(folder.Data, identityDir), time.Now)
	require.NoError(t, err)
	_, err = NewMoving(folder.Data, folder.Data, "default", key)
	require.ErrorIs(t, err, fault.ErrInvalid)
	withoutKey, err := NewMoving(folder.Data, url, "default", "")
	require.NoError(t, err)
	require.ErrorContains(t, withoutKey.Run(t.Context(), folder, discard), "leasehold identity key")
	there, err := NewMoving(folder.Data, url, "default", key)
	require.NoError(t, err)
	require.NoError(t, there.Run(t.Context(), folder, discard))
	require.ErrorIs(t, there.Run(t.Context(), folder, discard), fault.ErrConflict, "the database is not empty")

	cfg := memberConfig(t, url)
	cfg.Auth, cfg.IdentityKey = true, key
	m := startMember(t, cfg)
	require.Equal(t, before.Fingerprint().String(), m.at.CA)
	back, err := NewMoving(url, filepath.Join(t.TempDir(), "again"), "default", key)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(filepath.Join(cfg.Data, "coordinator.json"))
		return err == nil && len(data) > 0
	}, 20*time.Second, 20*time.Millisecond)
	require.ErrorIs(t, back.Run(t.Context(), cfg, discard), fault.ErrConflict, "a coordinator serves it")
	m.stop()

	back.Folder = filepath.Join(t.TempDir(), "again")
	require.NoError(t, back.Run(t.Context(), cfg, discard))
	again := folder
	again.Data = back.Folder
	d, err := OpenDataDir(t.Context(), again, discard)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	origin, err := d.Catalog.Origin(t.Context(), "o")
	require.NoError(t, err)
	require.Equal(t, "https://o.example/feed", origin.URI)
	a, err := d.openAuth(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Fingerprint(), a.Authority.Fingerprint())
	spaces, err := d.openJournal()
	require.NoError(t, err)
	defer func() { require.NoError(t, spaces.Close()) }()
	found := false
	_, err = spaces.Load(t.Context(), func(f journal.Fact) error {
		e, ok := f.(*journal.Entry)
		found = found || ok && e.Space == "mine"
		return nil
	})
	require.NoError(t, err)
	require.True(t, found)
}

// The CA of a realm is all that its processes know it by.
func TestAMoveToARealmThatIsUsedLeavesItsIdentity(t *testing.T) {
	t.Parallel()
	url, key := pgserver.Database(t), NewIdentityKey()
	cfg := memberConfig(t, url)
	cfg.Auth, cfg.IdentityKey = true, key
	used := startMember(t, cfg)
	used.waitServes()
	used.stop()
	alone := memberConfig(t, "")
	alone.Journal, alone.Auth = config.JournalPebble, true
	other := startMember(t, alone)
	other.waitServes()
	other.stop()
	m, err := NewMoving(other.cfg.Data, url, "default", key)
	require.NoError(t, err)
	require.ErrorIs(t, m.Run(t.Context(), other.cfg, discard), fault.ErrConflict)
	require.Equal(t, used.at.CA, startMember(t, cfg).at.CA)
}
