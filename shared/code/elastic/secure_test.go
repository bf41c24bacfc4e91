package elastic_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/fault"
)

// clientCertificate writes a certificate that signs itself, and its key.
func clientCertificate(t *testing.T, dir string) (cert, key string, parsed *x509.Certificate) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	parsed, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key = write(t, dir, "cert", "CERTIFICATE", der), write(t, dir, "key", "PRIVATE KEY", pkcs8)
	return cert, key, parsed
}

// write writes a block of PEM, and returns the path of its file.
func write(t *testing.T, dir, name, kind string, der []byte) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

// TestASecuredServerIsUsed has a server behind TLS with a certificate of its own CA, that asks for a
// certificate and a key or a token.
func TestASecuredServerIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, trusted := clientCertificate(t, dir)
	memory := elastictest.New()
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "ApiKey s3cret" && a != "Bearer s3cret" {
			http.Error(w, `{"error":{"type":"security_exception","reason":"missing authentication"}}`, http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization")
		memory.ServeHTTP(w, r)
	}))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	proxy.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
	proxy.TLS.ClientCAs.AddCert(trusted)
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	ca := write(t, dir, "ca", "CERTIFICATE", proxy.Certificate().Raw)
	secret, wrong := filepath.Join(dir, "secret"), filepath.Join(dir, "wrong")
	require.NoError(t, os.WriteFile(secret, []byte("s3cret\n"), 0o600))
	require.NoError(t, os.WriteFile(wrong, []byte("wrong-s3cret\n"), 0o600))
	for i, of := range []struct {
		access elastic.Access
		want   error
	}{
		{elastic.Access{APIKey: secret, CA: ca, Cert: cert, Key: key}, nil},
		{elastic.Access{Bearer: secret, CA: ca, Cert: cert, Key: key}, nil},
		{elastic.Access{Bearer: wrong, CA: ca, Cert: cert, Key: key}, fault.ErrUnauthenticated},
		{elastic.Access{CA: ca, Cert: cert, Key: key}, fault.ErrUnauthenticated},
		{elastic.Access{APIKey: secret, CA: ca}, fault.ErrUnavailable},
		{elastic.Access{APIKey: secret, Cert: cert, Key: key}, fault.ErrUnavailable},
	} {
		x, err := elastic.New(elastic.Config{URL: proxy.URL, Access: of.access, RetryFor: time.Nanosecond})
		require.NoError(t, err)
		err = put(x, "a", "needle")
		require.ErrorIs(t, err, of.want, "%d", i)
		if err != nil {
			require.NotContains(t, err.Error(), "s3cret")
		}
		require.NoError(t, x.Close())
	}
}

func TestMalformedAccessIsRefusedByTheNameOfItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, _ := clientCertificate(t, dir)
	two := filepath.Join(dir, "two")
	require.NoError(t, os.WriteFile(two, []byte("s3cret words"), 0o600))
	for _, of := range []struct {
		access elastic.Access
		want   string
	}{
		{elastic.Access{APIKey: key, Bearer: key}, "not both"},
		{elastic.Access{APIKey: filepath.Join(dir, "absent")}, "absent"},
		{elastic.Access{Bearer: two}, two},
		{elastic.Access{CA: two}, two},
		{elastic.Access{CA: filepath.Join(dir, "absent")}, "absent"},
		{elastic.Access{Cert: cert}, "a certificate with its key"},
		{elastic.Access{Cert: cert, Key: two}, two},
	} {
		_, err := elastic.New(elastic.Config{URL: "https://search.test", Access: of.access})
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, of.want)
		require.NotContains(t, err.Error(), "s3cret")
	}
}
