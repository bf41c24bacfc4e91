package clips

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// of is an item; empty parts are left out.
func of(guid, url, length, day string) string {
	item := `<item><title>` + url + `</title>`
	if guid != "" {
		item += `<guid>` + guid + `</guid>`
	}
	if day != "" {
		item += `<pubDate>2026-11-` + day + `T06:00:00Z</pubDate>`
	}
	return item + `<enclosure url="https://example.org/` + url + `" type="audio/mpeg" length="` + length + `"/></item>`
}

func TestItemsWithOneGUIDAndURLsThatDifferInTheQueryOnlyAreKeptIfItSelectsTheFile(t *testing.T) {
	t.Parallel()
	const at = "g https://example.org/"
	for name, c := range map[string]struct {
		items []string
		names []string
		lost  int
	}{
		"a number":             {[]string{of("g", "get?id=1", "", ""), of("g", "get?id=2", "", ""), of("g", "get?id=3", "", "")}, []string{"g", at + "get?id=2", at + "get?id=3"}, 0},
		"a number and a token": {[]string{of("g", "get?token=a&amp;id=1", "", ""), of("g", "get?token=b&amp;id=2", "", "")}, []string{"g", at + "get?id=2"}, 0},
		"the name of a file":   {[]string{of("g", "get?x=a.mp3", "", ""), of("g", "get?x=b/b.MP3", "", "")}, []string{"g", at + "get?x=b/b.MP3"}, 0},
		"another length":       {[]string{of("g", "get?x=1", "10", ""), of("g", "get?x=2", "20", ""), of("g", "get?x=3", "30", "")}, []string{"g", at + "get 20", at + "get 30"}, 0},
		"only a token":         {[]string{of("g", "a.mp3?token=1", "10", ""), of("g", "a.mp3?token=2", "10", "")}, []string{"g"}, 1},
		"no length":            {[]string{of("g", "a.mp3?token=1", "", ""), of("g", "a.mp3?utm_source=2", "0", "")}, []string{"g"}, 1},
		"one length":           {[]string{of("g", "a.mp3?token=1", "10", ""), of("g", "a.mp3?token=2", "", "")}, []string{"g"}, 1},
	} {
		l, _ := listFeedFile(t, rss(c.items...), nil)
		require.Equal(t, c.names, names(l), name)
		require.Len(t, l.Problems, c.lost, name)
	}
}

func TestAnItemWithoutAGUIDIsNamedWithoutTheSignatureOfItsURL(t *testing.T) {
	t.Parallel()
	for url, name := range map[string]string{
		"a.mp3?token=1": "a.mp3",
		"a.mp3?Expires=1&amp;Signature=x&amp;lang=en": "a.mp3?lang=en",
		"get?id=7&amp;X-Amz-Date=1":                   "get?id=7",
		"get?token=1":                                 "get?token=1",
		"get?x=1":                                     "get?x=1",
		"a.mp3?x=1#t=1":                               "a.mp3?x=1#t=1",
		"a.mp3?":                                      "a.mp3?",
	} {
		l, _ := listFeedFile(t, rss(of("", url, "", "")), nil)
		require.Equal(t, []string{"https://example.org/" + name}, names(l))
	}
	l, _ := listFeedFile(t, rss(of("", "a.mp3?token=2", "", ""), of("", "a.mp3?token=3", "", "")), nil)
	require.Equal(t, []string{"https://example.org/a.mp3", "https://example.org/a.mp3?token=3"}, names(l), "none is lost")
	require.Empty(t, l.Problems)
}

func TestANewItemDoesNotTakeTheNameOfAnOlderOne(t *testing.T) {
	t.Parallel()
	items := []string{of("g", "1.mp3", "", "01")}
	want := []string{"g"}
	for _, day := range []string{"02", "03", "04"} {
		items = append([]string{of("g", day+".mp3", "", day)}, items...)
		want = append([]string{"g https://example.org/" + day + ".mp3"}, want...)
		l, _ := listFeedFile(t, rss(items...), nil)
		require.Equal(t, want, names(l))
		require.Empty(t, l.Problems)
	}
}

func TestAnItemKeepsItsNameIfItIsThereTwice(t *testing.T) {
	t.Parallel()
	l, _ := listFeedFile(t, rss(of("g", "a.mp3", "", "02"), of("g", "a.mp3", "", "01"), of("g", "b.mp3", "", "03"), of("g", "b.mp3", "", "04")), nil)
	require.Equal(t, []string{"g", "g https://example.org/b.mp3"}, names(l))
	require.Len(t, l.Problems, 2)
}

