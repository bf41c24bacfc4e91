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
		"needle":                                    nil,
		"absent":                                    nil,
		"absent lang:go":                            nil,
		"absent or repo:hond":                       nil,
		"absent -file:nothing -repo:hond":           nil,
		"absent -(lang:go file:nothing)":            nil,
		"absent lang:rust":                          {`no indexed file has the language "Rust"`},
		"absent file:nothing":                       {`no indexed path matches "nothing"`},
		"absent vendor:yes":                         {"no indexed file is vendored"},
		"absent -file:.":                            {"-file:. excludes every indexed file"},
		`absent -(lang:go or file:"x y")`:           {"-lang:Go excludes every indexed file"},
		"absent -branch:main -branch:.":             {"-branch:. excludes every indexed file"},
		"absent branch:main -repo:hound":            {`no indexed branch of github.com/sourcegraph/zoekt matches "main", but one of github.com/etsy/Hound does`},
		"absent lang:go -branch:release -branch:ma": {"no indexed file meets all filters, although each alone lets files through"},
		"absent -lang:pyhton":                       {`unknown language "pyhton" (did you mean python?), so -lang:pyhton excludes nothing`},
		"needle -lang:kt":                           {`unknown language "kt" (did you mean kotlin?), so -lang:kt excludes nothing`},
		"needle lang:pyhton":                        {`unknown language "pyhton" (did you mean python?)`},
		"needle lang:qqqqqqqqqq":                    {`unknown language "qqqqqqqqqq"`},
		"needle lang:cs":                            {`unknown language "cs" (did you mean c# or smalltalk?)`},
		"needle lang:.ex":                           {`unknown language ".ex" (did you mean elixir or euphoria?)`},
		"needle lang:PL":                            {`unknown language "PL" (did you mean perl, prolog or raku?)`},
		"needle lang:ps1":                           {`unknown language "ps1" (did you mean powershell?)`},
		"needle repo:hond":                          {`no indexed repository matches "hond" (did you mean Hound?)`},
		"needle repo:^github.com/ety/hound$":        {`no indexed repository matches "^github.com/ety/hound$" (did you mean github.com/etsy/Hound?)`},
		"needle repo:zoekd.git":                     {`no indexed repository matches "zoekd.git" (did you mean zoekt?)`},
		"needle repo:zoekt/":                        {`no indexed repository matches "zoekt/" (did you mean zoekt?)`},
		"needle repo:git@github.com:etsy/hound.git": {`no indexed repository matches "git@github.com:etsy/hound.git" (did you mean github.com/etsy/Hound?)`},
		"needle repo:https://github.com/etsy/hound": {`no indexed repository matches "https://github.com/etsy/hound" (did you mean github.com/etsy/Hound?)`},
		"needle branch:mian":                        {`no indexed branch matches "mian" (did you mean main?)`},
		"needle branch:realese":                     {`no indexed branch matches "realese" (did you mean release-1?)`},
		"needle branch:origin/main":                 {`no indexed branch matches "origin/main" (did you mean main?)`},
		"needle branch:^refs/heads/main$":           {`no indexed branch matches "^refs/heads/main$" (did you mean main?)`},
		"needle branch:HEAD":                        {`no indexed branch matches "HEAD" (did you mean main?)`},
		"needle repo:zoekt branch:HEAD":             {`no indexed branch matches "HEAD" (did you mean release-1?)`},
		"needle repo:zoekt branch:main":             {`no indexed branch of github.com/sourcegraph/zoekt matches "main", but one of github.com/etsy/Hound does`},
		"(needle repo:hond) or lang:pthon":          {`no indexed repository matches "hond" (did you mean Hound?)`, `unknown language "pthon" (did you mean python?)`},
		"needle LANG:go":                            {misnamed("LANG", "lang")},
		"needle language:go path:/cmd":              {misnamed("language", "lang"), misnamed("path", "file")},
		"needle langg:go":                           {misnamed("langg", "lang")},
		"needle -path:a.go":                         {misnamed("path", "file")},
		`needle "LANG:go" https://a std::b`:         nil,
	} {
		end, err := c.Search(t.Context(), types.SearchQuery{Query: query, Limit: 10}, func(types.CodeMatch) bool { return true })
		require.NoError(t, err, query)
		require.Equal(t, want, end.Hints, query)
	}
}

// misnamed is the hint about a word that has the form of a filter.
func misnamed(name, meant string) string {
	return name + ": is not a filter (did you mean " + meant + "?), so it was searched as text; filters are repo, file, content, lang, sym, case, branch and vendor"
}
