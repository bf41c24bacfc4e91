package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"
	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestARepositoryIsRecognisedBareOrWithItsFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string // a name that ends in / is a folder
		want  bool
	}{
		"with its files":              {[]string{".git/HEAD", ".git/objects/", ".git/refs/", "a.mp3"}, true},
		"bare":                        {[]string{"HEAD", "objects/", "refs/"}, true},
		"without HEAD":                {[]string{".git/objects/", ".git/refs/", "a.mp3"}, false},
		"without objects":             {[]string{".git/HEAD", ".git/refs/", "a.mp3"}, false},
		"HEAD is a folder":            {[]string{".git/HEAD/", ".git/objects/", ".git/refs/", "a.mp3"}, false},
		"objects is a file":           {[]string{".git/HEAD", ".git/objects", ".git/refs/", "a.mp3"}, false},
		"a bare one beside a bad one": {[]string{".git/HEAD", "HEAD", "objects/", "refs/"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range c.files {
				path := filepath.Join(dir, f)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				if strings.HasSuffix(f, "/") {
					require.NoError(t, os.MkdirAll(path, 0o700))
				} else {
					require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
				}
			}
			got, err := Detect(dir, "")
			require.NoError(t, err)
			want := models.Media
			if c.want {
				want = models.Git
			}
			require.Equal(t, want, got[0].Kind)
		})
	}
}

func TestClipsWhoseCheckEndsEarlyAreNoListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".wav")), melody(uint64(i), 1), 0o600))
	}
	o := models.Origin{ID: "o", Kind: models.Clips, URI: dir}
	l := lister(t, o)
	listing, err := l.List(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, listing.Clips, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := &folderVisit{origin: o}
	clips, err := v.inspect(ctx, &clipChecker{}, listing.Clips)
	require.ErrorIs(t, err, context.Canceled, "or a complete listing without these clips would make them gone")
	require.Empty(t, clips)
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
		"in a query?a=b": {at("in a query?a=b", "audio/mpeg")},
	} {
		e, err := chooseEnclosure(list)
		require.NoError(t, err, want)
		require.Equal(t, "https://example.org/"+want, e.URL)
	}
	_, err := chooseEnclosure([]*gofeed.Enclosure{at("cover", "image/png"), at("notes", "text/html")})
	require.EqualError(t, err, "no sound is enclosed, but image/png, text/html")
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
		_, _, err := parseFeed(t.Context(), []byte(c.at))
		require.NoError(t, err, name)
		_, _, err = parseFeed(t.Context(), []byte(c.beyond))
		require.ErrorIs(t, err, fault.ErrTooLarge, name)
	}
}

// endsAfter is a context that ends after so many looks at it.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestAFolderWhoseVisitEndsEarlyIsNoListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".wav")), melody(uint64(i), 1), 0o600))
	}
	o := models.Origin{ID: "o", Kind: models.Clips, URI: dir}
	for looks := 0; ; looks += 1 + looks/3 {
		ctx := &endsAfter{context.Background(), looks}
		listing, err := lister(t, o).List(ctx, o)
		if ctx.left >= 0 {
			require.NoError(t, err)
			require.Len(t, listing.Clips, 3)
			require.Greater(t, looks, 3)
			break
		}
		require.ErrorIs(t, err, context.Canceled, "after %d looks", looks)
		require.Empty(t, listing)
	}
}
