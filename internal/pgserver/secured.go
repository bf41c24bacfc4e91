package pgserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// RequireTLS makes the server accept a role only by TLS and with a password, as many operators do, and makes that role. The
// server's certificate is one that openssl has made and signed itself, for the name localhost. It returns the file of the
// certificate, and one of another server. The server is started again.
func (s *Server) RequireTLS(t testing.TB, role, password string) (certificate, other string) {
	t.Helper()
	s.Exec(t, "CREATE ROLE "+role+" LOGIN CREATEDB PASSWORD '"+password+"'")
	certificate, key := selfSigned(t, s.data(), "server")
	other, _ = selfSigned(t, s.dir, "other")
	require.NoError(t, own(certificate))
	require.NoError(t, own(key))
	require.NoError(t, os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"),
		[]byte("hostssl all "+role+" all scram-sha-256\nhost all postgres all trust\nhost replication postgres all trust\n"), 0o600))
	s.configure(t, Settings{"ssl": "on", "ssl_cert_file": "'" + certificate + "'", "ssl_key_file": "'" + key + "'"})
	s.Stop(t)
	s.Start(t)
	return certificate, other
}

// selfSigned makes a key and its certificate.
func selfSigned(t testing.TB, dir, name string) (certificate, key string) {
	t.Helper()
	certificate, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	out, err := exec.Command("openssl", "req", "-new", "-x509", "-days", "10", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=localhost",
		"-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", certificate, "-keyout", key).CombinedOutput()
	require.NoError(t, err, "openssl: %s", out)
	return certificate, key
}

// Password makes a role, and the server demand its password, without TLS.
func (s *Server) Password(t testing.TB, role, password string) {
	t.Helper()
	s.Exec(t, "CREATE ROLE "+role+" LOGIN PASSWORD '"+password+"'")
	require.NoError(t, os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte("host all "+role+" all scram-sha-256\nhost all postgres all trust\n"), 0o600))
	s.Exec(t, "SELECT pg_reload_conf()")
	s.await(t, "SELECT count(*) = 2 FROM pg_hba_file_rules")
}
