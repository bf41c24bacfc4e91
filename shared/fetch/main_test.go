package fetch

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a fetcher that may access servers on this machine.
func open(t *testing.T, c Config) *Fetcher {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if c.AllowPrivate == nil {
		c.AllowPrivate = []string{"127.0.0.0/8"}
	}
	f, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// serve starts a server, and closes it after the fetcher.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func respond(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) }
}

func ref(uri string) models.MediaRef { return models.MediaRef{URI: uri} }

// partials lists the partial files of the cache.
func partials(t *testing.T, f *Fetcher) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(f.config.Dir, stageFolder, "*"))
	require.NoError(t, err)
	return names
}

func read(t *testing.T, f File) string {
	t.Helper()
	content, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	return string(content)
}
