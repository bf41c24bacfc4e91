package clips

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
	ext "github.com/mmcdole/gofeed/extensions"
	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// rss is a feed of such items.
func rss(items ...string) string {
	return `<?xml version="1.0"?><rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>Show</title>` +
		strings.Join(items, "\n") + `</channel></rss>`
}

func enclosing(guid, url string) string {
	return fmt.Sprintf(`<item><title>%s</title><guid>%s</guid><enclosure url="%s" type="audio/mpeg" length="7"/></item>`, guid, guid, url)
}

// listFeedFile lists a local feed, beside some files.
func listFeedFile(t *testing.T, feed string, files map[string]string) (catalog.Listing, string) {
	t.Helper()
	dir := tree(t, files)
	path := filepath.Join(dir, "feed.xml")
	require.NoError(t, os.WriteFile(path, []byte(feed), 0o600))
	return list(t, models.Feed, path), dir
}

func TestFeedFromAServer(t *testing.T) {
	t.Parallel()
	const feed = `<item><title> One &amp; <![CDATA[only]]></title><guid>g1</guid><pubDate>Sat, 21 Nov 2026 06:00:00 +0100</pubDate>
		<podcast:priority>19</podcast:priority><enclosure url="https://example.org/1.mp3#t=10" type="audio/mpeg" length="1234"/></item>
		<item><enclosure url="media/2.ogg" length="5"/></item>
		<item><guid>g3</guid><title>Three</title><priority>-9223372036854775808</priority><enclosure url="cover.jpg" type="image/jpeg"/><enclosure url="/3" type="application/octet-stream"/></item>`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, rss(feed)) }))
	t.Cleanup(s.Close)
	l := list(t, models.Feed, s.URL+"/shows/feed.xml")
	require.Empty(t, l.Problems)
	require.False(t, l.Complete)
	require.Len(t, l.Episodes, 3)

	e := l.Episodes[0]
	require.Equal(t, "g1", e.Name)
	require.Equal(t, "One & only", e.Title)
	require.Equal(t, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC), e.Aired)
	require.EqualValues(t, 19, e.Priority)
	require.Equal(t, "https://example.org/1.mp3", e.Media.URI)
	require.Equal(t, "audio/mpeg", e.Media.Type)
	require.True(t, models.ValidID(e.Media.Version))

	e = l.Episodes[1]
	require.Equal(t, "media/2.ogg", e.Name, "without a guid the enclosure is the name")
	require.Equal(t, "2.ogg", e.Title)
	require.Equal(t, s.URL+"/shows/media/2.ogg", e.Media.URI)
	require.Equal(t, "audio/ogg", e.Media.Type)
	require.EqualValues(t, 3, e.Priority, "the origin's")

	e = l.Episodes[2]
	require.Equal(t, s.URL+"/3", e.Media.URI)
	require.Equal(t, "application/octet-stream", e.Media.Type, "the feed's type, and not that of an extension")
	require.EqualValues(t, math.MinInt64, e.Priority)
}

