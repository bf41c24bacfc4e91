package page

import (
	"net/url"
	"strconv"

	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// archiveRows is how many problems and findings the page of the archive has at a time.
const archiveRows = 50

// archivePage is what the catalog holds. The latest problems come first.
type archivePage struct {
	Totals   catalog.Totals
	Problems []catalog.Problem
	Findings []catalog.Finding
	From     int    // findings before these
	Next     string // address of the next findings; empty: there are none
}

func readArchive(v *visit) (any, error) {
	a := archivePage{}
	if err := v.get(v.Context(), path("totals"), nil, &a.Totals); err != nil {
		return nil, err
	}
	part := url.Values{"limit": {strconv.Itoa(archiveRows)}, "offset": {strconv.Itoa(max(0, a.Totals.Problems-archiveRows))}}
	var problems types.Page[catalog.Problem]
	if err := v.get(v.Context(), path("problems"), part, &problems); err != nil {
		return nil, err
	}
	for i := len(problems.Items) - 1; i >= 0; i-- {
		a.Problems = append(a.Problems, problems.Items[i])
	}
	a.From, _ = strconv.Atoi(v.param("from")) // otherwise the first page
	a.From = max(0, min(a.From, a.Totals.Findings))
	part.Set("offset", strconv.Itoa(a.From))
	var findings types.Page[catalog.Finding]
	err := v.get(v.Context(), path("findings"), part, &findings)
	a.Findings = findings.Items
	if next := a.From + archiveRows; next < a.Totals.Findings {
		a.Next = v.page.link("/archive", "from", strconv.Itoa(next))
	}
	return a, err
}
