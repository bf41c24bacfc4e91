package clips

import (
	"testing"

	"github.com/stretchr/testify/require"
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
