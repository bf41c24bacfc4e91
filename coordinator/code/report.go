package code

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
	"leasehold/shared/fault"
)

// MatchOf returns m as the API has it.
func MatchOf(m code.Match) types.CodeMatch {
	c := types.CodeMatch{
		Repo: m.Repo, RepoID: m.RepoID, Refs: m.Refs, Commit: m.Commit, Branch: m.Branch, Path: m.Path, OID: string(m.OID), Lang: m.Lang,
		Line: m.Line, Text: m.Text, Column: m.Column, Before: m.Before, After: m.After, Score: m.Score,
	}
	for _, r := range m.Ranges {
		c.Ranges = append(c.Ranges, types.CodeRange{Start: r.Start, End: r.End})
	}
	if s := m.Symbol; s != nil {
		c.Symbol = &types.CodeSymbol{Name: s.Name, Kind: s.Kind, Scope: s.Scope, Line: s.Line, End: s.End, Signature: s.Signature, Approx: s.Approx}
	}
	return c
}

// EndOf returns the statistics of a search as the API has them.
func EndOf(s code.Stats) types.SearchEnd {
	return types.SearchEnd{Matches: s.Matches, Files: s.Files, Repos: s.Repos, Skipped: s.Skipped, RankedOf: s.RankedOf, Stopped: s.Stopped, Hints: s.Hints,
		Incomplete: s.Missing > 0, Missing: s.Missing, Fetching: s.Fetching, Elapsed: s.Elapsed.Seconds()}
}

// fileOf returns f as the API has it.
func fileOf(f code.FileInfo) types.IndexedFile {
	return types.IndexedFile{
		Repo: f.Repo, Refs: f.Refs, Path: f.Path, OID: string(f.OID), Lang: f.Lang, Bytes: f.Size, Lines: f.Lines, Code: f.Code, Comment: f.Comment,
		Complexity: f.Complexity, Generated: f.Generated, Vendored: f.Vendored, Skipped: f.Skipped,
	}
}

// FileQuery selects files.
type FileQuery struct {
	Repo          string // id, name or the end of the name of a repository; empty: every repository
	SkippedOnly   bool   // those that are not indexed
	Offset, Limit int
}

// ListFiles returns the files that q selects, from q.Offset on and at most q.Limit, and how many there are in
// all. It returns fault.ErrNotFound if the repository is not indexed.
func (x *Index) ListFiles(ctx context.Context, q FileQuery) (page types.Page[types.IndexedFile], err error) {
	page.Items = []types.IndexedFile{}
	seen := false // a file of the repository, listed or not
	err = x.Files(ctx, matchRepo(q.Repo), func(f code.FileInfo, _ func() []code.FunctionReport) bool {
		seen = true
		if q.SkippedOnly && f.Skipped == "" {
			return true
		}
		if page.Total++; page.Total > q.Offset && len(page.Items) < q.Limit {
			page.Items = append(page.Items, fileOf(f))
		}
		return true
	})
	if err == nil && !seen && q.Repo != "" {
		err = notIndexed(q.Repo)
	}
	return page, err
}

func notIndexed(repo string) error {
	return fmt.Errorf("repository %.200q is not indexed, or has no files: %w", repo, fault.ErrNotFound)
}

// matchRepo returns a function that reports whether a repository has this id or name, or a
// name that ends with it after a slash. repo may have .git at its end, as a URL does.
func matchRepo(repo string) func(id, name string) bool {
	end := "/" + strings.Trim(repo, "/")
	plain := strings.TrimSuffix(end, ".git")
	return func(id, name string) bool {
		return repo == "" || id == repo || name == repo || strings.HasSuffix(name, end) || plain != "/" && strings.HasSuffix("/"+name, plain)
	}
}

// Report returns the largest functions, the most complex files, and the languages of a repository, or of all. Generated and
// vendored functions and files are left out, and tests unless q asks for them. It fails with fault.ErrNotFound if
// the repository is not indexed, and with fault.ErrConflict if several have the name.
func (x *Index) Report(ctx context.Context, q types.ReportQuery) (r types.CodeReport, err error) {
	r.Skipped = map[string]int{}
	languages := map[string]types.LanguageReport{}
	functions := topItems[types.FunctionReport]{n: q.Limit, compare: func(a, b types.FunctionReport) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	}}
	files := topItems[types.IndexedFile]{n: q.Limit, compare: func(a, b types.IndexedFile) int {
		return cmp.Or(cmp.Compare(b.Complexity, a.Complexity), cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Path, b.Path))
	}}
	err = x.Files(ctx, matchRepo(q.Repo), func(f code.FileInfo, readFunctions func() []code.FunctionReport) bool {
		if r.ID != "" && r.ID != f.RepoID && q.Repo != "" { // files come repository by repository
			r.ID = "" // marks several repositories
			return false
		}
		r.ID, r.Repo = f.RepoID, f.Repo
		r.Files++
		if f.Skipped != "" {
			r.Skipped[f.Skipped]++
			return true
		}
		l := languages[f.Lang]
		languages[f.Lang] = types.LanguageReport{Lang: f.Lang, Files: l.Files + 1, Lines: l.Lines + f.Lines, Code: l.Code + f.Code, Comment: l.Comment + f.Comment}
		if f.Generated || f.Vendored {
			return true
		}
		if !q.Tests && analyse.IsTest(f.Path) {
			r.LeftOut++
			return true
		}
		if f.Complexity > 0 {
			files.add(fileOf(f))
		}
		for _, one := range readFunctions() {
			functions.add(types.FunctionReport{
				Repo: f.Repo, Path: f.Path, Line: one.Line, Function: one.Function, Receiver: one.Receiver, A: one.A, B: one.B, C: one.C, Score: one.Score, ABCSeed: one.ABCSeed,
			})
		}
		return true
	})
	switch {
	case err != nil:
		return r, err
	case r.Files == 0 && q.Repo != "":
		return r, notIndexed(q.Repo)
	case r.ID == "" && q.Repo != "":
		return r, fmt.Errorf("repository %.200q: %w: several have this name; use the whole name", q.Repo, fault.ErrConflict)
	}
	r.Functions, r.Complex = functions.list(), files.list()
	if q.Repo == "" {
		r.ID, r.Repo = "", ""
	}
	r.Languages = slices.AppendSeq([]types.LanguageReport{}, maps.Values(languages)) // not null in JSON
	slices.SortFunc(r.Languages, func(a, b types.LanguageReport) int {
		return cmp.Or(cmp.Compare(b.Code, a.Code), cmp.Compare(a.Lang, b.Lang))
	})
	return r, nil
}

// topItems keeps the first n of the items that were added, by an order. It holds some more, so
// that it sorts seldom.
type topItems[T any] struct {
	n       int
	compare func(a, b T) int
	items   []T
}

func (t *topItems[T]) add(item T) {
	t.items = append(t.items, item)
	if len(t.items) > 4*t.n+100 {
		t.items = t.list()
	}
}

func (t *topItems[T]) list() []T {
	slices.SortFunc(t.items, t.compare)
	return append([]T{}, t.items[:min(len(t.items), t.n)]...)
}
