package code

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/process/wording"
)

var (
	// quotedText is a part of a query that a person marked as text.
	quotedText = regexp.MustCompile(`"(?:\\.|[^"\\])*"`)
	// filterLike is a word of a query in the form of a filter: its minus sign, the name, and the
	// first letter of the value.
	filterLike = regexp.MustCompile(`(?:^|[\s(])(-?)([A-Za-z]+):([^\s:])`)
)

// otherNames are names of filters in other search programs, with ours.
var otherNames = map[string]string{
	"language": "lang", "languages": "lang", "l": "lang", "ext": "lang", "extension": "lang",
	"path": "file", "filename": "file", "filepath": "file", "dir": "file", "directory": "file", "f": "file",
	"repository": "repo", "r": "repo", "project": "repo",
	"branches": "branch", "b": "branch", "ref": "branch", "rev": "branch", "tag": "branch",
	"symbol": "sym", "def": "sym", "function": "sym", "func": "sym", "class": "sym",
	"text": "content", "body": "content", "c": "content", "vendored": "vendor",
}

// misnamedFilters returns a sentence for words of a query such as LANG:go or path:cmd, which are
// searched as text although a filter was probably meant. If the search found files (isEmpty is
// false), only exclusions are named, because a word such as path:cmd may be what was wanted.
func misnamedFilters(query string, isEmpty bool) (hints []string) {
	var named []string
	for _, word := range filterLike.FindAllStringSubmatch(quotedText.ReplaceAllString(query, `""`), maxHints) {
		minus, name, isURL := word[1], word[2], word[3] == "/"
		meant := filterMeant(name)
		switch {
		case slices.Contains(code.Fields(), name) || slices.Contains(named, name):
			continue
		case meant == "" && (isURL || minus != ""):
			continue
		case !isEmpty && (minus == "" || meant == ""):
			continue
		}
		named = append(named, name)
		hint := wording.DidYouMean(name, code.Fields())
		if meant != "" {
			hint = " (did you mean " + meant + "?)"
		}
		hints = append(hints, fmt.Sprintf("%s: is not a filter%s, so it was searched as text; filters are %s", name, hint, wording.And(code.Fields()...)))
	}
	return hints
}

// filterMeant returns the filter of another case, or of a name that other programs use; else "".
func filterMeant(name string) string {
	lower := strings.ToLower(name)
	if slices.Contains(code.Fields(), lower) {
		return lower
	}
	return otherNames[lower]
}
