package identity_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

func TestAKeyStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "worker")
	key, err := identity.LoadOrCreateKey(dir)
	require.NoError(t, err)
	again, err := identity.LoadOrCreateKey(dir)
	require.NoError(t, err)
	require.Equal(t, key, again)
	info, err := os.Stat(filepath.Join(dir, identity.KeyFile))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no unfinished file is left")
}

func TestAKeyWithoutAFolderIsNew(t *testing.T) {
	t.Parallel()
	a, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	b, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	require.NoError(t, identity.SaveCertificate("", [][]byte{{1}}, ""))
	_, _, err = identity.LoadCertificate("", a)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAKeyThatOthersCanReadIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := identity.LoadOrCreateKey(dir)
	require.NoError(t, err)
	path := filepath.Join(dir, identity.KeyFile)
	require.NoError(t, os.Chmod(path, 0o640))
	_, err = identity.LoadOrCreateKey(dir)
	require.ErrorIs(t, err, fault.ErrFolder)
	require.ErrorContains(t, err, "has the mode 640, so other users can read secrets in it; run: chmod 600 "+path)
	require.NoError(t, os.Chmod(path, 0o600))
	_, err = identity.LoadOrCreateKey(dir)
	require.NoError(t, err)
}

func TestADamagedKeyIsNamed(t *testing.T) {
	t.Parallel()
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(p256)
	require.NoError(t, err)
	for content, want := range map[string]string{
		"":      "want a private key in PEM",
		"hello": "want a private key in PEM",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})):     "want a private key in PEM",
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der[9:]})): "corrupt",
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})):     "want an Ed25519 key, not *ecdsa.PrivateKey",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, identity.KeyFile)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := identity.LoadOrCreateKey(dir)
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
	}
}

func TestAFileLeftByACrashIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unfinished := filepath.Join(dir, identity.KeyFile+".new")
	require.NoError(t, os.WriteFile(unfinished, []byte("half"), 0o666))
	_, err := identity.LoadOrCreateKey(dir)
	require.NoError(t, err)
	require.NoFileExists(t, unfinished)
	info, err := os.Stat(filepath.Join(dir, identity.KeyFile))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
}

func TestAFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := identity.LoadOrCreateKey(filepath.Join(file, "worker"))
	require.Error(t, err)
	require.ErrorContains(t, err, file)
	require.ErrorIs(t, identity.SaveCertificate(filepath.Join(file, "worker"), nil, ""), fault.ErrFolder)
}

func TestACertificateStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := newTestCA(t)
	cert, key := ours.issue(t, identity.Worker)
	_, _, err := identity.LoadCertificate(dir, key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, identity.SaveCertificate(dir, [][]byte{cert.Raw, ours.cert.Raw}, "abcd2345"))
	loaded, invite, err := identity.LoadCertificate(dir, key)
	require.NoError(t, err)
	require.Equal(t, "abcd2345", invite)
	require.Equal(t, [][]byte{cert.Raw, ours.cert.Raw}, loaded.Certificate)
	require.Equal(t, "one", identity.PeerOf(loaded.Leaf))
	require.Equal(t, identity.Worker, identity.RoleOf(loaded.Leaf))

	other, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	_, _, err = identity.LoadCertificate(dir, other)
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, `the certificate of worker "one" was issued for another key`)

	for _, content := range []string{"", "half a certifi", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, identity.CertificateFile), []byte(content), 0o600))
		_, _, err = identity.LoadCertificate(dir, key)
		require.ErrorIs(t, err, fault.ErrInvalid, content)
	}
}

func TestARequestProvesItsKey(t *testing.T) {
	t.Parallel()
	key, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	der, err := identity.Request(key)
	require.NoError(t, err)
	request, err := x509.ParseCertificateRequest(der)
	require.NoError(t, err)
	require.NoError(t, request.CheckSignature())
	require.True(t, key.Public().(ed25519.PublicKey).Equal(request.PublicKey))
}

func TestALargeFileIsNotReadWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, make([]byte, 64<<10), 0o600))
	_, err := identity.ReadPrivate(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, make([]byte, 64<<10+1), 0o600))
	_, err = identity.ReadPrivate(path)
	require.ErrorIs(t, err, fault.ErrInvalid)
}
