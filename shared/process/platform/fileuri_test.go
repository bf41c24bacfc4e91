package platform

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileURINamesThePathOfEachSystem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		windows   bool
		path, uri string
	}{
		{false, "/srv/a b/c#1.mp3", "file:///srv/a%20b/c%231.mp3"},
		{false, `/srv/back\slash`, "file:///srv/back%5Cslash"},
		{false, "/c:/x", "file:///c:/x"},
		{true, `C:\Users\Ann Lee\100%.db`, "file:///C:/Users/Ann%20Lee/100%25.db"},
		{true, `d:\`, "file:///d:/"},
		{true, `\\server\share\a?.wav`, "file:////server/share/a%3F.wav"},
	} {
		u := fileURI(c.path, c.windows)
		require.Equal(t, c.uri, u.String())
		parsed, err := url.Parse(c.uri)
		require.NoError(t, err)
		require.Empty(t, parsed.Host)
		require.Equal(t, c.path, filePath(parsed, c.windows))
	}
}
