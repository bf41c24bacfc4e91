package clips

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

// paged serves documents by path.
func paged(t *testing.T, docs map[string]string) (server string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.RequestURI())
		doc, ok := docs[r.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, doc)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func rssPage(guid, next string) string {
	return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>` + next + enclosing(guid, guid+".mp3") + `</channel></rss>`
}

func TestTheFurtherPagesOfAFeedAreRead(t *testing.T) {
	t.Parallel()
	link := func(rel, href string) string { return fmt.Sprintf(`<atom:link rel="%s" href="%s"/>`, rel, href) }
	for name, c := range map[string]struct {
		docs  map[string]string
		names []string
	}{
		"RSS":              {map[string]string{"/f": rssPage("a", link("next", "/old/2?x=1&amp;y=2")), "/old/2?x=1&y=2": rssPage("b", link("next", "3")), "/old/3": rssPage("c", "")}, []string{"a", "b", "c"}},
		"RFC 5005 archive": {map[string]string{"/f": rssPage("a", link("self", "/f")+link("prev-archive", "/2")), "/2": rssPage("b", link("next-archive", "/f")+link("current", "/f"))}, []string{"a", "b"}},
		"Atom": {map[string]string{"/f": `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="next" href="?p=2"/><entry><id>a</id><link rel="enclosure" href="a.mp3"/></entry></feed>`,
			"/f?p=2": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>b</id><link rel="enclosure" href="b.mp3"/></entry></feed>`}, []string{"a", "b"}},
		"JSON Feed": {map[string]string{"/f": `{"version":"https://jsonfeed.org/version/1.1","next_url":"/2","items":[{"id":"a","attachments":[{"url":"a.mp3","mime_type":"audio/mpeg"}]}]}`,
			"/2": `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"b","attachments":[{"url":"b.mp3","mime_type":"audio/mpeg"}]}]}`}, []string{"a", "b"}},
		"a ring":                  {map[string]string{"/f": rssPage("a", link("next", "/2")), "/2": rssPage("b", link("next", "/f"))}, []string{"a", "b"}},
		"to itself":               {map[string]string{"/f": rssPage("a", link("next", "/f#2"))}, []string{"a"}},
		"the same for any number": {map[string]string{"/f": rssPage("a", link("next", "/f?page=2")), "/f?page=2": rssPage("a", link("next", "/f?page=3"))}, []string{"a"}},
		"an empty page at last":   {map[string]string{"/f": rssPage("a", link("next", "/2")), "/2": "<rss><channel/></rss>"}, []string{"a"}},
	} {
		server, asked := paged(t, c.docs)
		l := list(t, models.Feed, server+"/f")
		require.Equal(t, c.names, names(l), name)
		require.Empty(t, l.Problems, name)
		require.True(t, l.Latest, name)
		require.Len(t, *asked, len(c.docs), name)
	}
}

func TestAnEnclosureIsRelativeToItsPage(t *testing.T) {
	t.Parallel()
	server, _ := paged(t, map[string]string{"/f": rssPage("a", `<atom:link rel="next" href="/old/2"/>`), "/old/2": rssPage("b", "")})
	l := list(t, models.Feed, server+"/f")
	require.Equal(t, server+"/a.mp3", l.Episodes[0].Media.URI)
	require.Equal(t, server+"/old/b.mp3", l.Episodes[1].Media.URI)
}

func TestAPageThatCannotBeReadEndsTheFeedWithAProblem(t *testing.T) {
	t.Parallel()
	for next, reason := range map[string]string{
		"/gone":                    "page 2 of the feed, /gone: fetch http",
		"http://192.168.0.1/2.xml": "page 2 of the feed, http://192.168.0.1/2.xml: 192.168.0.1 is not a public address",
		"file:///etc/passwd":       `scheme "file" is refused`,
		"/html":                    "not an RSS, Atom or JSON feed",
	} {
		server, _ := paged(t, map[string]string{"/f": rssPage("a", `<atom:link rel="next" href="`+next+`"/>`), "/html": "<html>"})
		l := list(t, models.Feed, server+"/f")
		require.Equal(t, []string{"a"}, names(l))
		require.False(t, l.Latest)
		require.Len(t, notices(l), 1)
		require.Contains(t, notices(l)[0], reason)
		require.NotContains(t, notices(l)[0], ": invalid")
	}
}

func TestThePagesOfAFeedAreBounded(t *testing.T) {
	t.Parallel()
	docs := map[string]string{"/f": rssPage("p1", `<atom:link rel="next" href="/2"/>`)}
	for n := 2; n <= maxPages+5; n++ {
		docs[fmt.Sprintf("/%d", n)] = rssPage(fmt.Sprintf("p%d", n), fmt.Sprintf(`<atom:link rel="next" href="/%d"/>`, n+1))
	}
	server, asked := paged(t, docs)
	l := list(t, models.Feed, server+"/f")
	require.Len(t, l.Episodes, maxPages)
	require.Len(t, *asked, maxPages)
	require.Equal(t, []string{"the feed goes on behind page 100; 100 pages and 20000 items are read"}, notices(l))
	require.False(t, l.Latest)
}

func TestPagesOfALocalFeedAreFilesOfItsFolder(t *testing.T) {
	t.Parallel()
	l, _ := listFeedFile(t, rssPage("a", `<atom:link rel="next" href="page2.xml"/>`), map[string]string{"a.mp3": "a", "b.mp3": "b", "page2.xml": rssPage("b", `<atom:link rel="next" href="../x.xml"/>`)})
	require.Equal(t, []string{"a", "b"}, names(l))
	require.Contains(t, strings.Join(notices(l), ""), "leads out of the feed's folder")
}
