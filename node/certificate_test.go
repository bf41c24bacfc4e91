package node

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

// writeCertificate writes a certificate for a name and its key into the files of cfg, with a time of change.
func writeCertificate(t *testing.T, cfg config.Config, name string, changed time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cfg.TLSCert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	require.NoError(t, os.WriteFile(cfg.TLSKey, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	require.NoError(t, os.Chtimes(cfg.TLSCert, changed, changed))
}

func TestABroughtCertificateIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := config.Config{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	var log bytes.Buffer
	_, err := openCertificate(cfg, slog.New(slog.NewTextHandler(&log, nil)))
	require.ErrorIs(t, err, fault.ErrInvalid)
	began := time.Now().Add(-time.Hour)
	writeCertificate(t, cfg, "first.example", began)
	brought, err := openCertificate(cfg, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	ca, err := authority.Create(filepath.Join(dir, "identity"), time.Now)
	require.NoError(t, err)
	served := brought.over(ca.ServerConfig(func() []string { return nil }))
	name := func(asked string) string {
		c, err := served.GetConfigForClient(&tls.ClientHelloInfo{ServerName: asked})
		require.NoError(t, err)
		require.NotEmpty(t, c.Certificates)
		leaf, err := x509.ParseCertificate(c.Certificates[0].Certificate[0])
		require.NoError(t, err)
		return leaf.Subject.CommonName
	}
	require.Equal(t, "first.example", name("leasehold.example"))
	writeCertificate(t, cfg, "second.example", began.Add(time.Minute))
	require.Equal(t, "second.example", name("leasehold.example"))
	require.Empty(t, log.String())
	require.NoError(t, os.WriteFile(cfg.TLSCert, []byte("no certificate"), 0o600))
	require.Equal(t, "second.example", name("leasehold.example"), "a wrong new file leaves the old one")
	require.Contains(t, log.String(), "the new certificate cannot be used")
	require.NotContains(t, []string{"first.example", "second.example"}, name(identity.ServerName), "processes get that of the coordinator's CA")
}

func TestWithoutABroughtCertificateThereIsNone(t *testing.T) {
	t.Parallel()
	brought, err := openCertificate(config.Config{}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Nil(t, brought)
}
