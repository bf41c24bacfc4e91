package page

import (
	"net/url"
	"strconv"

	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// Rows of the page of the archive.
const (
	archiveRows     = 50 // episodes and findings at a time
	archiveProblems = 20
)

// archivePage is what the catalog holds. The latest problems come first.
type archivePage struct {
	Totals   catalog.Totals
	Problems []catalog.Problem
	Title    string // text in the titles of the episodes; empty: all are listed
	Episodes archivePart[catalog.EpisodeProgress]
	Findings archivePart[catalog.Finding]
}

// archivePart is a part of one of the two lists.
type archivePart[T any] struct {
	Items       []T
	Total       int
	First, Next string // addresses of the first and the next part; empty: this is the first, or the last
}

func readArchive(v *visit) (any, error) {
	a := archivePage{Title: v.param("title")}
	if err := v.get(v.Context(), path("totals"), nil, &a.Totals); err != nil {
		return nil, err
	}
	latest := url.Values{"limit": {strconv.Itoa(archiveProblems)}, "offset": {strconv.Itoa(max(0, a.Totals.Problems-archiveProblems))}}
	var problems types.Page[catalog.Problem]
	if err := v.get(v.Context(), path("problems"), latest, &problems); err != nil {
		return nil, err
	}
	for i := len(problems.Items) - 1; i >= 0; i-- {
		a.Problems = append(a.Problems, problems.Items[i])
	}
	filter := url.Values{}
	if a.Title != "" {
		filter.Set("title", a.Title)
	}
	err := a.Episodes.read(v, "episodes", "after", filter, a.Totals.Episodes)
	if err == nil {
		err = a.Findings.read(v, "findings", "from", url.Values{}, a.Totals.Findings)
	}
	return a, err
}

// read reads the part of a list that begins where the parameter from of the visit tells. The links keep the other list
// where it is. The list has at most total items.
func (p *archivePart[T]) read(v *visit, list, from string, filter url.Values, total int) error {
	offset, _ := strconv.Atoi(v.param(from)) // otherwise the first part
	offset = max(0, min(offset, total))
	filter.Set("limit", strconv.Itoa(archiveRows))
	filter.Set("offset", strconv.Itoa(offset))
	var answer types.Page[T]
	if err := v.get(v.Context(), path(list), filter, &answer); err != nil {
		return err
	}
	p.Items, p.Total = answer.Items, answer.Total
	at := func(offset string) string {
		start := map[string]string{"after": v.param("after"), "from": v.param("from")}
		start[from] = offset
		return v.page.link("/archive", "title", v.param("title"), "after", start["after"], "from", start["from"])
	}
	if offset > 0 {
		p.First = at("")
	}
	if next := offset + archiveRows; next < answer.Total {
		p.Next = at(strconv.Itoa(next))
	}
	return nil
}
