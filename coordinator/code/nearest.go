package code

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/process/wording"
)

// maxNamed is how many repositories a hint names.
const maxNamed = 3

// namesOne reports whether a filter matches one of names. Parse has checked that it compiles.
func namesOne(f code.Filter, names []string) bool {
	matches, err := f.Compile()
	return err == nil && slices.ContainsFunc(names, matches)
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

// branchHint returns that no branch matches a filter, in the repositories that the filters for
// repositories select, and where it does or which one is near. It returns "" if one matches.
func branchHint(root code.Expr, f code.Filter, repos []code.RepoInfo) string {
	var selected, others []code.RepoInfo
	for _, r := range repos {
		switch {
		case code.Evaluate(root, func(e code.Expr) code.Truth { return repoTruth(e, r) }) != code.False:
			selected = append(selected, r)
		case namesOne(f, branchNames([]code.RepoInfo{r})):
			others = append(others, r)
		}
	}
	switch {
	case namesOne(f, branchNames(selected)):
		return ""
	case len(selected) > 0 && len(others) > 0:
		return fmt.Sprintf("no indexed branch of %s matches %q, but one of %s does", listNames(selected), f.Value, listNames(others))
	}
	return fmt.Sprintf("no indexed branch matches %q%s", f.Value, nearestBranch(f.Value, selected))
}

// repoTruth is the value of a leaf for all files of a repository, by its name alone.
func repoTruth(e code.Expr, r code.RepoInfo) code.Truth {
	if f, ok := e.(code.Filter); ok && f.Field == code.FieldRepo {
		return code.TruthOf(namesOne(f, []string{r.Repo}))
	}
	return code.Unknown
}

// listNames names the first repositories and counts the others.
func listNames(repos []code.RepoInfo) string {
	names := repoNames(repos)
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return wording.And(names...)
}

var (
	// expressionSigns anchor or quote in a regular expression.
	expressionSigns = strings.NewReplacer("^", "", "$", "", "\\", "")
	// urlBeginning precedes the host in the address of a repository.
	urlBeginning = regexp.MustCompile(`^[a-z]+://(?:[^/@]*@)?|^[^/@]*@`)
	// refBeginning precedes the name of a branch elsewhere in git.
	refBeginning = regexp.MustCompile(`^(?:refs/heads/|(?:refs/)?remotes/[^/]*/|origin/|upstream/)`)
)

// nearestRepo returns " (did you mean X?)" for the name that is nearest to the value of a filter, which
// may be an address or the end of a name.
func nearestRepo(value string, names []string) string {
	value = strings.ToLower(expressionSigns.Replace(value))
	if at := urlBeginning.FindString(value); at != "" { // also git@HOST:PATH
		value = strings.Replace(value[len(at):], ":", "/", 1)
	}
	value = strings.TrimSuffix(strings.Trim(value, "/"), ".git")
	var parts []part
	for _, name := range names {
		parts = append(parts, partsOf(name, strings.Count(value, "/"))...)
	}
	return nearest(value, parts)
}

// nearestBranch returns " (did you mean X?)" for the branch of repositories that is nearest to the value
// of a filter, which may be git's name of it, such as HEAD, origin/main or refs/tags/v1.
func nearestBranch(value string, repos []code.RepoInfo) string {
	value = strings.Trim(expressionSigns.Replace(value), "/")
	plain := refBeginning.ReplaceAllLiteralString(value, "")
	if rest, ok := strings.CutPrefix(plain, "refs/tags/"); ok {
		plain = "tag/" + rest
	}
	if strings.EqualFold(plain, "HEAD") {
		return defaultBranch(repos)
	}
	var parts []part
	for _, name := range branchNames(repos) {
		for _, p := range partsOf(name, strings.Count(plain, "/")) {
			parts = append(parts, part{p.piece, name})
		}
	}
	return nearest(plain, parts)
}

// defaultBranch returns " (did you mean X?)" for the branch that is probably the repositories' HEAD:
// the only indexed one, or the one that has the name which git or servers give to it. It returns "" if
// no branch is.
func defaultBranch(repos []code.RepoInfo) string {
	names := branchNames(repos)
	for _, usual := range []string{"main", "master", "trunk"} {
		if slices.Contains(names, usual) {
			return didYouMean(usual)
		}
	}
	if names = slices.Compact(slices.Sorted(slices.Values(names))); len(names) == 1 {
		return didYouMean(names[0])
	}
	return ""
}

// A part is a piece of a name in lower case, with the text that is suggested for it.
type part struct{ piece, suggested string }

// nearest returns " (did you mean X?)" for the part whose piece is nearest to value.
func nearest(value string, parts []part) string {
	pieces := make([]string, len(parts))
	for i, p := range parts {
		pieces[i] = p.piece
	}
	meant := wording.Nearest(strings.ToLower(value), pieces)
	if meant == "" {
		return ""
	}
	return didYouMean(parts[slices.Index(pieces, meant)].suggested)
}

func didYouMean(meant string) string { return " (did you mean " + meant + "?)" }

// partsOf returns the runs of components of a name that have this many slashes, the last one first, and the
// beginnings of those with a number or the like behind a sign, such as release in release-1.
func partsOf(name string, slashes int) (parts []part) {
	components := strings.Split(name, "/")
	n := min(slashes+1, len(components))
	for i := len(components) - n; i >= 0; i-- {
		run := strings.Join(components[i:i+n], "/")
		parts = append(parts, part{strings.ToLower(run), run})
		if end := strings.LastIndexAny(run, "-_."); end > 0 {
			parts = append(parts, part{strings.ToLower(run[:end]), run})
		}
	}
	return parts
}
