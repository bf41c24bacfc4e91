package code

import (
	"context"
	"fmt"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/process/wording"
)

// Search is code.Searcher.Search. If nothing matches, Stats.Hints tells why nothing can; and
// Stats.Fetching whether missing files come back.
func (x *Index) Search(ctx context.Context, q code.Query, o code.Options, visit func(code.Match) bool) (code.Stats, error) {
	stats, err := x.Store.Search(ctx, q, o, visit)
	if stats.Missing == 0 && stats.Skipped[code.SkipLost] > 0 {
		stats.Missing = 1 // a search server does not tell how many
	}
	stats.Fetching = stats.Missing > 0 && x.isFetched(ctx)
	if err != nil || stats.Matches > 0 || stats.Missing > 0 {
		return stats, err
	}
	if repos, err := x.Repos(ctx); err == nil { // hints are not worth an error
		stats.Hints = hints(q, repos)
	}
	return stats, nil
}

// hints returns why q cannot match a file of repos: a sentence for each filter with a language that
// does not exist, or with a repository or a branch that is not indexed. It returns nil if the filters
// alone do not exclude every file.
func hints(q code.Query, repos []code.RepoInfo) (all []string) {
	var selected []code.RepoInfo
	for _, r := range repos {
		switch {
		case mayMatch(q.Root, r):
			return nil
		case code.Evaluate(q.Root, func(e code.Expr) code.Truth { return repoTruth(e, r) }) != code.False:
			selected = append(selected, r)
		}
	}
	eachFilter(q.Root, func(f code.Filter) {
		switch {
		case f.Field == code.FieldLang && !code.IsLanguage(f.Value):
			all = append(all, fmt.Sprintf("unknown language %q%s", f.Value, wording.DidYouMean(strings.ToLower(f.Value), code.LanguageAliases())))
		case f.Field == code.FieldRepo && !namesOne(f, repoNames(repos)):
			all = append(all, fmt.Sprintf("no indexed repository matches %q%s", f.Value, nearest(f, repoNames(repos))))
		case f.Field == code.FieldBranch && !namesOne(f, branchNames(selected)):
			all = append(all, fmt.Sprintf("no indexed branch matches %q%s", f.Value, nearest(f, branchNames(selected))))
		}
	})
	return all
}

// repoTruth is the value of a leaf for all files of a repository, by its name alone.
func repoTruth(e code.Expr, r code.RepoInfo) code.Truth {
	if f, ok := e.(code.Filter); ok && f.Field == code.FieldRepo {
		return code.TruthOf(namesOne(f, []string{r.Repo}))
	}
	return code.Unknown
}

// mayMatch reports whether a file of a repository may match e: the languages, the names of the
// repository and of its branches do not exclude it.
func mayMatch(e code.Expr, r code.RepoInfo) bool {
	return code.Evaluate(e, func(e code.Expr) code.Truth {
		f, ok := e.(code.Filter)
		switch {
		case ok && f.Field == code.FieldLang && !code.IsLanguage(f.Value):
			return code.False
		case ok && f.Field == code.FieldBranch && !namesOne(f, branchNames([]code.RepoInfo{r})):
			return code.False
		}
		return repoTruth(e, r)
	}) != code.False
}

// eachFilter calls visit for each filter of e that is not negated.
func eachFilter(e code.Expr, visit func(code.Filter)) {
	switch e := e.(type) {
	case code.And:
		for _, sub := range e.Of {
			eachFilter(sub, visit)
		}
	case code.Or:
		for _, sub := range e.Of {
			eachFilter(sub, visit)
		}
	case code.Filter:
		visit(e)
	}
}

// namesOne reports whether a filter matches one of names. Parse has checked that it compiles.
func namesOne(f code.Filter, names []string) bool {
	matches, err := f.Compile()
	for _, name := range names {
		if err == nil && matches(name) {
			return true
		}
	}
	return false
}

// repoNames returns the names of repositories.
func repoNames(repos []code.RepoInfo) (names []string) {
	for _, r := range repos {
		names = append(names, r.Repo)
	}
	return names
}

// branchNames returns the names of the branches of repositories.
func branchNames(repos []code.RepoInfo) (names []string) {
	for _, r := range repos {
		for _, ref := range r.Refs {
			names = append(names, ref.Name)
		}
	}
	return names
}

// nearest returns " (did you mean X?)" for the name that is nearest to the value of a filter, which
// may be the end of a name.
func nearest(f code.Filter, names []string) string {
	value := strings.NewReplacer("^", "", "$", "", "\\", "").Replace(f.Value)
	value = strings.ToLower(strings.TrimSuffix(value, ".git"))
	var ends []string
	written := map[string]string{}
	for _, name := range names {
		parts := strings.Split(name, "/")
		end := strings.Join(parts[max(0, len(parts)-1-strings.Count(value, "/")):], "/")
		ends = append(ends, strings.ToLower(end))
		written[strings.ToLower(end)] = end
	}
	suggestion := wording.DidYouMean(value, ends)
	for lower, end := range written {
		if suggestion == " (did you mean "+lower+"?)" {
			return " (did you mean " + end + "?)"
		}
	}
	return suggestion
}
