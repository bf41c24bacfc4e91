package code

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"leasehold/shared/api/types"
	"leasehold/shared/code"
)

// maxFacets is how many values of a facet are listed.
const maxFacets = 20

// facetCounts are numbers of matches by repository, language and folder. The zero value has none.
type facetCounts struct {
	repos, langs, folders map[string]int
}

func (c *facetCounts) add(m code.Match) {
	if c.repos == nil {
		c.repos, c.langs, c.folders = map[string]int{}, map[string]int{}, map[string]int{}
	}
	c.repos[m.Repo]++
	if m.Lang != "" {
		c.langs[m.Lang]++
	}
	c.folders[m.Path[:strings.LastIndexByte(m.Path, '/')+1]]++
}

// facets lists the counts of a number of matches.
func (c *facetCounts) facets(of int) *types.CodeFacets {
	return &types.CodeFacets{Of: of, Repos: mostFrequent(c.repos), Langs: mostFrequent(c.langs), Folders: mostFrequent(nextFolders(c.folders))}
}

// mostFrequent returns the first maxFacets values, those with the most matches first.
func mostFrequent(counts map[string]int) []types.CodeFacet {
	all := []types.CodeFacet{}
	for value, n := range counts {
		all = append(all, types.CodeFacet{Value: value, Matches: n})
	}
	slices.SortFunc(all, func(a, b types.CodeFacet) int {
		return cmp.Or(cmp.Compare(b.Matches, a.Matches), strings.Compare(a.Value, b.Value))
	})
	return all[:min(len(all), maxFacets)]
}

// nextFolders joins the counts of folders to those of the folders directly below the deepest one that has all of
// them. Files that are directly in that one count nowhere. Folders end with a slash.
func nextFolders(folders map[string]int) map[string]int {
	if len(folders) == 0 {
		return nil
	}
	all := slices.Sorted(maps.Keys(folders))
	first, last := all[0], all[len(all)-1]
	shared := 0
	for i := 0; i < min(len(first), len(last)) && first[i] == last[i]; i++ {
		if first[i] == '/' {
			shared = i + 1
		}
	}
	next := map[string]int{}
	for _, folder := range all {
		if end := strings.IndexByte(folder[shared:], '/'); end >= 0 {
			next[folder[:shared+end+1]] += folders[folder]
		}
	}
	return next
}
