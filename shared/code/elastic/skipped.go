package elastic

import (
	"slices"

	"leasehold/shared/code"
)

// countSkipped counts in Stats the files that are not indexed and that the filters do not exclude. The
// server counts them if a query can tell which files these are; else the files are read.
func (s *search) countSkipped() error {
	skipped := allOf(s.inShownGenerations(), s.fileQuery(), object{"exists": object{"field": "skipped"}})
	if of := s.filesFor(s.Root, false, 0); of.kind != unknownFiles {
		counted, err := s.countReasons(allOf(skipped, of.query()))
		if counted || err != nil {
			return err
		}
	}
	pages := selection{alias: files, query: skipped, order: []string{"oid", "key"}}
	for {
		page, err := nextPage[*file](s.ctx, s.index, &pages)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, f := range page {
			if s.mayMatch(f) {
				s.stats.Skipped[f.Skipped]++
			}
		}
	}
}

// maxReasons is how many reasons one answer counts. Usually there are four.
const maxReasons = 1000

// countReasons counts the files that a query matches by their reasons. It returns false, and counts
// nothing, if there are more than maxReasons.
func (s *search) countReasons(query any) (counted bool, err error) {
	var answer searchAnswer[struct{}]
	body := object{"size": 0, "query": query, "track_total_hits": false,
		"aggs": object{"reasons": object{"terms": object{"field": "skipped", "size": maxReasons}}}}
	if err := s.index.post(s.ctx, files, "_search", noPartialResults, body, &answer); err != nil {
		return false, err
	}
	if err := answer.Shards.requireAll("search of " + files); err != nil {
		return false, err
	}
	reasons := answer.Aggregations["reasons"]
	if reasons.Others > 0 {
		return false, nil
	}
	for _, r := range reasons.Buckets {
		s.stats.Skipped[r.Key] += r.Count
	}
	return true, nil
}

// fileSet is a set of files.
type fileSet struct {
	kind setKind
	some any // the query that these files match, and no others; of someFiles
}

type setKind int

const (
	unknownFiles setKind = iota // no query tells which
	allFiles
	noFiles
	someFiles
)

// query returns the query for the files of a set that is known.
func (f fileSet) query() any {
	switch f.kind {
	case allFiles:
		return nil
	case noFiles:
		return noDocument
	}
	return f.some
}

// filesFor returns the files for which e holds: those for which it may hold, with some text, or, if
// surely is true, those for which it holds with any text. The former are those that mayMatch accepts.
// They are unknown if depth, the number of combinations around e, is maxDepth.
func (s *search) filesFor(e code.Expr, surely bool, depth int) fileSet {
	if depth == maxDepth {
		return fileSet{}
	}
	switch e := e.(type) {
	case code.And:
		return combined(s.eachFor(e.Of, surely, depth+1), allFiles, noFiles, func(of []any) any { return allOf(of...) })
	case code.Or:
		return combined(s.eachFor(e.Of, surely, depth+1), noFiles, allFiles, anyOf)
	case code.Not:
		return complement(s.filesFor(e.Of, !surely, depth+1))
	case code.Content, code.Sym:
		if surely {
			return fileSet{kind: noFiles}
		}
		return fileSet{kind: allFiles}
	case code.Filter:
		if e.Field == code.FieldRepo {
			return s.filesOfRepos(s.filters[e])
		}
	}
	if q, exact := fileLeaf(&candidates{plan: s.plan}, e); exact && q != nil {
		return fileSet{someFiles, q}
	}
	return fileSet{}
}

func (s *search) eachFor(of []code.Expr, surely bool, depth int) []fileSet {
	all := make([]fileSet, len(of))
	for i, e := range of {
		all[i] = s.filesFor(e, surely, depth)
	}
	return all
}

// filesOfRepos returns the files of the repositories with a name that matches.
func (s *search) filesOfRepos(matches func(name string) bool) fileSet {
	ids := []string{}
	for id, g := range s.shown {
		if matches(g.Repo) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return fileSet{someFiles, object{"terms": object{"generation": ids}}}
}

// combined returns the union or the intersection of sets. A set of the kind neutral changes nothing. One set of the
// kind decisive is the result.
func combined(sets []fileSet, neutral, decisive setKind, join func(of []any) any) fileSet {
	var some []any
	known := true
	for _, f := range sets {
		switch f.kind {
		case decisive:
			return f
		case unknownFiles:
			known = false
		case someFiles:
			some = append(some, f.some)
		}
	}
	switch {
	case !known:
		return fileSet{}
	case len(some) == 0:
		return fileSet{kind: neutral}
	}
	return fileSet{someFiles, join(some)}
}

// complement returns all other files.
func complement(f fileSet) fileSet {
	switch f.kind {
	case allFiles:
		return fileSet{kind: noFiles}
	case noFiles:
		return fileSet{kind: allFiles}
	case someFiles:
		return fileSet{someFiles, object{"bool": object{"must_not": []any{f.some}}}}
	}
	return f
}