func TestAnETagThatChangesWithEachRequestIsNoChange(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, asked))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		fmt.Fprintf(w, "%s<!-- %d -->", rss(`<item><guid>g1</guid><pubDate>Sat, 21 Nov 2026 06:00:00 +0100</pubDate><enclosure url="1.mp3" type="audio/mpeg"/></item>`), asked)
	}))
	t.Cleanup(s.Close)
	f, err := fetch.New(fetch.Config{Dir: t.TempDir(), AllowPrivate: []string{"127.0.0.1"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	l := &Lister{Fetch: f}
	first, err := l.readFeed(t.Context(), models.Origin{ID: "o", Kind: models.Feed, URI: s.URL}, models.Known{})
	require.NoError(t, err)
	again, err := l.readFeed(t.Context(), models.Origin{ID: "o", Kind: models.Feed, URI: s.URL}, models.Known{Digest: first.digest, ETag: first.etag, Modified: first.modified})
	require.NoError(t, err)
	require.Equal(t, 2, asked)
	require.NotEqual(t, first.etag, again.etag)
	require.Equal(t, first.digest, again.digest)
}

func TestFeedOfOtherFormats(t *testing.T) {
	t.Parallel()
	for name, feed := range map[string]string{
		"atom": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id><title>T</title><updated>2026-11-21T06:00:00Z</updated>
			<link rel="enclosure" type="audio/mpeg" href="https://example.org/x.mp3"/></entry></feed>`,
		"json": `{"version":"https://jsonfeed.org/version/1.1","title":"S","items":[{"id":"x","title":"T","date_published":"2026-11-21T06:00:00Z",
			"attachments":[{"url":"https://example.org/x.mp3","mime_type":"audio/mpeg"}]}]}`,
		"rdf": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><guid>x</guid><title>T</title><pubDate>2026-11-21T06:00:00Z</pubDate>
			<enclosure url="https://example.org/x.mp3" type="audio/mpeg"/></item></rdf:RDF>`,
		"latin-1, with a DOCTYPE": `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE rss PUBLIC "-//x//DTD RSS 0.91//EN" "http://x/rss.dtd"><rss><channel><item><guid>x</guid><title>T` + "\xa0" + `</title><pubDate>2026-11-21T06:00:00Z</pubDate>
			<enclosure url="https://example.org/x.mp3" type="audio/mpeg"/></item></channel></rss>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := listFeedFile(t, feed, nil)
			require.Empty(t, l.Problems)
			require.Len(t, l.Episodes, 1)
			e := l.Episodes[0]
			require.Equal(t, "x", e.Name)
			require.Equal(t, "T", e.Title)
			require.Equal(t, time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), e.Aired)
			require.Equal(t, "https://example.org/x.mp3", e.Media.URI)
		})
	}
}

func TestLocalFeedEnclosesFilesOfItsFolder(t *testing.T) {
	t.Parallel()
	l, dir := listFeedFile(t, rss(
		enclosing("plain", "a.mp3"), enclosing("dots", "./sub/../a.mp3"), enclosing("escaped", "sub/b%20c.mp3"),
		enclosing("raw", "50%.mp3"), enclosing("remote", "https://example.org/a.mp3"), enclosing("what", "what?.mp3"),
	), map[string]string{"a.mp3": "a", "sub/b c.mp3": "b", "50%.mp3": "c", "what?.mp3": "d"})
	require.Empty(t, l.Problems)
	require.Equal(t, []string{"plain", "dots", "escaped", "raw", "remote", "what"}, names(l))
	require.Equal(t, "file://"+dir+"/a.mp3", l.Episodes[0].Media.URI)
	require.Equal(t, "file://"+dir+"/a.mp3", l.Episodes[1].Media.URI)
	require.Equal(t, "file://"+dir+"/sub/b%20c.mp3", l.Episodes[2].Media.URI)
	require.Equal(t, "file://"+dir+"/50%25.mp3", l.Episodes[3].Media.URI)
	require.Regexp(t, `^1-\d+$`, l.Episodes[0].Media.Version, "size and time")
}

func TestFault48And52HostileEnclosuresAreProblems(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"secret.mp3": "secret"})
	cases := map[string]struct{ enclosure, reason string }{
		"passwd":     {"file:///etc/passwd", "local feed may name http"},
		"absolute":   {"/etc/passwd", "leads out of the feed's folder"},
		"up":         {"../" + filepath.Base(outside) + "/secret.mp3", "leads out of the feed's folder"},
		"escaped up": {"%2e%2e/secret.mp3", "leads out of the feed's folder"},
		"link":       {"link.mp3", "leads out of the folder"},
		"dir link":   {"dirlink/secret.mp3", "leads out of the folder"},
		"folder":     {"sub", "not a regular file"},
		"a query":    {"sub?x", "not a regular file"},
		"empty":      {"empty.mp3", "empty"},
		"none":       {"none.mp3", "no such file"},
		"loopback":   {"http://127.0.0.1/a.mp3", "not a public address"},
		"private":    {"http://10.1.2.3/a.mp3", "not a public address"},
		"metadata":   {"http://169.254.169.254/latest", "not a public address"},
		"mapped":     {"http://[::ffff:127.0.0.1]/a.mp3", "not a public address"},
		"decimal":    {"http://2130706433/a.mp3", "want a name or a complete IP address"},
		"localhost":  {"http://localhost/a.mp3", "this machine"},
		"gopher":     {"gopher://example.org/a.mp3", "local feed may name http"},
		"data":       {"data:audio/wav;base64,AAAA", "local feed may name http"},
		"no scheme":  {"//example.org/a.mp3", "local feed may name http"},
		"argv":       {"-rf", "no such file"},
		"long":       {strings.Repeat("a", 5000), "bytes"},
	}
	items := []string{enclosing("good", "a.mp3")}
	for name, c := range cases {
		items = append(items, enclosing(name, c.enclosure))
	}
	dir := tree(t, map[string]string{"a.mp3": "a", "sub/x": "x", "empty.mp3": "", "feed.xml": rss(items...)})
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.mp3"), filepath.Join(dir, "link.mp3")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "dirlink")))
	l := list(t, models.Feed, filepath.Join(dir, "feed.xml"))
	require.Equal(t, []string{"good"}, names(l))
	got := reasons(l)
	for name, c := range cases {
		require.Contains(t, got[name], c.reason, name)
		require.NotContains(t, got[name], ": invalid", name)
	}
}

func TestHostileEnclosuresOfAServersFeed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, rss(enclosing("passwd", "file:///etc/passwd"), enclosing("gopher", "gopher://x/"),
			enclosing("private", "http://192.168.0.1/a.mp3"), enclosing("relative", "../../../a.mp3")))
	}))
	t.Cleanup(s.Close)
	l := list(t, models.Feed, s.URL+"/feed.xml")
	require.Equal(t, []string{"relative"}, names(l), "the server decides what its paths mean")
	require.Equal(t, s.URL+"/a.mp3", l.Episodes[0].Media.URI)
	require.Equal(t, `scheme "file" is refused: a feed may name http and https URLs`, strings.SplitN(reasons(l)["passwd"], ": ", 2)[1])
	require.Contains(t, reasons(l)["private"], "not a public address")
}

func TestItemsThatCannotBeCuratedAreProblems(t *testing.T) {
	t.Parallel()
	l, _ := listFeedFile(t, rss(
		enclosing("a", "https://example.org/a.mp3"),
		enclosing("a", "https://example.org/a.mp3?token=2"),
		`<item><enclosure url="https://example.org/f.mp3"/></item>`,
		`<item><title>again</title><enclosure url="https://example.org/f.mp3"/></item>`,
		`<item><title>picture</title><enclosure url="x.jpg" type="image/jpeg"/></item>`,
		`<item><title>nothing</title></item>`,
		`<item/>`,
		`<item><title>odd</title><guid>odd</guid><podcast:priority>high</podcast:priority><enclosure url="https://example.org/c.mp3"/></item>`,
		`<item><title>longest</title><guid>`+strings.Repeat("h", nameLimit)+`</guid><enclosure url="https://example.org/e.mp3"/></item>`,
		`<item><title>long</title><guid>`+strings.Repeat("g", 2000)+`</guid><enclosure url="https://example.org/d.mp3"/></item>`,
	), nil)
	require.Equal(t, []string{"a", "https://example.org/f.mp3", "odd", strings.Repeat("h", nameLimit)}, names(l))
	require.Equal(t, map[string]string{
		"a":       "an earlier item has the same guid and enclosure, a",
		"again":   "an earlier item has the same enclosure, https://example.org/f.mp3",
		"picture": "no sound is enclosed, only image/jpeg",
		"nothing": "nothing is enclosed",
		"item 7":  "nothing is enclosed",
		"odd":     `priority "high" is not a whole number; the origin's 3 is used`,
		"long":    "its guid, or the URL in its place, has more than 1024 bytes",
	}, reasons(l))
	require.EqualValues(t, 3, l.Episodes[2].Priority)
	for _, p := range l.Problems {
		require.NotEmpty(t, p.Origin)
	}
}

func TestFault52TextOfAFeedIsOneHarmlessLine(t *testing.T) {
	t.Parallel()
	l, _ := listFeedFile(t, rss(`<item><title>a&#10;level=ERROR &#x202e;msg&#9;`+strings.Repeat("x", 1000)+`</title><guid>g&#10;h</guid><enclosure url="https://example.org/a.mp3"/></item>`), nil)
	require.Equal(t, "g h", l.Episodes[0].Name)
	require.Regexp(t, `^a level=ERROR msg x+…$`, l.Episodes[0].Title)
	require.True(t, models.ValidID(models.NewID("origin", l.Episodes[0].Name)))
	require.Equal(t, "a\ufffd b", sanitize("a\xff\x1b\u2028\x00b "), "what a terminal would obey")
}

func TestWhatIsNoFeedFailsTheVisit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, says string }{
		"HTML":           {"<!DOCTYPE html><html><body>404</body></html>", "not an RSS, Atom or JSON feed; it begins with"},
		"sound":          {"RIFF\x00\x00\x00\x00WAVE", "not an RSS"},
		"empty":          {"", "but empty"},
		"only spaces":    {" \n\t", "but empty"},
		"no items":       {rss(), "no items"},
		"truncated":      {rss(enclosing("a", "https://x.org/a.mp3"))[:150], "end of the feed missing"},
		"JSON, not feed": {`{"a":1}`, "no items"},
		"JSON, cut":      {`{"items":[{"id":"1`, "not well-formed JSON"},
		"JSON, null":     {`{"items":[null]}`, ""},
		"JSON, no list":  {`{"items":{"a":1}}`, "not a list"},
		"comment":        {"<rss><!-- ", "comment with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(tree(t, map[string]string{"feed.xml": c.doc}), "feed.xml")
			o := originAt(models.Feed, path)
			_, err := lister(t, o).List(t.Context(), o)
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, path)
			d, err := readDocument(t.Context(), fetch.Poll{Content: []byte(c.doc)}, feedBytes, feedItems)
			require.Error(t, err)
			require.True(t, d.feed == nil || len(d.feed.Items) == 0)
		})
	}
}

func TestListingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"feed.xml": rss(enclosing("a", "https://example.org/a.mp3")), "a.mp3": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, o := range []models.Origin{originAt(models.Feed, dir+"/feed.xml"), originAt(models.Media, dir), originAt(models.Clips, dir)} {
		_, err := lister(t, o).List(ctx, o)
		require.ErrorIs(t, err, context.Canceled)
	}
	_, more, err := parseFeed(ctx, []byte(rss("<item/>")), feedItems)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, more)
	_, err = (&Lister{}).listFeed(ctx, models.Origin{ID: "o"}, web{}, pages{items: []*gofeed.Item{{}}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAFeedThatIsReadWholeHidesTheProblemsOfWhatItNoLongerLists(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		l := &Lister{}
		listing, err := l.listFeed(t.Context(), models.Origin{ID: "o"}, web{}, pages{whole: whole})
		require.NoError(t, err)
		require.Equal(t, whole, listing.Latest)
	}
}

func TestElementsThatEndAreNotNestedInEachOther(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("<a></a>", 2*maxDepth)
	three := strings.Repeat("<item><title>news</title></item>", 3)
	for name, doc := range map[string]string{
		"nothing before":     rss(three),
		"at the root":        many + rss(three),
		"one at the root":    "<a></a>" + rss(three),
		"in the feed":        rss(many + three),
		"in an element":      "<b>" + many + "</b>" + many + rss(three),
		"closed out of turn": strings.Repeat("<b><a></b>", 2*maxDepth) + rss(three),
		"never begun":        "</a>" + rss("</b>"+three),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, more, err := prune([]byte(doc), 3)
			require.NoError(t, err)
			require.Equal(t, doc, string(whole))
			require.Zero(t, more)
			cut, more, err := prune([]byte(doc), 1)
			require.NoError(t, err)
			require.Equal(t, 2, more)
			require.Equal(t, 1, strings.Count(string(cut), "<item>"))
		})
	}
}

