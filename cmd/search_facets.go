package cmd

import (
	"context"
	"strconv"

	"leasehold/node"
	"leasehold/shared/api/types"
)

// searchFacets prints how many matches are in which repository, language and folder. It returns errNoMatch if there
// are none.
func (a *app) searchFacets(ctx context.Context, s *node.CatalogSource, q types.SearchQuery, o searchOptions) error {
	q.Offset, q.Limit = 0, 1 // the counts are of all matches
	end, err := s.SearchCode(ctx, q, func(types.CodeMatch) bool { return true })
	if err != nil {
		return refusedArgument(err)
	}
	facets := end.Facets
	if facets == nil { // a coordinator of an earlier version
		facets = &types.CodeFacets{}
	}
	if err := a.showFacets(o.out, *facets); err != nil {
		return err
	}
	if end.Stopped == "limit" && facets.All { // only the one match that was asked for
		end.Stopped = ""
	}
	a.reportSearchEnd(end, o)
	switch {
	case facets.Of > 0 && !facets.All:
		sayf(a.err, "only the first %d matches were counted; narrow the query\n", facets.Of)
	case facets.Of == 0 && end.Incomplete:
		return incomplete(end)
	case facets.Of == 0:
		return a.noMatch(end)
	}
	return nil
}

// showFacets prints counts in the format of out.
func (a *app) showFacets(out *output, f types.CodeFacets) error {
	switch out.form {
	case asJSON:
		return a.printIndented(f)
	case asLines:
		return a.printJSON(f)
	}
	var rows []facetRow
	for _, part := range []struct {
		name string
		all  []types.CodeFacet
	}{{"repository", f.Repos}, {"language", f.Langs}, {"folder", f.Folders}} {
		for _, facet := range part.all {
			rows = append(rows, facetRow{part.name, facet})
		}
	}
	if len(rows) == 0 && out.form == asTable {
		return nil
	}
	return show(a, out, rows, "")
}

// facetRow prints a number of matches.
type facetRow struct {
	facet string
	types.CodeFacet
}

func (r facetRow) columns() []column {
	return []column{{head: "facet", cell: r.facet}, {head: "value", cell: r.Value, fit: cutStart}, {head: "matches", cell: strconv.Itoa(r.Matches)}}
}
