package clips

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lister returns one that trusts the origins.
func lister(t testing.TB, trusted ...models.Origin) *Lister {
	t.Helper()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	for _, o := range trusted {
		require.NoError(t, f.Trust(o))
	}
	return &Lister{Fetch: f}
}

func originAt(kind models.OriginKind, uri string) models.Origin {
	return models.Origin{ID: models.NewID(string(kind), uri), Kind: kind, URI: uri, Priority: 3}
}

func list(t *testing.T, kind models.OriginKind, uri string) catalog.Listing {
	t.Helper()
	o := originAt(kind, uri)
	listing, err := lister(t, o).List(t.Context(), o)
	require.NoError(t, err)
	return listing
}

// tree writes files, by path relative to a new folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

func reasons(l catalog.Listing) map[string]string {
	m := map[string]string{}
	for _, p := range l.Problems {
		m[p.Item] = p.Reason
	}
	return m
}

func names(l catalog.Listing) []string {
	var all []string
	for _, e := range l.Episodes {
		all = append(all, e.Name)
	}
	for _, c := range l.Clips {
		all = append(all, c.Name)
	}
	return all
}

func TestAnUntrustedOriginIsNotVisited(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.mp3": "a", "feed.xml": "<rss/>"})
	l := lister(t)
	for _, o := range []models.Origin{
		originAt(models.Media, dir), originAt(models.Clips, "/"), originAt(models.Feed, dir+"/feed.xml"),
		originAt(models.Feed, "http://127.0.0.1:1/feed.xml"), originAt("git", dir),
	} {
		_, err := l.List(t.Context(), o)
		require.ErrorIs(t, err, fault.ErrInvalid, o)
	}
}