// A generated item has a recording, which is one of a path and an id, and a token that changes.
type generated struct {
	guid, path, id string
	length, day    int
}

func (g generated) title() string {
	return fmt.Sprintf("%s %s id=%s length=%d day=%d", g.guid, g.path, g.id, g.length, g.day)
}

func (g generated) item(token string) *gofeed.Item {
	item := &gofeed.Item{GUID: g.guid, Title: g.title()}
	if g.day > 0 {
		at := time.Date(2026, 11, 1, 0, g.day, 0, 0, time.UTC)
		item.PublishedParsed = &at
	}
	query := "?token=" + token
	if g.id != "" {
		query += "&id=" + g.id
	}
	item.Enclosures = []*gofeed.Enclosure{{URL: "https://example.org/" + g.path + query, Type: "audio/mpeg", Length: fmt.Sprint(g.length)}}
	return item
}

// episodesOf returns the names of the episodes of a feed by its items' titles, and how many items are problems.
func episodesOf(t *rapid.T, items []generated, token string) (names map[string]string, problems int) {
	base, err := url.Parse("https://example.org/feed.xml")
	require.NoError(t, err)
	c := curator{resolve: web{base: base, check: func(string) error { return nil }}.resolve}
	var all []*gofeed.Item
	for i, g := range items {
		all = append(all, g.item(fmt.Sprintf("%s%d", token, i)))
	}
	require.NoError(t, c.addItems(t.Context(), all))
	names = map[string]string{}
	taken := map[string]bool{}
	for _, e := range c.episodes {
		require.False(t, taken[e.Name], "%s is there twice", e.Name)
		names[e.Title], taken[e.Name] = e.Name, true
	}
	require.Len(t, items, len(c.episodes)+len(c.problems.all()))
	return names, len(c.problems.all())
}

func TestNamesOfGeneratedItemsAreKeptAndNoRecordingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.Custom(func(t *rapid.T) generated {
			return generated{
				guid: rapid.SampledFrom([]string{"g", "h", "https://example.org/a.mp3"}).Draw(t, "guid"), path: rapid.SampledFrom([]string{"a.mp3", "b.mp3", "get"}).Draw(t, "path"),
				id: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "id"), length: rapid.SampledFrom([]int{0, 7, 8}).Draw(t, "length"), day: rapid.IntRange(0, 5).Draw(t, "day"),
			}
		})
		items := rapid.SliceOfN(item, 1, 8).Draw(t, "items")
		first, _ := episodesOf(t, items, "x")
		again, _ := episodesOf(t, items, "y")
		require.Equal(t, first, again, "other tokens")
		for _, g := range items {
			same := func(o generated) bool {
				_, listed := first[o.title()]
				return listed && o.guid == g.guid && o.path == g.path && o.id == g.id && (o.length == g.length || o.length*g.length == 0)
			}
			require.True(t, slices.ContainsFunc(items, same), "%v is lost", g)
		}
		newest := item.Draw(t, "newest")
		newest.day = 9
		dated := slices.DeleteFunc(slices.Clone(items), func(g generated) bool { return g.day == 0 || g == newest })
		before, _ := episodesOf(t, dated, "x")
		after, _ := episodesOf(t, append([]generated{newest}, dated...), "z")
		for title, name := range before {
			if now, listed := after[title]; listed {
				require.Equal(t, name, now, "%s, after %v came", title, newest)
			} else {
				require.Equal(t, name, after[newest.title()], "%s is replaced by %v", title, newest)
			}
		}
	})
}

func TestAPageOfGeneratedItemsIsReadUnlessItRepeatsOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.Custom(func(t *rapid.T) generated {
			return generated{
				guid: rapid.SampledFrom([]string{"", "g", "h"}).Draw(t, "guid"), path: rapid.SampledFrom([]string{"a.mp3", "b.mp3", "c.mp3"}).Draw(t, "path"),
				id: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "id"), day: rapid.IntRange(0, 2).Draw(t, "day"),
			}
		})
		all := pages{known: map[string]bool{}}
		read := map[generated]bool{}
		for n := range 4 {
			items := rapid.SliceOfN(item, 1, 4).Draw(t, "items")
			d := document{url: "https://example.org/feed.xml", feed: &gofeed.Feed{}}
			news := false
			for i, g := range items {
				d.feed.Items = append(d.feed.Items, g.item(fmt.Sprint(n, i)))
				news = news || !read[generated{guid: g.guid, path: g.path, id: g.id}]
			}
			for _, g := range items {
				read[generated{guid: g.guid, path: g.path, id: g.id}] = true
			}
			require.Equal(t, news, all.isNews(d))
			require.False(t, all.isNews(d), "the page again")
		}
	})
}
