package repair

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestARelativeBaseGivesWhatTheURLOfTheDocumentGives(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "b.mp3", ".", "..", "", "c%2Fd", "e f", "g:h", "ä"})
	resolvable := func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && u.Opaque == "" && !strings.HasPrefix(u.Path, "//")
	}
	reference := rapid.Custom(func(t *rapid.T) string {
		path := strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "path"), "/")
		query := rapid.SampledFrom([]string{"", "", "?x=1", "?"}).Draw(t, "query")
		host := rapid.SampledFrom([]string{"", "", "", "", "//h.example/", "https://i.example/"}).Draw(t, "host")
		return host + path + query
	}).Filter(resolvable)
	document, err := url.Parse("https://d.example/1/2/3/4/5/feed.xml?page=1")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		outer, inner, value := reference.Draw(t, "outer"), reference.Draw(t, "inner"), reference.Filter(func(text string) bool { return text != "" }).Draw(t, "value")
		at := document
		for _, text := range []string{outer, inner, value} {
			u, err := url.Parse(text)
			require.NoError(t, err)
			at = at.ResolveReference(u)
		}
		got := value
		if base := resolveBase(resolveBase(nil, outer), inner); base != nil {
			got = resolve(base, value)
		}
		u, err := url.Parse(got)
		require.NoError(t, err)
		require.Equal(t, at.String(), document.ResolveReference(u).String(), "%q within %q within %q is %q", value, inner, outer, got)
	})
}
