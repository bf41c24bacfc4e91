package clips

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

// modular is a feed whose elements of modules have prefixes.
func modular(items string) string {
	return `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/" xmlns:m="http://search.yahoo.com/mrss/"><channel>` + items + `</channel></rss>`
}

func TestDatesIDsAndTitlesOfModulesCountWhereThePlainOnesAreMissing(t *testing.T) {
	t.Parallel()
	const enclosure = `<enclosure url="https://example.org/x.mp3" type="audio/mpeg"/>`
	const link = `<link rel="enclosure" type="audio/mpeg" href="https://example.org/x.mp3"/>`
	atom := func(entry string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:media="http://search.yahoo.com/mrss/"><entry>` + link + entry + `</entry></feed>`
	}
	rdf := func(item string) string {
		return `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">` + item + `</rdf:RDF>`
	}
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		doc, name, title string
		aired            time.Time
	}{
		"RSS, dc:date":                {modular(`<item><guid>x</guid><title>T</title><dc:date>2026-11-21T06:00+00:00</dc:date>` + enclosure + `</item>`), "x", "T", day.Add(6 * time.Hour)},
		"RSS, dcterms:issued":         {modular(`<item><guid>x</guid><title>T</title><t:issued>2026-11-21</t:issued><t:modified>2026-11-22</t:modified>` + enclosure + `</item>`), "x", "T", day},
		"RSS, dcterms:modified":       {modular(`<item><guid>x</guid><title>T</title><t:modified>2026-11-21</t:modified>` + enclosure + `</item>`), "x", "T", day},
		"RSS, an unreadable pubDate":  {modular(`<item><guid>x</guid><title>T</title><pubDate>soon</pubDate><dc:date>2026-11-21</dc:date>` + enclosure + `</item>`), "x", "T", day},
		"RSS, the plain one is first": {modular(`<item><guid>x</guid><title>T</title><pubDate>Sat, 21 Nov 2026 00:00:00 GMT</pubDate><t:issued>2020-01-01</t:issued><dc:title>U</dc:title><m:title>V</m:title>` + enclosure + `</item>`), "x", "T", day},
		"RSS, media:title":            {modular(`<item><dc:identifier>x</dc:identifier><m:group><m:title>T</m:title></m:group><dc:date>2026-11-21</dc:date>` + enclosure + `</item>`), "x", "T", day},
		"Atom, dcterms":               {atom(`<id>x</id><media:title>T</media:title><dcterms:issued>2026-11-21</dcterms:issued>`), "x", "T", day},
		"Atom, dc":                    {atom(`<dc:identifier>x</dc:identifier><dc:title>T</dc:title><dc:date>2026-11</dc:date>`), "x", "T", day.AddDate(0, 0, -20)},
		"Atom, dcterms:modified":      {atom(`<id>x</id><title>T</title><dcterms:modified>2026-11-21</dcterms:modified>`), "x", "T", day},
		"RSS 1.0, rdf:about":          {rdf(`<item rdf:about="x"><title>T</title><dc:date>2026-11-21</dc:date>` + enclosure + `</item>`), "x", "T", day},
		"RSS 1.0, dcterms":            {rdf(`<item rdf:about="x"><dc:title>T</dc:title><dcterms:modified>2026-11-21T00:00:00Z</dcterms:modified>` + enclosure + `</item>`), "x", "T", day},
	} {
		l, _ := listFeedFile(t, c.doc, nil)
		require.Empty(t, l.Problems, name)
		require.Len(t, l.Episodes, 1, name)
		require.Equal(t, c.name, l.Episodes[0].Name, name)
		require.Equal(t, c.title, l.Episodes[0].Title, name)
		require.Equal(t, c.aired, l.Episodes[0].Aired, name)
	}
}

