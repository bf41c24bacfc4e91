package code

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/process/wording"
)

// What the hints of a search may cost.
const (
	maxHints     = 16          // filters that are examined
	probeTimeout = time.Second // of the search for a file that meets a filter
)

// Search is code.Searcher.Search. Stats.Hints tells which exclusions exclude nothing and, if nothing
// matches, why nothing can; Stats.Fetching whether missing files come back.
func (x *Index) Search(ctx context.Context, q code.Query, o code.Options, visit func(code.Match) bool) (code.Stats, error) {
	stats, err := x.Store.Search(ctx, q, o, visit)
	if stats.Missing == 0 { // a search server counts source files, because it has no segments
		stats.Missing = stats.Skipped[code.SkipLost]
	}
	stats.Fetching = stats.Missing > 0 && x.isFetched(ctx)
	if err != nil {
		return stats, err
	}
	isEmpty := stats.Matches == 0 && stats.Missing == 0
	if isEmpty {
		stats.Hints = x.excludingFilters(ctx, q.Root)
	}
	stats.Hints = append(stats.Hints, withoutEffect(q.Root)...)
	stats.Hints = append(stats.Hints, misnamedFilters(q.Text, isEmpty)...)
	return stats, nil
}

// excludingFilters returns why the filters of a query exclude every indexed file: a sentence for each
// filter that does so alone. It returns nil if they do not, or if that cannot be found out, because a
// hint is not worth an error.
func (x *Index) excludingFilters(ctx context.Context, root code.Expr) (hints []string) {
	filters := filtersOf(root, false)
	if filters == nil || x.hasFile(ctx, filters) {
		return nil
	}
	repos, err := x.Repos(ctx)
	if err != nil {
		return nil
	}
	leaves := leavesOf(filters)
	for _, e := range leaves[:min(len(leaves), maxHints)] {
		hint := nameHint(root, e, repos)
		if hint == "" && !x.hasFile(ctx, e) {
			hint = fileHint(e)
		}
		if hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	if hints == nil {
		hints = []string{"no indexed file meets all filters, although each alone lets files through"}
	}
	return hints
}

// hasFile reports whether an indexed file meets e; true also if the time does not suffice to tell.
func (x *Index) hasFile(ctx context.Context, e code.Expr) bool {
	stats, err := x.Store.Search(ctx, code.Query{Root: e}, code.Options{Limit: 1, Timeout: probeTimeout}, func(code.Match) bool { return true })
	return err != nil || stats.Matches > 0 || stats.Stopped != ""
}

// nameHint returns why a filter lets no file through by the name that it asks for: a language that
// does not exist, or a repository or a branch that is not indexed. It returns "" for other filters.
func nameHint(root, e code.Expr, repos []code.RepoInfo) string {
	f, ok := e.(code.Filter)
	switch {
	case !ok:
		return ""
	case f.Field == code.FieldLang && !code.IsLanguage(f.Value):
		return unknownLanguage(f.Value)
	case f.Field == code.FieldRepo && !namesOne(f, repoNames(repos)):
		return fmt.Sprintf("no indexed repository matches %q%s", f.Value, nearestRepo(f.Value, repoNames(repos)))
	case f.Field == code.FieldBranch:
		return branchHint(root, f, repos)
	}
	return ""
}

// fileHint returns that no file meets e, which is a filter or an exclusion.
func fileHint(e code.Expr) string {
	switch e := e.(type) {
	case code.Not:
		return written(e) + " excludes every indexed file"
	case code.Vendor:
		return "no indexed file is vendored"
	case code.Filter:
		switch e.Field {
		case code.FieldLang:
			return fmt.Sprintf("no indexed file has the language %q", e.Value)
		case code.FieldFile:
			return fmt.Sprintf("no indexed path matches %q", e.Value)
		}
	}
	return ""
}

// withoutEffect returns a sentence for each exclusion of a language that does not exist.
func withoutEffect(root code.Expr) (hints []string) {
	for _, e := range leavesOf(filtersOf(root, false)) {
		if not, ok := e.(code.Not); ok && len(hints) < maxHints {
			if f, ok := not.Of.(code.Filter); ok && f.Field == code.FieldLang && !code.IsLanguage(f.Value) {
				hints = append(hints, fmt.Sprintf("%s, so %s excludes nothing", unknownLanguage(f.Value), written(not)))
			}
		}
	}
	return hints
}

// unknownLanguage returns that a language does not exist, and which one was probably meant.
func unknownLanguage(name string) string {
	hint := fmt.Sprintf("unknown language %q", name)
	if meant := code.LanguagesOfExtension(name); len(meant) > 0 {
		return hint + " (did you mean " + wording.Or(meant...) + "?)"
	}
	return hint + wording.DidYouMean(strings.ToLower(name), code.LanguageAliases())
}

// written returns an exclusion as in a query.
func written(e code.Not) string {
	f, ok := e.Of.(code.Filter)
	switch {
	case !ok:
		return "-vendor:yes"
	case strings.ContainsAny(f.Value, " ()\""):
		return fmt.Sprintf("-%s:%q", f.Field, f.Value)
	}
	return fmt.Sprintf("-%s:%s", f.Field, f.Value)
}

// filtersOf returns what the filters of e alone demand of a file; nil: nothing, because the rest of e
// may hold for any file. With negated, it is that of NOT e.
func filtersOf(e code.Expr, negated bool) code.Expr {
	switch e := e.(type) {
	case code.Not:
		return filtersOf(e.Of, !negated)
	case code.And:
		return joinFilters(e.Of, negated, !negated)
	case code.Or:
		return joinFilters(e.Of, negated, negated)
	case code.Filter, code.Vendor:
		if negated {
			return code.Not{Of: e}
		}
		return e
	}
	return nil // words, regular expressions and symbols
}

// joinFilters joins filtersOf of all: a file must meet every one, or at least one.
func joinFilters(all []code.Expr, negated, every bool) code.Expr {
	var joined []code.Expr
	for _, e := range all {
		switch f := filtersOf(e, negated); {
		case f != nil:
			joined = append(joined, f)
		case !every:
			return nil
		}
	}
	switch {
	case len(joined) == 0:
		return nil
	case len(joined) == 1:
		return joined[0]
	case every:
		return code.And{Of: joined}
	}
	return code.Or{Of: joined}
}

// leavesOf returns the filters and exclusions of a result of filtersOf.
func leavesOf(e code.Expr) (leaves []code.Expr) {
	switch e := e.(type) {
	case nil:
	case code.And:
		for _, sub := range e.Of {
			leaves = append(leaves, leavesOf(sub)...)
		}
	case code.Or:
		for _, sub := range e.Of {
			leaves = append(leaves, leavesOf(sub)...)
		}
	default:
		leaves = []code.Expr{e}
	}
	return leaves
}