func TestTheTypeOfAnEnclosureIsThatOfItsNameIfTheFeedHasNoneOrALongOne(t *testing.T) {
	t.Parallel()
	long := "audio/" + strings.Repeat("x", 121)
	for stated, want := range map[string]string{"audio/x": "audio/x", long: long, long + "x": "audio/ogg", "": "audio/ogg", " \n": "audio/ogg"} {
		require.Equal(t, want, mediaType(gofeed.Enclosure{Type: stated, URL: "https://example.org/a.ogg?b"}))
	}
}

// A feed may name sound in several ways; pictures and texts are never taken for it.
func TestOfSeveralEnclosuresTheFirstSoundIsChosenOrElseTheFirstOfAnUnknownType(t *testing.T) {
	t.Parallel()
	at := func(name, kind string) *gofeed.Enclosure {
		return &gofeed.Enclosure{URL: " https://example.org/" + name + " ", Type: kind}
	}
	for want, list := range map[string][]*gofeed.Enclosure{
		"sound":          {at("cover", "image/png"), at("unknown", ""), at("sound", "Audio/MPEG"), at("film", "video/mp4")},
		"film":           {at("unknown", ""), at("film", "VIDEO/mp4")},
		"named.mp3":      {at("unknown", "application/x"), at("named.mp3", "application/x")},
		"listed.mp3":     {nil, {Type: "audio/mpeg"}, {URL: "  ", Type: "audio/mpeg"}, at("listed.mp3", "text/plain")},
		"first":          {at("text", "text/html"), at("first", "application/x"), at("second", "application/x")},
		"octets":         {at("octets", "application/octet-stream"), at("cover", "image/png")},
		"the last.flac":  {at("first", "application/x"), at("the last.flac", "application/x")},
		"100%.mp3":       {at("first", ""), at("100%.mp3", "")},
		"in a query?a=b": {at("in a query?a=b", "audio/mpeg")},
	} {
		e, err := chooseEnclosure(list)
		require.NoError(t, err, want)
		require.Equal(t, "https://example.org/"+want, e.URL)
	}
	_, err := chooseEnclosure([]*gofeed.Enclosure{at("cover", "image/png"), at("notes", "text/html")})
	require.EqualError(t, err, "no sound is enclosed, only image/png, text/html")
	_, err = chooseEnclosure([]*gofeed.Enclosure{nil, {URL: " "}})
	require.EqualError(t, err, "nothing is enclosed")
}