func TestARecordingIsFoundInModulesAndLinksIfNoneIsEnclosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, uri, kind string }{
		"media:content":                {modular(`<item><guid>x</guid><m:content url="https://example.org/x.mp3" type="audio/mpeg" fileSize="7"/></item>`), "https://example.org/x.mp3", "audio/mpeg"},
		"media:content, a medium":      {modular(`<item><guid>x</guid><m:content url="https://example.org/cover" medium="image"/><m:content url="https://example.org/x" medium="audio"/></item>`), "https://example.org/x", "audio/*"},
		"media:group, its default":     {modular(`<item><guid>x</guid><m:group><m:content url="https://example.org/low.mp3" type="audio/mpeg"/><m:content url="https://example.org/x.mp3" type="audio/mpeg" isDefault="true"/></m:group></item>`), "https://example.org/x.mp3", "audio/mpeg"},
		"media:group, not its default": {modular(`<item><guid>x</guid><m:group><m:content url="https://example.org/low.mp3" type="audio/mpeg" isDefault="false"/><m:content url="https://example.org/x.mp3" type="audio/mpeg"/></m:group></item>`), "https://example.org/x.mp3", "audio/mpeg"},
		"media:group, True":            {modular(`<item><guid>x</guid><m:group><m:content url="https://example.org/low.mp3" type="audio/mpeg"/><m:content url="https://example.org/x.mp3" type="audio/mpeg" isDefault=" True"/></m:group></item>`), "https://example.org/x.mp3", "audio/mpeg"},
		"the default alternate": {`<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><item><guid>x</guid><podcast:alternateEnclosure type="audio/mpeg"><podcast:source uri="https://example.org/low.mp3"/></podcast:alternateEnclosure>
			<podcast:alternateEnclosure type="audio/opus" default="true"><podcast:source uri="https://example.org/x.opus"/></podcast:alternateEnclosure></item></channel></rss>`, "https://example.org/x.opus", "audio/opus"},
		"a torrent first":            {modular(`<item><guid>x</guid><enclosure url="https://example.org/x.torrent" type="application/x-bittorrent"/><enclosure url="https://example.org/x" type="application/octet-stream"/></item>`), "https://example.org/x", "application/octet-stream"},
		"a torrent without its type": {modular(`<item><guid>x</guid><enclosure url="https://example.org/x.mp3.torrent" type="audio/mpeg"/><enclosure url="https://example.org/x"/></item>`), "https://example.org/x", ""},
		"a file without sound first": {modular(`<item><guid>x</guid><enclosure url="https://example.org/x.pdf"/><enclosure url="https://example.org/get" type="application/json+chapters"/><enclosure url="https://example.org/x" type="binary/octet-stream"/></item>`), "https://example.org/x", "binary/octet-stream"},
		"a playlist first":           {modular(`<item><guid>x</guid><enclosure url="https://example.org/x.m3u8" type="application/x-mpegURL"/><enclosure url="https://example.org/get" type="audio/x-mpegurl; charset=utf-8"/><enclosure url="https://example.org/x"/></item>`), "https://example.org/x", ""},
		"an image by its type only":  {modular(`<item><guid>x</guid><enclosure url="https://example.org/x.mp3" type="image/jpeg"/></item>`), "https://example.org/x.mp3", "image/jpeg"},
		"an enclosure comes first":   {modular(`<item><guid>x</guid><m:content url="https://example.org/low.mp3" type="audio/mpeg"/><enclosure url="https://example.org/x.mp3" type="audio/mpeg"/></item>`), "https://example.org/x.mp3", "audio/mpeg"},
		"a picture does not":         {modular(`<item><guid>x</guid><m:content url="https://example.org/x.mp3" type="audio/mpeg"/><enclosure url="https://example.org/x.jpg" type="image/jpeg"/></item>`), "https://example.org/x.mp3", "audio/mpeg"},
		"enclosure of RSS 1.0": {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#"><item rdf:about="x"><title>t</title>
			<enc:enclosure rdf:resource="https://example.org/x.mp3" enc:type="audio/mpeg" enc:length="7"/></item></rdf:RDF>`, "https://example.org/x.mp3", "audio/mpeg"},
		"link":            {modular(`<item><guid>x</guid><link>https://example.org/x.ogg?a=b</link></item>`), "https://example.org/x.ogg?a=b", "audio/ogg"},
		"link of Atom":    {`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id><link rel="alternate" type="text/html" href="https://example.org/x"/><link rel="related" type="audio/mpeg" href="https://example.org/x?play"/></entry></feed>`, "https://example.org/x?play", "audio/mpeg"},
		"content of Atom": {`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id><content type="audio/mpeg" src="https://example.org/x"/></entry></feed>`, "https://example.org/x", "audio/mpeg"},
		"url of JSON":     {`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"x","url":"https://example.org/x.mp3"}]}`, "https://example.org/x.mp3", "audio/mpeg"},
		"xml:base":        {`<rss xml:base="https://example.org/f/feed.xml"><channel><item><guid>x</guid><enclosure url="x.mp3"/></item></channel></rss>`, "https://example.org/f/x.mp3", "audio/mpeg"},
		"xml:base of Atom": {`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.org/"><entry xml:base="f/"><id>x</id><link rel="enclosure" href="x.mp3"/></entry></feed>`, "https://example.org/f/x.mp3",
			"audio/mpeg"},
		"xml:base and a link": {`<rss xml:base="https://example.org/f/"><channel><item><guid>x</guid><link>x.mp3</link></item></channel></rss>`, "https://example.org/f/x.mp3", "audio/mpeg"},
	} {
		l, _ := listFeedFile(t, c.doc, nil)
		require.Empty(t, l.Problems, name)
		require.Len(t, l.Episodes, 1, name)
		require.Equal(t, "x", l.Episodes[0].Name, name)
		require.Equal(t, c.uri, l.Episodes[0].Media.URI, name)
		require.Equal(t, c.kind, l.Episodes[0].Media.Type, name)
	}
	l, _ := listFeedFile(t, modular(`<item><title>a page</title><guid>x</guid><link>https://example.org/x.html</link></item>`), nil)
	require.Equal(t, map[string]string{"a page": "nothing is enclosed"}, reasons(l))
	l, _ = listFeedFile(t, modular(`<item><title>a torrent</title><guid>x</guid><enclosure url="https://example.org/x.torrent"/><enclosure url="https://example.org/x" type="application/x-bittorrent"/></item>`), nil)
	require.Equal(t, map[string]string{"a torrent": "no sound is enclosed, only .torrent, application/x-bittorrent"}, reasons(l))
}

