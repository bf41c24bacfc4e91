package page

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// Limits of the list of repositories.
const (
	codeRepos    = 100    // on a page
	maxRepos     = 10_000 // that are read
	repoProblems = 1000   // the latest ones, which are counted by repository
	repoBranches = 8      // of a repository that are shown
)

// reposPage is the indexed repositories, and the origins that have none yet.
type reposPage struct {
	codeQuery
	Attention   []attentionRow // an index that lacks files
	Rows        []repoRow
	Total       int
	Files, Lost int    // of all
	First, Next string // addresses of the first and the next part; empty: this is the first, or the last
}

// repoRow is a repository.
type repoRow struct {
	types.CodeRepository
	More      int       // branches that are not shown
	Indexed   time.Time // when a visit last found the index up to date, or made it so; zero: unknown
	Failed    time.Time // when the last visit failed; zero: it did not
	LastError string
	Disabled  string // why it is not visited
	Waits     bool   // it is not indexed yet
	Problems  int    // of its origin, of the latest repoProblems
	IsOrigin  bool   // the catalog has its origin
}

// readRepositories reads the list of repositories by name. Those with trouble come first.
func readRepositories(v *visit) (any, error) {
	r := reposPage{codeQuery: v.codeQuery(), Attention: v.attentionTo(models.CauseIndex)}
	var repos types.Page[types.CodeRepository]
	if err := v.get(v.Context(), path("repositories"), url.Values{"limit": {strconv.Itoa(maxRepos)}}, &repos); err != nil {
		return nil, err
	}
	var origins types.Page[models.Origin]
	if _, err := v.getOptional(v.Context(), path("origins"), url.Values{"limit": {strconv.Itoa(maxRepos)}}, &origins); err != nil {
		return nil, err
	}
	problems, err := v.problemsByOrigin()
	if err != nil {
		return nil, err
	}
	rows := repoRows(repos.Items, origins.Items)
	for i := range rows {
		rows[i].Problems = problems[rows[i].ID]
		r.Files += rows[i].Files
		r.Lost += rows[i].Lost
	}
	slices.SortStableFunc(rows, func(a, b repoRow) int { return cmp.Compare(b.trouble(), a.trouble()) })
	r.Total = len(rows) + repos.Total - len(repos.Items)
	offset, _ := strconv.Atoi(v.param("from")) // otherwise the first part
	offset = max(0, min(offset, len(rows)))
	if offset > 0 {
		r.First = v.page.link("/code")
	}
	rows = rows[offset:]
	if len(rows) > codeRepos {
		rows, r.Next = rows[:codeRepos], v.page.link("/code", "from", strconv.Itoa(offset+codeRepos))
	}
	r.Rows = rows
	return r, nil
}

// repoRows returns the repositories with what their origins tell, and the origins without a repository.
func repoRows(repos []types.CodeRepository, origins []models.Origin) (rows []repoRow) {
	known := map[string]models.Origin{}
	for _, o := range origins {
		if o.Kind == models.Git || o.Kind == models.Folder {
			known[o.ID] = o
		}
	}
	for _, repo := range repos {
		row := repoRow{CodeRepository: repo}
		if o, ok := known[repo.ID]; ok {
			row.tell(o)
			delete(known, repo.ID)
		}
		row.More = max(0, len(row.Refs)-repoBranches)
		row.Refs = row.Refs[:len(row.Refs)-row.More]
		rows = append(rows, row)
	}
	for _, o := range known {
		row := repoRow{CodeRepository: types.CodeRepository{Repo: o.URI, ID: o.ID}, Waits: true}
		row.tell(o)
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b repoRow) int { return cmp.Or(strings.Compare(a.Repo, b.Repo), strings.Compare(a.ID, b.ID)) })
	return rows
}

// tell adds what an origin tells.
func (r *repoRow) tell(o models.Origin) {
	r.IsOrigin, r.Disabled = true, o.Disabled
	switch {
	case o.LastError != "":
		r.Failed, r.LastError = o.LastVisit, o.LastError
	case !r.Waits:
		r.Indexed = o.LastVisit
	}
}

// trouble is 1 if files, a visit or recordings of the repository failed, and 0 otherwise. The list is sorted by it.
func (r repoRow) trouble() int {
	if r.Lost > 0 || r.LastError != "" || r.Waits || r.Disabled != "" || r.Problems > 0 {
		return 1
	}
	return 0
}

// problemsByOrigin counts the latest problems of the catalog by the ids of origins.
func (v *visit) problemsByOrigin() (map[string]int, error) {
	counts := map[string]int{}
	var totals catalog.Totals
	if there, err := v.getOptional(v.Context(), path("totals"), nil, &totals); !there || err != nil || totals.Problems == 0 {
		return counts, err
	}
	var problems types.Page[catalog.Problem]
	latest := url.Values{"limit": {strconv.Itoa(repoProblems)}, "offset": {strconv.Itoa(max(0, totals.Problems-repoProblems))}}
	err := v.get(v.Context(), path("problems"), latest, &problems)
	for _, p := range problems.Items {
		counts[p.OriginID]++
	}
	return counts, err
}
