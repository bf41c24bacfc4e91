package models

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathsOfUnixAndOfWindowsAreAccepted(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]struct{ isPath, clean bool }{
		"/srv/a":                        {true, true},
		"/":                             {true, true},
		"/srv/../a":                     {true, false},
		"/srv/":                         {true, false},
		`C:\Users\Ann Lee\jingles`:      {true, true},
		`c:\`:                           {true, true},
		`C:\a\`:                         {true, false},
		`C:\a\..\b`:                     {true, false},
		`C:\a/b`:                        {true, false},
		"C:/a":                          {true, false},
		`\\server\share\a`:              {true, true},
		`\\server`:                      {true, false},
		`\a`:                            {true, false},
		"C:a":                           {false, false},
		"C:":                            {false, false},
		"a/b":                           {false, false},
		"https://example.org":           {false, false},
		"1:\\a":                         {false, false},
		"/" + strings.Repeat("a", 5000): {true, false},
	} {
		require.Equal(t, want.isPath, IsPath(uri), uri)
		require.Equal(t, want.clean, isCleanPath(uri), uri)
	}
}

func TestAFolderListsOnlyWhatIsBelowIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder, uri string
		want        bool
	}{
		{"/srv", "/srv/a", true}, {"/srv", "/srv2/a", false}, {"/srv", "/srv", false}, {"/", "/a", true},
		{`C:\srv`, `C:\srv\a`, true}, {`C:\srv`, `C:\srv2`, false}, {`C:\`, `C:\a`, true},
	} {
		require.Equal(t, c.want, isBelow(c.folder, c.uri), c)
	}
}