func TestAFeedAtItsLimitsIsReadAndOneBeyondThemIsTooLarge(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string { // with rss, channel and item
		return rss("<item>" + strings.Repeat("<a>", depth-3) + strings.Repeat("</a>", depth-3) + "</item>")
	}
	tag := func(bytes int) string { return rss("<item><" + strings.Repeat("a", bytes-1) + "/></item>") }
	for name, c := range map[string]struct{ at, beyond string }{
		"depth": {nested(maxDepth), nested(maxDepth + 1)},
		"tag":   {tag(maxTagBytes - 1), tag(maxTagBytes + 1)},
	} {
		_, _, err := parseFeed(t.Context(), []byte(c.at), feedItems)
		require.NoError(t, err, name)
		_, _, err = parseFeed(t.Context(), []byte(c.beyond), feedItems)
		require.ErrorIs(t, err, fault.ErrTooLarge, name)
	}
}

func TestAnItemIsAiredWhenItWasPublishedOrElseUpdatedInAYearOfFourDigits(t *testing.T) {
	t.Parallel()
	year := func(n int) *time.Time {
		at := time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC)
		return &at
	}
	for _, c := range []struct {
		published, updated *time.Time
		want               int
	}{{year(2026), year(2027), 2026}, {nil, year(2027), 2027}, {year(0), year(2027), 2027}, {year(10000), year(2027), 2027}, {year(1), nil, 1}, {year(9999), nil, 9999}} {
		require.Equal(t, c.want, aired(&gofeed.Item{PublishedParsed: c.published, UpdatedParsed: c.updated}).Year())
	}
	require.Zero(t, aired(&gofeed.Item{PublishedParsed: year(10000)}))
}

func TestThePriorityOfAnItemIsTheFirstElementOfThatName(t *testing.T) {
	t.Parallel()
	elements := func(name string, values ...string) map[string][]ext.Extension {
		all := []ext.Extension{}
		for _, v := range values {
			all = append(all, ext.Extension{Value: v})
		}
		return map[string][]ext.Extension{name: all, "other": {{Value: "0"}}}
	}
	for name, c := range map[string]struct {
		item gofeed.Item
		want string
	}{
		"of several namespaces the first": {gofeed.Item{Extensions: ext.Extensions{"c": elements("priority", "3"), "a": elements("x", "1"), "b": elements("PRIORITY", "2", "4")}}, "2"},
		"an element without a value":      {gofeed.Item{Extensions: ext.Extensions{"a": elements("priority")}, Custom: map[string]string{"other": "1", "Priority": "5"}}, "5"},
		"none":                            {gofeed.Item{Extensions: ext.Extensions{"a": elements("x", "1")}, Custom: map[string]string{"other": "1"}}, ""},
	} {
		got, ok := priorityOf(&c.item)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want != "", ok, name)
	}
}

func TestTheURLOfAnEnclosureIsBoundedAndNotRepeatedInItsError(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.mp3": "a"})
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	accept := func(string) error { return nil }
	longest := "https://example.org/" + strings.Repeat("a", enclosureLimit-len("https://example.org/"))
	for _, s := range []source{web{check: accept}, localBase{web{check: accept}, dir, root}} {
		uri, _, err := s.resolve(longest)
		require.NoError(t, err)
		require.Equal(t, longest, uri)
		_, _, err = s.resolve(longest + "a")
		require.ErrorContains(t, err, "its URL has 4097 bytes; 4096 are accepted")
	}
	_, _, err = localBase{web{check: accept}, dir, root}.resolve(strings.Repeat("a", enclosureLimit+1))
	require.ErrorContains(t, err, "4096 are accepted")
	_, _, err = web{check: accept}.resolve("https://secret%zz/")
	require.ErrorContains(t, err, "not a URL")
	require.NotContains(t, err.Error(), "secret%zz/")
	_, err = (&Lister{}).sourceOf(models.Origin{URI: "http://x.org"}, "http://[::1")
	require.ErrorIs(t, err, fault.ErrInvalid)
}
