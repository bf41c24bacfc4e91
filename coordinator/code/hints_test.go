package code_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
)

func TestAQueryThatCannotMatchTellsWhyAndTheNearestName(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	b := blob("needle\n")
	_, err := x.Put(t.Context(), "b", []code.Blob{b})
	require.NoError(t, err)
	for id, branch := range map[string]string{"etsy/Hound": "main", "sourcegraph/zoekt": "release-1"} {
		require.NoError(t, x.Publish(t.Context(), code.Manifest{RepoID: id, Repo: "github.com/" + id, Refs: []code.Ref{{Name: branch, Commit: "c"}}, Files: []code.File{{Ref: branch, Path: "a.go", OID: b.OID}}}))
	}
	c, err := client.New(serveAPI(t, x, nil))
	require.NoError(t, err)
	defer c.Close()
	for query, want := range map[string][]string{
		"needle":                             nil,
		"absent":                             nil,
		"absent lang:rust":                   nil,
		"absent or repo:hond":                nil,
		"absent -repo:hond":                  nil,
		"absent -lang:pyhton":                nil,
		"needle lang:pyhton":                 {`unknown language "pyhton" (did you mean python?)`},
		"needle lang:qqqqqqqqqq":             {`unknown language "qqqqqqqqqq"`},
		"needle repo:hond":                   {`no indexed repository matches "hond" (did you mean Hound?)`},
		"needle repo:^github.com/ety/hound$": {`no indexed repository matches "^github.com/ety/hound$" (did you mean github.com/etsy/Hound?)`},
		"needle repo:zoekd.git":              {`no indexed repository matches "zoekd.git" (did you mean zoekt?)`},
		"needle branch:mian":                 {`no indexed branch matches "mian" (did you mean main?)`},
		"needle repo:zoekt branch:main":      {`no indexed branch matches "main"`},
		"(needle repo:hond) or lang:pthon":   {`no indexed repository matches "hond" (did you mean Hound?)`, `unknown language "pthon" (did you mean python?)`},
	} {
		end, err := c.Search(t.Context(), query, 10, 0, func(types.CodeMatch) bool { return true })
		require.NoError(t, err, query)
		require.Equal(t, want, end.Hints, query)
	}
}
