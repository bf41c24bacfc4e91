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

func emptyPage(next string) string {
	return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>` + next + `</channel></rss>`
}

func dated(url, next string) string {
	return `<rss><channel>` + next + `<item><title>t</title><guid>g</guid><pubDate>Sat, 21 Nov 2026 06:00:00 +0100</pubDate><enclosure url="` + url + `"/></item></channel></rss>`
}

// sameGUID is a page whose items have one guid, and no other text.
func sameGUID(next string, urls ...string) string {
	for _, url := range urls {
		next += `<item><guid>g</guid><enclosure url="` + url + `"/></item>`
	}
	return `<rss><channel>` + next + `</channel></rss>`
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
		"an empty page between":   {map[string]string{"/f": rssPage("a", link("next", "/2")), "/2": emptyPage(link("next", "/3")), "/3": rssPage("c", "")}, []string{"a", "c"}},
		"an empty page at first":  {map[string]string{"/f": emptyPage(link("prev-archive", "/2")), "/2": rssPage("b", "")}, []string{"b"}},
		"an empty page of JSON": {map[string]string{"/f": `{"version":"https://jsonfeed.org/version/1","next_url":"/2","items":[{"id":"a","attachments":[{"url":"a.mp3"}]}]}`,
			"/2": `{"version":"https://jsonfeed.org/version/1","next_url":"/3","items":[]}`, "/3": `{"version":"https://jsonfeed.org/version/1","items":[{"id":"c","attachments":[{"url":"c.mp3"}]}]}`}, []string{"a", "c"}},
		"one guid for all": {map[string]string{"/f": sameGUID(link("next", "/2"), "1.mp3", "2.mp3"), "/2": sameGUID(link("next", "/3"), "3.mp3", "4.mp3"), "/3": sameGUID("", "4.mp3?token=2", "5.mp3")},
			[]string{"g", "g SERVER/2.mp3", "g SERVER/3.mp3", "g SERVER/4.mp3", "g SERVER/5.mp3"}},
		"no guid, the same with another token": {map[string]string{"/f": `<rss><channel>` + link("next", "/2") + `<item><title>t</title><enclosure url="/a.mp3?token=1"/></item></channel></rss>`,
			"/2": `<rss><channel>` + link("next", "/3") + `<item><title>t</title><enclosure url="/a.mp3?token=2"/></item></channel></rss>`}, []string{"/a.mp3"}},
		"no guid, relative": {map[string]string{"/f": `<rss><channel>` + link("next", "/f?2") + `<item><enclosure url="a.mp3"/></item></channel></rss>`,
			"/f?2": `<rss><channel>` + link("next", "/old/3") + `<item><enclosure url="b.mp3"/></item></channel></rss>`, "/old/3": `<rss><channel><item><enclosure url="b.mp3"/></item></channel></rss>`}, []string{"a.mp3", "b.mp3", "SERVER/old/b.mp3"}},
		"the same item with another URL": {map[string]string{"/f": dated("1/a.mp3", link("next", "/2")), "/2": dated("2/a.mp3", link("next", "/3"))}, []string{"g"}},
	} {
		server, asked := paged(t, c.docs)
		l := list(t, models.Feed, server+"/f")
		for i := range c.names {
			c.names[i] = strings.Replace(c.names[i], "SERVER", server, 1)
		}
		require.Equal(t, c.names, names(l), name)
		require.Empty(t, notices(l), name)
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
		"/error":                   "page 2 of the feed, /error: not a JSON Feed",
	} {
		server, _ := paged(t, map[string]string{"/f": rssPage("a", `<atom:link rel="next" href="`+next+`"/>`), "/html": "<html>", "/error": `{"error":"no such page"}`})
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

func TestEmptyPagesAreBoundedAndAFeedOfThemHasNoItems(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	for n := range maxPages + 5 {
		docs[fmt.Sprintf("/%d", n+1)] = emptyPage(fmt.Sprintf(`<atom:link rel="next" href="/%d"/>`, n+2))
	}
	server, asked := paged(t, docs)
	o := originAt(models.Feed, server+"/1")
	_, err := lister(t, o).List(t.Context(), o)
	require.ErrorIs(t, err, errNoItems)
	require.ErrorContains(t, err, "the feed goes on behind page 100")
	require.Len(t, *asked, maxPages)
}

func TestLinksAreRelativeToWhereTheFeedWasReadAfterRedirects(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, _, _ := r.BasicAuth()
			asked = append(asked, user+r.URL.Path)
			switch r.URL.Path {
			case "/f":
				http.Redirect(w, r, "/deep/feed/1", status)
			case "/deep/feed/2":
				http.Redirect(w, r, "../old/2", status)
			case "/deep/feed/1":
				fmt.Fprint(w, rssPage("a", `<atom:link rel="next" href="2"/>`))
			case "/deep/old/2":
				fmt.Fprint(w, rssPage("b", `<atom:link rel="next" href="../feed/1"/>`))
			}
		}))
		t.Cleanup(s.Close)
		l := list(t, models.Feed, strings.Replace(s.URL, "://", "://ann:secret@", 1)+"/f")
		require.Empty(t, l.Problems)
		require.Equal(t, []string{"a", "b"}, names(l))
		require.Equal(t, s.URL+"/deep/feed/a.mp3", l.Episodes[0].Media.URI)
		require.Equal(t, s.URL+"/deep/old/b.mp3", l.Episodes[1].Media.URI)
		require.Equal(t, []string{"ann/f", "ann/deep/feed/1", "ann/deep/feed/2", "ann/deep/old/2"}, asked)
	}
}

func TestAPageThatIsRepeatedIsKnownIfItsFeedHasAUser(t *testing.T) {
	t.Parallel()
	link := func(n int) string { return fmt.Sprintf(`<atom:link rel="next" href="/f?page=%d"/>`, n) }
	server, asked := paged(t, map[string]string{"/f": rssPage("a", link(2)), "/f?page=2": rssPage("a", link(3)), "/f?page=3": rssPage("b", "")})
	l := list(t, models.Feed, strings.Replace(server, "://", "://ann:secret@", 1)+"/f")
	require.Equal(t, []string{"a"}, names(l))
	require.Empty(t, l.Problems)
	require.Len(t, *asked, 2)
}

func TestPagesOfALocalFeedAreFilesOfItsFolder(t *testing.T) {
	t.Parallel()
	l, _ := listFeedFile(t, rssPage("a", `<atom:link rel="next" href="page2.xml"/>`), map[string]string{"a.mp3": "a", "b.mp3": "b", "page2.xml": rssPage("b", `<atom:link rel="next" href="../x.xml"/>`)})
	require.Equal(t, []string{"a", "b"}, names(l))
	require.Contains(t, strings.Join(notices(l), ""), "leads out of the feed's folder")
}
