package lister

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func visit(t *testing.T, kind models.OriginKind, uri string, known models.Known) (models.Outcome, error) {
	t.Helper()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer f.Close()
	flow := Flow{Catalog: &catalogtest.OneOrigin{Only: models.Origin{ID: "o", Kind: kind, URI: uri}}, Fetch: f, Log: slog.New(slog.DiscardHandler)}
	return flow.Visit(t.Context(), models.Visit{Known: known})
}

func TestACatalogThatIsAwayIsNoFailureOfTheList(t *testing.T) {
	t.Parallel()
	list := file(t, "https://example.org/feed.xml\n")
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer f.Close()
	synctest.Test(t, func(t *testing.T) {
		away := &catalogtest.OneOrigin{Only: models.Origin{ID: "o", Kind: models.URLs, URI: list}, Away: 5}
		flow := Flow{Catalog: away, Fetch: f, Log: slog.New(slog.DiscardHandler)}
		outcome, err := flow.Visit(t.Context(), models.Visit{})
		require.NoError(t, err)
		require.Equal(t, models.Eventful, outcome.Status)
	})
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

func TestAListMovesWhereItsServerRedirectsForGood(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
			return
		}
		fmt.Fprintln(w, "https://example.org/feed.xml")
	}))
	t.Cleanup(server.Close)
	o, err := visit(t, models.URLs, server.URL+"/old", models.Known{})
	require.NoError(t, err)
	require.Equal(t, &models.Move{To: server.URL + "/new", Answers: true}, o.Move)
	require.Len(t, o.Listed.Origins, 1)
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
		"<html>\n": "line 1", "https://a.example/\nfile:///etc/passwd\n": "line 2", "\xff": "UTF-8",
	} {
		_, err := visit(t, models.URLs, file(t, content), models.Known{})
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, says)
	}
}

func TestADocumentOfFeeds(t *testing.T) {
	t.Parallel()
	o, err := visit(t, models.OPML, file(t, `<?xml version="1.0"?><opml version="2.0"><body>
		<outline text="shows"><outline type="rss" created="Tue, 14 Nov 2023 22:13:20 +0000" xmlUrl="https://a.example/feed"/></outline>
		<outline xmlUrl="ftp://b.example/"/><outline text="no feed"/></body></opml>`), models.Known{})
	require.NoError(t, err)
	require.Equal(t, []string{"feed https://a.example/feed"}, uris(o))
	require.Equal(t, time.Unix(1700000000, 0).UTC(), o.Listed.Origins[0].Created)
	for _, bad := range []string{"", "<html/>", "<opml>", strings.Repeat("<opml>", 100), `<opml><outline xmlUrl="https://a.example/feed"/><outli`, `<rss/>`} {
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
	log := "%s %s A <a@b> 1700000000 +0100\tclone\n%[1]s %[2]s A <a@b> 1700099999 +0100\tcommit\n"
	log = fmt.Sprintf(log, strings.Repeat("0", 40), strings.Repeat("1", 40))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "plain/.git/logs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain/.git/logs/HEAD"), []byte(log), 0o644))
	o, err := visit(t, models.Repositories, dir, models.Known{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"git " + dir + "/plain", "git " + dir + "/group/bare.git"}, uris(o))
	for _, n := range o.Listed.Origins {
		require.False(t, n.Updated.IsZero(), "it gives dates")
		require.Equal(t, strings.HasSuffix(n.URI, "plain"), n.Created.Equal(time.Unix(1700000000, 0)), "where there is a log, also of creation")
	}
	none, err := visit(t, models.Repositories, t.TempDir(), models.Known{})
	require.NoError(t, err)
	require.True(t, none.Listed.Full, "it counts if it lists nothing twice")
	require.Empty(t, none.Listed.Origins)
}

func TestALongListIsNamedInPartsAndItsLastPartIsFull(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&lines, "https://a.example/%d\n", i)
	}
	path := file(t, lines.String())
	named := map[string]bool{}
	known := models.Known{}
	for visits := 1; ; visits++ {
		o, err := visit(t, models.URLs, path, known)
		require.NoError(t, err)
		require.LessOrEqual(t, len(o.Listed.Origins), models.MaxListed)
		require.Equal(t, known.Next, o.Listed.From)
		for _, n := range o.Listed.Origins {
			require.False(t, named[n.URI], "each once")
			named[n.URI] = true
		}
		known = models.Known{Digest: o.Digest, Next: o.Listed.Next}
		if o.Listed.Full {
			require.Greater(t, visits, 2)
			require.Zero(t, o.Listed.Next)
			break
		}
	}
	require.Len(t, named, 12_000)
	// If only dates have changed, the list goes on; one that has changed starts again; a position behind its end names nothing.
	again, err := visit(t, models.URLs, path, models.Known{Digest: "list:other", Next: 5000})
	require.NoError(t, err)
	require.Zero(t, again.Listed.From)
	beyond, err := visit(t, models.URLs, path, models.Known{Digest: known.Digest, Next: 1 << 40})
	require.NoError(t, err)
	require.Empty(t, beyond.Listed.Origins)
}

