package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/auth"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// secureFolder is a data folder whose coordinator authenticates its clients.
type secureFolder struct {
	*testing.T
	config.Config
}

func newSecureFolder(t *testing.T) *secureFolder {
	t.Helper()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Auth = t.TempDir(), true
	return &secureFolder{t, cfg}
}

// start opens the identity as a coordinator does at its start, and calls do with it.
func (f *secureFolder) start(do func(*auth.Auth)) error {
	f.Helper()
	d, err := OpenDataDir(f.Context(), f.Config, discard)
	require.NoError(f, err)
	a, err := d.openAuth(f.Context())
	if err == nil {
		do(a)
	}
	require.NoError(f, d.Close())
	return err
}

// fingerprint starts the coordinator, which must succeed, and returns the fingerprint of its CA.
func (f *secureFolder) fingerprint() (text string) {
	f.Helper()
	require.NoError(f, f.start(func(a *auth.Auth) { text = a.Authority.Fingerprint().String() }))
	return text
}

// copyIdentityTo replaces the identity of another folder with a copy of this one's.
func (f *secureFolder) copyIdentityTo(other string) {
	f.Helper()
	dest := filepath.Join(other, identityDir)
	require.NoError(f, os.RemoveAll(dest))
	require.NoError(f, (&DataDir{cfg: f.Config}).copyIdentity(dest))
}

func TestTheIdentityOfAnotherDataFolderIsRecognised(t *testing.T) {
	t.Parallel()
	one, other := newSecureFolder(t), newSecureFolder(t)
	own, foreign := one.fingerprint(), other.fingerprint()
	saved := t.TempDir()
	one.copyIdentityTo(saved)
	other.copyIdentityTo(one.Data)
	err := one.start(func(*auth.Auth) {})
	require.ErrorIs(t, err, fault.ErrFolder)
	for _, part := range []string{filepath.Join(one.Data, identityDir) + " has the CA " + foreign, filepath.Join(one.Data, catalogFile) + " is of the CA " + own, "restore it from a backup of this data folder, or start with --accept-missing identity"} {
		require.ErrorContains(t, err, part)
	}

	one.AcceptMissing = acceptIdentity
	require.Equal(t, foreign, one.fingerprint())
	one.AcceptMissing = ""
	require.Equal(t, foreign, one.fingerprint(), "it was accepted for good")

	restored := &secureFolder{t, one.Config}
	restored.Data = saved
	require.Equal(t, own, restored.fingerprint(), "a database that has kept no CA takes that of the folder")
}

func TestAChangeOfTheCAIsKeptInTheDatabase(t *testing.T) {
	t.Parallel()
	f, before := newSecureFolder(t), t.TempDir()
	former := f.fingerprint()
	f.copyIdentityTo(before)
	for _, life := range []time.Duration{-time.Hour, time.Hour} {
		require.NoError(t, f.start(func(a *auth.Auth) {
			require.NoError(t, a.Rotate(t.Context(), time.Now().Add(life)))
			all, err := a.Store.CAs(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{a.Authority.Fingerprint().String()}, all)
		}))
		require.NotEqual(t, former, f.fingerprint())
	}
	// A crash between the record and the files.
	current := f.fingerprint()
	require.NoError(t, f.start(func(a *auth.Auth) { require.NoError(t, a.Store.SetCAs(t.Context(), current, "next")) }))
	require.Equal(t, current, f.fingerprint())
	require.NoError(t, f.start(func(a *auth.Auth) {
		all, err := a.Store.CAs(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{current}, all)
	}))
	// The database is from a backup from before the change, during which both are accepted.
	require.NoError(t, f.start(func(a *auth.Auth) {
		known, _ := a.Authority.Former()
		require.NoError(t, a.Store.SetCAs(t.Context(), known.String()))
	}))
	require.Equal(t, current, f.fingerprint())

	(&secureFolder{t, config.Config{Data: before}}).copyIdentityTo(f.Data)
	require.ErrorContains(t, f.start(func(*auth.Auth) {}), "from before a change of the CA")
}
