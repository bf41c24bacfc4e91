package clips

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// serve lists the feed that a server sends with a Content-Type.
func serve(t *testing.T, contentType string, doc []byte) catalog.Listing {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(doc)
	}))
	t.Cleanup(s.Close)
	return list(t, models.Feed, s.URL+"/feed.xml")
}

// notices are the problems of a feed as a whole.
func notices(l catalog.Listing) (all []string) {
	for _, p := range l.Problems {
		if p.Item == "" {
			all = append(all, p.Reason)
		}
	}
	return all
}

func TestAFaultInOneItemOfAFeedIsRepairedAndTold(t *testing.T) {
	t.Parallel()
	good := enclosing("good", "https://example.org/good.mp3")
	titled := func(title string) string {
		return `<item><title>` + title + `</title><guid>g</guid><enclosure url="https://example.org/g.mp3" type="audio/mpeg"/></item>`
	}
	for name, c := range map[string]struct{ doc, title, says string }{
		"control character":  {rss(good, titled("a&#8;b")), "ab", "the feed was repaired: reference to a character that XML does not have (line 2)"},
		"U+FFFE":             {rss(good, titled("a\ufffeb")), "ab", "character that XML does not have (line 2)"},
		"Latin-1 byte":       {rss(good, titled("a \xe9 b – c")), "a \ufffd b – c", "byte that is not UTF-8"},
		"bare &":             {rss(good, titled("a & b")), "a & b", `bare "&"`},
		"unknown entity":     {rss(good, titled("a?b&query=c;")), "a?b&query=c;", "unknown entity"},
		"upper case":         {rss(good, titled("&#X41;")), "A", "in upper case"},
		"CDATA":              {rss(good, titled("<![CDATA[a")), "a", "CDATA section without an end"},
		"comment":            {rss(good, "<!-- a -- b -->", titled("a")), "a", "comment"},
		"DOCTYPE":            {`<!DOCTYPE rss [<!ENTITY e "eeee">]>` + rss(good, titled("&e;")), "&e;", "DOCTYPE with declarations, which are ignored"},
		"misread":            {rss(good, titled("cafÃ©")), "café", "titles of 1 items were UTF-8"},
		"unclosed and &nbsp": {rss(good, titled("a&nbsp;b</title><p>x")), "a b", "without"},
	} {
		l, _ := listFeedFile(t, c.doc, nil)
		require.Equal(t, []string{"good", "g"}, names(l), name)
		require.Equal(t, c.title, l.Episodes[1].Title, name)
		require.Len(t, l.Problems, 1, name)
		require.Contains(t, strings.Join(notices(l), "\n"), c.says, name)
		require.True(t, l.Latest, name)
	}
}

func TestAFeedIsReadInTheCharsetOfItsServerItsMarkOrItsDeclaration(t *testing.T) {
	t.Parallel()
	doc := `<rss><channel>` + enclosing("Größe", "https://example.org/g.mp3") + `</channel></rss>`
	latin, err := charmap.Windows1252.NewEncoder().String(doc)
	require.NoError(t, err)
	wide, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="utf-16"?>` + doc)
	require.NoError(t, err)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err = z.Write([]byte(doc))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for name, c := range map[string]struct{ contentType, doc string }{
		"Content-Type":          {"text/xml; charset=iso-8859-1", latin},
		"UTF-16":                {"application/rss+xml", wide},
		"gzip without a header": {"application/rss+xml", zipped.String()},
		"declaration":           {"", `<?xml version="1.0" encoding="iso-8859-1"?>` + latin},
		"UTF-8 called Latin-1":  {"text/xml; charset=iso-8859-1", doc},
	} {
		l := serve(t, c.contentType, []byte(c.doc))
		require.Equal(t, []string{"Größe"}, names(l), name)
		require.Empty(t, l.Problems, name)
	}
}

func TestAFeedThatIsCutOffKeepsItsWholeItems(t *testing.T) {
	t.Parallel()
	whole := rss(enclosing("a", "https://example.org/a.mp3"), enclosing("b", "https://example.org/b.mp3"))
	l, _ := listFeedFile(t, whole[:strings.Index(whole, "b.mp3")], nil)
	require.Equal(t, []string{"a"}, names(l))
	require.Contains(t, fmt.Sprint(notices(l)), "end of the feed missing")
}