func TestAFeedThatIsWrittenInAnUnusualWayIsRead(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	dated := func(date string) string {
		return modular(`<item><guid>x</guid><title>T</title><pubDate>` + date + `</pubDate><enclosure url="https://example.org/x.mp3"/></item>`)
	}
	for name, c := range map[string]struct {
		doc, notice string
		aired       time.Time
	}{
		"names in upper case":    {`<RSS><CHANNEL><ITEM><TITLE>T</TITLE><GUID>x</GUID><ENCLOSURE URL="https://example.org/x.mp3" TYPE="audio/mpeg"/></ITEM></CHANNEL></RSS>`, "", time.Time{}},
		"no root element":        {`<channel><item><title>T</title><guid>x</guid><enclosure url="https://example.org/x.mp3"/></item></channel>`, "channel without <rss>", time.Time{}},
		"an escape twice":        {modular(`<item><guid>x</guid><title>T</title><enclosure url="https://example.org/x.mp3?a&amp;amp;b"/></item>`), "", time.Time{}},
		"an alternate enclosure": {`<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><item><guid>x</guid><title>T</title><podcast:alternateEnclosure type="audio/mpeg"><podcast:source uri="https://example.org/x.mp3"/></podcast:alternateEnclosure></item></channel></rss>`, "", time.Time{}},
		"a date with slashes":    {dated("2026/11/21"), "", day},
		"a date with a dot":      {dated("21. November 2026"), "", day},
		"a date in seconds":      {dated("1795219200"), "", day},
		"JSON, wrong types":      {`{"authors":"x","items":[{"id":"x","title":"T","image":{"a":1},"attachments":{"url":"https://example.org/x.mp3","mime_type":"audio/mpeg"}},5]}`, "4 members of a wrong type", time.Time{}},
		"JSON, cut off":          {`{"items":[{"id":"x","title":"T","attachments":[{"url":"https://example.org/x.mp3"}]},{"id":"y","att`, "end of the feed missing", time.Time{}},
		"JSON, a comma":          {`{"items":[{"id":"x","title":"T","attachments":[{"url":"https://example.org/x.mp3"},]},]}`, "2 × comma", time.Time{}},
		"a warning within":       {modular("<item><guid>x</guid><title>T</title><br />\n<b>Warning</b>: no index & no file<br />\n<enclosure url='https://example.org/x.mp3'/></item>"), `bare "&"`, time.Time{}},
		"a number for a title":   {`{"items":[{"id":"x","title":7,"attachments":[{"url":"https://example.org/x.mp3"}]}]}`, "1 members", time.Time{}},
	} {
		l, _ := listFeedFile(t, c.doc, nil)
		require.Equal(t, []string{"x"}, names(l), name)
		require.Contains(t, []string{"T", "7"}, l.Episodes[0].Title, name)
		require.Equal(t, "https://example.org/x.mp3", strings.TrimSuffix(l.Episodes[0].Media.URI, "?a&b"), name)
		require.Equal(t, c.aired, l.Episodes[0].Aired, name)
		require.Equal(t, c.notice != "", len(l.Problems) > 0, name)
		require.Contains(t, strings.Join(notices(l), "\n"), c.notice, name)
	}
}

func TestAFeedWhoseURLsChangeAtEachVisitHasNoNewEpisode(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		asked++
		at := func(name string) string { return fmt.Sprintf("/%s.mp3?token=%d", name, asked) }
		fmt.Fprint(w, rss(enclosing("one", fmt.Sprintf("/%d/one.mp3", asked)), enclosing("same", at("a")), enclosing("same", at("b")), enclosing("same", at("c"))))
	}))
	t.Cleanup(s.Close)
	o := originAt(models.Feed, s.URL)
	f := newFlow(t, o)
	var first []string
	for range 3 {
		_, err := f.Visit(t.Context(), models.Visit{Origin: o})
		require.NoError(t, err)
		episodes, err := f.Catalog.Episodes(t.Context())
		require.NoError(t, err)
		var ids []string
		for _, e := range episodes {
			ids = append(ids, e.ID)
		}
		slices.Sort(ids)
		if first == nil {
			first = ids
		}
		require.Len(t, ids, 4)
		require.Equal(t, first, ids)
	}
}

func TestItemsWithOneGUIDAndDifferentEnclosuresAreAllEpisodes(t *testing.T) {
	t.Parallel()
	item := func(guid, url string) string { return enclosing(guid, "https://example.org/"+url) }
	for visit := range 3 {
		token := "?token=" + string(rune('a'+visit))
		l, _ := listFeedFile(t, rss(item("one", "moved-"+token), item("same", "1.mp3"+token), item("same", "2.mp3"+token), item("same", "2.mp3?again"), item("same", "3.mp3"+token)), nil)
		require.Equal(t, []string{"one", "same", "same https://example.org/2.mp3", "same https://example.org/3.mp3"}, names(l))
		require.Equal(t, map[string]string{"same": "an earlier item has the same guid and enclosure, same"}, reasons(l))
	}
}
