package page

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"leasehold/shared/api/types"
)

// Limits of the page of a report.
const (
	reportRows    = 20
	reportSkipped = 50 // files that are not indexed
)

// reportPage describes the code of a repository, or of all.
type reportPage struct {
	types.CodeReport
	All     bool
	Reasons []types.CodeFacet // why files are not indexed, by number
	Lines   int
	Skipped types.Page[types.IndexedFile]
	page    *Page
}

// readReport reads the report of the repository that the parameter repo names; of all without one.
func readReport(v *visit) (any, error) {
	repo := v.param("repo")
	r := reportPage{All: repo == "", page: v.page}
	end, err := v.startCode("getReport")
	if err != nil {
		return nil, err
	}
	defer end()
	if err := v.get(v.Context(), path("report"), url.Values{"repo": {repo}, "limit": {strconv.Itoa(reportRows)}}, &r.CodeReport); err != nil {
		return nil, err
	}
	v.title = "Report – Code"
	if r.Repo != "" {
		v.title = r.Repo + " – Code"
	}
	for reason, n := range r.CodeReport.Skipped {
		r.Reasons = append(r.Reasons, types.CodeFacet{Value: reason, Matches: n})
	}
	slices.SortFunc(r.Reasons, func(a, b types.CodeFacet) int {
		return cmp.Or(cmp.Compare(b.Matches, a.Matches), cmp.Compare(a.Value, b.Value))
	})
	for _, l := range r.Languages {
		r.Lines += l.Lines
	}
	if len(r.Reasons) == 0 {
		return r, nil
	}
	return r, v.get(v.Context(), path("files"), url.Values{"repo": {cmp.Or(r.ID, repo)}, "skipped": {"true"}, "limit": {strconv.Itoa(reportSkipped)}}, &r.Skipped)
}

// Place returns the address of a line of a file of the report, as the index has it now.
func (r reportPage) Place(repo, path string, line int) string {
	return r.page.linkOf(cmp.Or(r.ID, repo), path, "", line, 0)
}

// Share is the part of a language of all lines, from 0 to 1.
func (r reportPage) Share(l types.LanguageReport) float64 {
	return float64(l.Lines) / float64(max(1, r.Lines))
}
