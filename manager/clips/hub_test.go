package clips

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fetch"
)

func TestTheHubOfAFeedIsFound(t *testing.T) {
	t.Parallel()
	const uri = "https://a.example/feed"
	const item = `<item><title>a</title><enclosure url="a.mp3" type="audio/mpeg"/></item>`
	rss := func(links string) string {
		return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>t</title>` + links + item + `</channel></rss>`
	}
	both := `<atom:link rel="hub" href="https://hub.example/"/><atom:link rel="self" href="/topic"/>`
	want := models.Hub{URL: "https://hub.example/", Topic: "https://a.example/topic"}
	for name, c := range map[string]struct {
		headers []string
		doc     string
		want    models.Hub
	}{
		"none":            {doc: rss("")},
		"RSS":             {doc: rss(both), want: want},
		"without a topic": {doc: rss(`<atom:link rel="hub" href="https://hub.example/"/>`)},
		"a file":          {doc: rss(`<atom:link rel="hub" href="file:///etc/passwd"/><atom:link rel="self" href="/topic"/>`)},
		"a password":      {doc: rss(`<atom:link rel="hub" href="https://u:p@hub.example/"/><atom:link rel="self" href="/topic"/>`)},
		"Atom": {doc: `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><link rel="hub" href="https://hub.example/"/><link rel="self" href="https://a.example/topic"/>
			<entry><id>1</id><title>a</title><link rel="enclosure" href="a.mp3" type="audio/mpeg"/></entry></feed>`, want: want},
		"JSON": {doc: `{"version":"https://jsonfeed.org/version/1.1","title":"t","feed_url":"https://a.example/topic","hubs":[{"type":"rssCloud","url":"https://x.example/"},{"type":"WebSub","url":"https://hub.example/"}],
			"items":[{"id":"1","title":"a","attachments":[{"url":"https://a.example/a.mp3","mime_type":"audio/mpeg"}]}]}`, want: want},
		"headers first":         {headers: []string{`<https://first.example/>; rel="hub"`, `<https://a.example/t,1>; title="a, b"; rel=self`}, doc: rss(both), want: models.Hub{URL: "https://first.example/", Topic: "https://a.example/t,1"}},
		"one header":            {headers: []string{`<https://first.example/>;rel="HUB other", </t>;rel="self"`}, doc: rss(""), want: models.Hub{URL: "https://first.example/", Topic: "https://a.example/t"}},
		"half in the headers":   {headers: []string{`<https://first.example/>; rel="hub"`}, doc: rss(both), want: want},
		"headers of no meaning": {headers: []string{`<>; rel=hub`, `;;;`, `<https://x/>`, `<https://x/>; rel`}, doc: rss("")},
	} {
		d, err := readDocument(t.Context(), fetch.Poll{Content: []byte(c.doc)}, feedBytes, 10)
		require.NoError(t, err, name)
		require.Equal(t, c.want, hubOf(uri, c.headers, d), name)
	}
}

func TestAVisitReportsTheHubOfTheHeader(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Link", `<https://hub.example/>; rel="hub"`)
		w.Header().Add("Link", `<https://a.example/feed>; rel="self"`)
		_, _ = w.Write([]byte(`<rss version="2.0"><channel><title>t</title><item><title>a</title><enclosure url="a.mp3" type="audio/mpeg"/></item></channel></rss>`))
	}))
	t.Cleanup(server.Close)
	o := originAt(models.Feed, server.URL)
	seen, err := lister(t, o).read(t.Context(), o, models.Known{})
	require.NoError(t, err)
	require.Equal(t, &models.Hub{URL: "https://hub.example/", Topic: "https://a.example/feed"}, seen.hub)
}
