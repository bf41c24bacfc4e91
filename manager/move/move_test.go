package move_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/manager/move"
	"leasehold/models"
	"leasehold/shared/fetch"
)

func TestAnOriginMovesWhereItsServerRedirectsOrHasAProblem(t *testing.T) {
	t.Parallel()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	for name, c := range map[string]struct {
		uri, from, to string
		want          *models.Move
	}{
		"none":           {uri: "https://a.example/x", want: nil},
		"elsewhere":      {uri: "https://a.example/x", to: "https://b.example/y", want: &models.Move{To: "https://b.example/y", Answers: true}},
		"itself":         {uri: "https://a.example/x", to: "https://a.example/x#part", want: nil},
		"its user":       {uri: "https://u:p@a.example/x", to: "https://a.example/x", want: nil},
		"a given user":   {uri: "https://a.example/x", to: "https://u:p@b.example/y", want: &models.Move{To: "https://b.example/y", Answers: true}},
		"a file":         {uri: "/srv/list.txt", to: "https://b.example/y", want: nil},
		"a private one":  {uri: "https://a.example/x", to: "http://192.168.0.1/y", want: &models.Move{Problem: "the server redirects permanently to http://192.168.0.1/y, which cannot be used: fetch"}},
		"back":           {uri: "https://b.example/y", from: "https://a.example/x", to: "https://a.example/x", want: &models.Move{Problem: "the server redirects permanently to https://a.example/x, which cannot be used: the origin moved from there"}},
		"another scheme": {uri: "https://a.example/x", to: "ftp://a.example/x", want: &models.Move{Problem: "the server redirects permanently to ftp://a.example/x, which cannot be used: want an address that begins with http:// or https://"}},
	} {
		got := move.Redirected(f, models.Origin{Kind: models.Git, URI: c.uri, MovedFrom: c.from}, c.to)
		if c.want == nil || c.want.Problem == "" {
			require.Equal(t, c.want, got, name)
			continue
		}
		require.NotNil(t, got, name)
		require.Empty(t, got.To, name)
		require.Contains(t, got.Problem, c.want.Problem, name)
	}
}
