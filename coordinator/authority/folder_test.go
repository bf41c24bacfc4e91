package authority

import (
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

func TestAnAuthorityStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data", "identity")
	a, err := Create(dir, time.Now)
	require.NoError(t, err)
	again, err := Open(dir, time.Now)
	require.NoError(t, err)
	require.Equal(t, a.Fingerprint(), again.Fingerprint())
	require.Equal(t, a.CertificatePEM(), again.CertificatePEM())
	_, err = Create(dir, time.Now)
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, dir+" has files already")

	requireMode(t, dir, 0o700|fs.ModeDir)
	for _, name := range []string{KeyFile, CertificateFile} {
		requireMode(t, filepath.Join(dir, name), 0o600)
	}
	block, rest := pem.Decode(a.CertificatePEM())
	require.Equal(t, "CERTIFICATE", block.Type)
	require.Empty(t, rest)
	require.Equal(t, 20, a.cas[0].cert.NotAfter.AddDate(0, 0, 5).Year()-time.Now().Year())
}

func requireMode(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode())
}

func TestAMissingOrEmptyFolderHasNoAuthority(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "identity")
	_, err := Open(dir, time.Now)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(dir, 0o700))
	_, err = Open(dir, time.Now)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Create(dir, time.Now)
	require.NoError(t, err)
}

// TestACrashLeavesNoAuthorityOrAWholeOne ends the creation before each of its steps.
func TestACrashLeavesNoAuthorityOrAWholeOne(t *testing.T) {
	t.Parallel()
	steps := len(creation("", time.Now()))
	whole := 0
	for n := range steps + 1 {
		dir := filepath.Join(t.TempDir(), "identity")
		for _, step := range creation(dir, time.Now())[:n] {
			require.NoError(t, step())
		}
		before, err := Open(dir, time.Now)
		if err == nil {
			whole++
			_, err = Create(dir, time.Now)
			require.ErrorIs(t, err, fault.ErrConflict, "after %d steps", n)
			continue
		}
		require.Nil(t, before)
		require.ErrorIs(t, err, fs.ErrNotExist, "after %d steps", n)
		_, err = Create(dir, time.Now)
		require.NoError(t, err, "after %d steps", n)
		require.NoDirExists(t, dir+newSuffix)
	}
	require.Equal(t, 2, whole, "only after the rename")
}

func TestAHalfWrittenFolderIsReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "identity")
	require.NoError(t, os.Mkdir(dir+newSuffix, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir+newSuffix, KeyFile), []byte("-----BEGIN PRIV"), 0o644))
	_, err := Create(dir, time.Now)
	require.NoError(t, err)
	requireMode(t, dir, 0o700|fs.ModeDir)
	requireMode(t, filepath.Join(dir, KeyFile), 0o600)
}

func TestADamagedFolderIsNamed(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	_, err := Create(other, time.Now)
	require.NoError(t, err)
	otherKey, err := os.ReadFile(filepath.Join(other, KeyFile))
	require.NoError(t, err)
	leaf := func(t *testing.T, dir string) {
		a, err := Open(dir, time.Now)
		require.NoError(t, err)
		chain := issue(t, a, newKey(t), identity.Worker, time.Hour)
		require.NoError(t, os.WriteFile(filepath.Join(dir, CertificateFile), encodeCertificate(chain[0]), 0o600))
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		kind   error
		want   string
	}{
		"no key":         {remove(KeyFile), fault.ErrCorrupt, "has no ca.key; restore the folder from a backup"},
		"no certificate": {remove(CertificateFile), fault.ErrCorrupt, "has no ca.crt; restore the folder from a backup"},
		"empty key":      {write(KeyFile, ""), fault.ErrCorrupt, "want a PRIVATE KEY in PEM"},
		"half a key":     {write(KeyFile, string(otherKey[:40])), fault.ErrCorrupt, "want a PRIVATE KEY in PEM"},
		"key in place":   {write(CertificateFile, string(otherKey)), fault.ErrCorrupt, "want a CERTIFICATE in PEM"},
		"wrong bytes":    {write(CertificateFile, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), fault.ErrCorrupt, "want the certificate of a CA"},
		"not a CA":       {leaf, fault.ErrCorrupt, "want the certificate of a CA"},
		"another's key":  {write(KeyFile, string(otherKey)), fault.ErrCorrupt, "ca.key and ca.crt are not of the same CA"},
		"public folder":  {chmod("", 0o755), fault.ErrFolder, "has the mode 755, so other users can read secrets in it; run: chmod 700 "},
		"public key":     {chmod(KeyFile, 0o644), fault.ErrFolder, "run: chmod 600 "},
		"group's key":    {chmod(KeyFile, 0o640), fault.ErrFolder, "run: chmod 600 "},
		"other program's": {func(t *testing.T, dir string) {
			remove(KeyFile)(t, dir)
			remove(CertificateFile)(t, dir)
			write("notes", "")(t, dir)
		}, fault.ErrCorrupt, "has no ca.key"},
	} {
		dir := filepath.Join(t.TempDir(), "identity")
		_, err := Create(dir, time.Now)
		require.NoError(t, err)
		c.damage(t, dir)
		_, err = Open(dir, time.Now)
		require.ErrorIs(t, err, c.kind, name)
		require.NotErrorIs(t, err, fs.ErrNotExist, name)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, dir, name)
		_, err = Create(dir, time.Now)
		require.ErrorIs(t, err, fault.ErrConflict, name)
	}
	file := filepath.Join(t.TempDir(), "identity")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Open(file, time.Now)
	require.ErrorContains(t, err, "is a file, want a folder")
	_, err = Create(file, time.Now)
	require.ErrorIs(t, err, fault.ErrFolder)
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, name))) }
}

func write(name, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
}

func chmod(name string, mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, name), mode)) }
}