func TestPositionsInALongListDoNotDependOnTheOrderOfItsLines(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 6000 {
		lines = append(lines, fmt.Sprintf("https://a.example/%d\n", i))
	}
	begin, err := visit(t, models.URLs, file(t, strings.Join(lines, "")), models.Known{})
	require.NoError(t, err)
	slices.Reverse(lines)
	named, known := uris(begin), models.Known{Digest: begin.Digest, Next: begin.Listed.Next}
	for known.Next > 0 {
		o, err := visit(t, models.URLs, file(t, strings.Join(lines, "")), known)
		require.NoError(t, err)
		require.Equal(t, known.Next, o.Listed.From)
		named, known.Next = append(named, uris(o)...), o.Listed.Next
	}
	slices.Sort(named)
	require.Len(t, slices.Compact(named), 6000)
}

func TestOneBadLineDoesNotFailTheList(t *testing.T) {
	t.Parallel()
	o, err := visit(t, models.URLs, file(t, "https://a.example/1\nftp://user:secret@b.example/\nhttps://a.example/2\n"), models.Known{})
	require.NoError(t, err)
	require.Equal(t, []string{"feed https://a.example/1", "feed https://a.example/2"}, uris(o))
	_, err = visit(t, models.URLs, file(t, "ftp://user:secret@b.example/\n"), models.Known{})
	require.NotContains(t, err.Error(), "secret")
	empty, err := visit(t, models.URLs, file(t, "# nothing\n"), models.Known{})
	require.NoError(t, err)
	require.True(t, empty.Listed.Full)
}

func TestAListOfAMillionLinesIsBoundedAndItsDuplicatesCountOnce(t *testing.T) {
	t.Parallel()
	named, _, err := parseURLs([]byte(strings.Repeat("https://user:secret@a.example/1\nhttps://a.example/2\n", 500_000)))
	require.NoError(t, err)
	require.Len(t, named, 2)
	var lines strings.Builder
	for i := range maxNames + 10 {
		fmt.Fprintf(&lines, "https://user:secret@a.example/%d\n", i)
	}
	named, skipped, err := parseURLs([]byte(lines.String()))
	require.NoError(t, err)
	require.Empty(t, skipped)
	require.Len(t, named, maxNames+1, "one more than are visited, so that the list is never full")
	last := part(named, maxNames)
	require.False(t, last.Full)
	require.NotContains(t, digest(named[:2]), "secret")
}

func TestTheDigestOfAListCoversItsDates(t *testing.T) {
	t.Parallel()
	a := []models.ListedOrigin{{Kind: models.Git, URI: "https://a.example/x.git"}, {Kind: models.Git, URI: "https://a.example/y.git"}}
	b := []models.ListedOrigin{a[1], a[0]}
	require.Equal(t, digest(a), digest(b))
	b[0].Updated = time.Unix(1700000000, 0)
	require.NotEqual(t, digest(a), digest(b))
	require.Equal(t, namesOf(digest(a)), namesOf(digest(b)))
	require.NotEqual(t, namesOf(digest(a)), namesOf(digest(a[:1])))
}

func FuzzLists(f *testing.F) {
	f.Add([]byte("https://a.example/feed\n"))
	f.Add([]byte(`<opml><body><outline xmlUrl="https://a.example/feed"/></body></opml>`))
	f.Fuzz(func(t *testing.T, content []byte) {
		urls := func(content []byte) ([]models.ListedOrigin, error) {
			named, _, err := parseURLs(content)
			return named, err
		}
		opml := func(content []byte) ([]models.ListedOrigin, error) {
			named, _, err := parseOPML(content, "")
			return named, err
		}
		for _, parse := range []func([]byte) ([]models.ListedOrigin, error){urls, opml} {
			named, _ := parse(content)
			require.LessOrEqual(t, fitting(named), models.MaxListed)
			for _, n := range named {
				require.True(t, models.IsWebURL(n.URI))
			}
		}
	})
}
