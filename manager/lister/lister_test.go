package lister

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

type catalog models.Origin

func (c catalog) Origin(context.Context, string) (models.Origin, error) { return models.Origin(c), nil }

func visit(t *testing.T, kind models.OriginKind, uri string, known models.Known) (models.Outcome, error) {
	t.Helper()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer f.Close()
	flow := Flow{Catalog: catalog{ID: "o", Kind: kind, URI: uri}, Fetch: f}
	return flow.Visit(t.Context(), models.Visit{Known: known})
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func uris(o models.Outcome) (all []string) {
	for _, n := range o.Listed.Origins {
		all = append(all, string(n.Kind)+" "+n.URI)
	}
	return all
}

func TestAListOfURLs(t *testing.T) {
	t.Parallel()
	path := file(t, "# mine\n\nhttps://a.example/feed\nhttps://b.example/x.git\r\nhttps://a.example/feed\n")
	o, err := visit(t, models.URLs, path, models.Known{})
	require.NoError(t, err)
	require.Equal(t, models.Eventful, o.Status)
	require.Equal(t, []string{"feed https://a.example/feed", "git https://b.example/x.git"}, uris(o))
	require.True(t, o.Listed.Full)
	same, err := visit(t, models.URLs, path, models.Known{Digest: o.Digest})
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, same.Status)
	require.Equal(t, uris(o), uris(same), "it names them all the same")
	for content, says := range map[string]string{
		"": "names nothing", "# nothing\n": "names nothing", "https://a.example/\nfile:///etc/passwd\n": "line 2", "\xff": "UTF-8",
	} {
		_, err := visit(t, models.URLs, file(t, content), models.Known{})
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, says)
	}
}

func TestADocumentOfFeeds(t *testing.T) {
	t.Parallel()
	o, err := visit(t, models.OPML, file(t, `<?xml version="1.0"?><opml version="2.0"><body>
		<outline text="shows"><outline type="rss" xmlUrl="https://a.example/feed"/></outline>
		<outline xmlUrl="ftp://b.example/"/><outline text="no feed"/></body></opml>`), models.Known{})
	require.NoError(t, err)
	require.Equal(t, []string{"feed https://a.example/feed"}, uris(o))
	for _, bad := range []string{"", "<html/>", "<opml>", strings.Repeat("<opml>", 100), `<!DOCTYPE o [<!ENTITY e "x">]><opml>&e;</opml>`} {
		_, err := visit(t, models.OPML, file(t, bad), models.Known{})
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
}

func TestAFolderOfRepositories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, repo := range []string{"plain/.git", "group/bare.git", ".hidden/.git", "a/b/c/deep/.git"} {
		for _, inner := range []string{"objects", "refs/heads"} {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, repo, inner), 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, repo, "HEAD"), []byte("ref: refs/heads/main"), 0o644))
	}
	o, err := visit(t, models.Repositories, dir, models.Known{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"git " + dir + "/plain", "git " + dir + "/group/bare.git"}, uris(o))
	require.False(t, o.Listed.Origins[0].Updated.IsZero(), "it gives dates")
	_, err = visit(t, models.Repositories, t.TempDir(), models.Known{})
	require.ErrorContains(t, err, "names nothing")
}

func TestAListingThatIsCutOffIsNotFull(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 6000 {
		lines.WriteString("https://a.example/" + strings.Repeat("x", i%7) + "/" + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + "\n")
	}
	o, err := visit(t, models.URLs, file(t, lines.String()), models.Known{})
	require.NoError(t, err)
	require.False(t, o.Listed.Full)
	require.LessOrEqual(t, len(o.Listed.Origins), models.MaxListed)
}

func FuzzLists(f *testing.F) {
	f.Add([]byte("https://a.example/feed\n"))
	f.Add([]byte(`<opml><body><outline xmlUrl="https://a.example/feed"/></body></opml>`))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, parse := range []func([]byte) ([]models.ListedOrigin, error){parseURLs, parseOPML} {
			named, _ := parse(content)
			require.LessOrEqual(t, fitting(named), models.MaxListed)
			for _, n := range named {
				require.True(t, isURL(n.URI))
			}
		}
	})
}
