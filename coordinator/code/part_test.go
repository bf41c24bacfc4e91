package code_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	codeindex "leasehold/coordinator/code"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
)

// publishMany publishes a repository with files in which a line is a number of times.
func publishMany(t *testing.T, x *codeindex.Index, repo, line string, files map[string]int) {
	t.Helper()
	m := code.Manifest{RepoID: "team/" + repo, Repo: repo, Refs: []code.Ref{{Name: "main", Commit: "c"}}}
	var blobs []code.Blob
	for path, n := range files {
		b := blob(path + "\n" + strings.Repeat(line+"\n", n))
		blobs = append(blobs, b)
		m.Files = append(m.Files, code.File{Ref: "main", Path: path, OID: b.OID})
	}
	_, err := x.Put(t.Context(), "b", blobs)
	require.NoError(t, err)
	require.NoError(t, x.Publish(t.Context(), m))
}

func TestPartsOfASearchAreAllMatchesInItsOrder(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	publishMany(t, x, "b", "needle", map[string]int{"z.go": 40, "a.go": 30, "src/x.go": 25})
	publishMany(t, x, "a", "needle", map[string]int{"y.go": 37})
	c, err := client.New(serveAPI(t, x, nil))
	require.NoError(t, err)
	defer c.Close()
	search := func(q types.SearchQuery) (places []string, end types.SearchEnd) {
		q.Query = "needle"
		end, err := c.Search(t.Context(), q, func(m types.CodeMatch) bool {
			places = append(places, fmt.Sprintf("%s:%s:%d", m.Repo, m.Path, m.Line))
			return true
		})
		require.NoError(t, err)
		require.Equal(t, len(places), end.Matches)
		return places, end
	}
	all, end := search(types.SearchQuery{Limit: 1000})
	require.Len(t, all, 132)
	require.Empty(t, end.Stopped)
	require.Nil(t, end.Facets)
	for _, size := range []int{7, 50, 66, 131} {
		for _, facets := range []bool{false, true} {
			var joined []string
			for len(joined) < len(all) {
				part, end := search(types.SearchQuery{Offset: len(joined), Limit: size, Facets: facets})
				require.NotEmpty(t, part)
				joined = append(joined, part...)
				require.Equal(t, len(joined) < len(all), end.Stopped == code.StoppedLimit, "%d of %d", len(joined), size)
				require.Equal(t, facets, end.Facets != nil)
			}
			require.Equal(t, all, joined, "parts of %d", size)
		}
	}
	none, end := search(types.SearchQuery{Offset: 132, Limit: 10})
	require.Empty(t, none)
	require.Zero(t, end.Files)
	require.Empty(t, end.Stopped)
	two, end := search(types.SearchQuery{Offset: 36, Limit: 3})
	require.Len(t, two, 3)
	require.Equal(t, 2, end.Files)
}

func TestFacetsCountAllMatchesByRepositoryLanguageAndFolder(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	publishMany(t, x, "one", "needle", map[string]int{"src/net/a.go": 3, "src/net/http/b.go": 2, "src/io/c.go": 4, "src/d.go": 1})
	publishMany(t, x, "two", "needle", map[string]int{"src/io/e.go": 5})
	facets := func(query string, limit int) *types.CodeFacets {
		q, err := code.Parse(query)
		require.NoError(t, err)
		end, err := x.SearchPart(t.Context(), q, codeindex.Part{Limit: limit, Facets: true}, func(types.CodeMatch) bool { return true })
		require.NoError(t, err)
		return end.Facets
	}
	require.Equal(t, &types.CodeFacets{Of: 15, All: true,
		Repos: []types.CodeFacet{{Value: "one", Matches: 10}, {Value: "two", Matches: 5}}, Langs: []types.CodeFacet{{Value: "Go", Matches: 15}},
		Folders: []types.CodeFacet{{Value: "src/io/", Matches: 9}, {Value: "src/net/", Matches: 5}},
	}, facets("needle", 1))
	require.Equal(t, []types.CodeFacet{{Value: "src/net/http/", Matches: 2}}, facets("needle file:^src/net/", 100).Folders)
	require.Empty(t, facets("needle file:^src/net/http/", 100).Folders)
	require.Equal(t, &types.CodeFacets{All: true, Repos: []types.CodeFacet{}, Langs: []types.CodeFacet{}, Folders: []types.CodeFacet{}}, facets("absent", 100))

	publishMany(t, x, "many", "needle", map[string]int{"deep/m.go": 2 * codeindex.FacetMatches})
	many := facets("needle", 1)
	require.Equal(t, codeindex.FacetMatches, many.Of)
	require.False(t, many.All)
}
