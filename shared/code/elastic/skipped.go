package elastic

import (
	"context"

	"leasehold/shared/code"
)

// countSkipped counts in Stats the files that are not indexed and that the filters do not exclude: by the counts that
// generations keep, if the filters are about repositories only. Else the server counts them, if a query can tell which
// files these are; else the files are read.
func (s *search) countSkipped() error {
	isSkipped := allOf(s.ofFewRepos(), s.fileQuery(), object{"exists": object{"field": "skipped"}})
	switch of := s.filesFor(s.Root, false, 0); of.kind {
	case noFiles:
		return nil
	case allFiles:
		for at, t := range s.totals() {
			for reason, n := range t.skipped {
				if at.files == s.now.home.files { // others are lost
					s.stats.Skipped[reason] += n
				}
			}
		}
		return nil
	case someFiles:
		return s.index.eachCount(s.ctx, allOf(isSkipped, of.some), byReason, func(f filesCount) {
			if g := s.shown[f.repoID]; g != nil && g.ID == f.generation {
				s.stats.Skipped[f.reason] += f.files
			}
		})
	}
	pages := selection{alias: files, query: isSkipped, order: []string{"oid", "key"}}
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

// filesCount is how many files there are with the same values of some fields; the others are empty.
type filesCount struct {
	repoID, repository, generation, reason string
	files                                  int
}

// byReason are the fields that tell how many files of a generation are not indexed for a reason.
var byReason = []string{"repo_id", "generation", "skipped"}

// countsAtOnce is how many of them an answer has. Usually a generation has up to four.
const countsAtOnce = 10_000

// eachCount calls visit for the counts of the files that a query matches, of all generations, for each
// combination of the values of fields.
func (x *Index) eachCount(ctx context.Context, query any, fields []string, visit func(filesCount)) error {
	var sources []object
	for _, field := range fields {
		sources = append(sources, object{field: object{"terms": object{"field": field}}})
	}
	of := object{"size": countsAtOnce, "sources": sources}
	body := object{"size": 0, "query": query, "track_total_hits": false, "aggs": object{"files": object{"composite": of}}}
	for {
		var answer searchAnswer[struct{}]
		if err := x.post(ctx, files, "_search", noPartialResults, body, &answer); err != nil {
			return err
		}
		if err := answer.Shards.requireAll("search of " + files); err != nil {
			return err
		}
		found := answer.Aggregations["files"]
		for _, b := range found.Buckets {
			visit(filesCount{b.Key.RepoID, b.Key.Repository, b.Key.Generation, b.Key.Skipped, b.Count})
		}
		if len(found.Buckets) < countsAtOnce {
			return nil
		}
		of["after"] = found.Buckets[len(found.Buckets)-1].Key
	}
}

// fileSet is a set of files.
type fileSet struct {
	kind setKind
	some any // the query that these files match, and no others of generations that are searched; of someFiles
}

type setKind int

const (
	unknownFiles setKind = iota // no query tells which
	allFiles
	noFiles
	someFiles
)

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

// filesOfRepos returns the files of the repositories with a name that matches. They are unknown if a query would list
// too many of them.
func (s *search) filesOfRepos(matches func(name string) bool) fileSet {
	with, without := map[string]*generation{}, map[string]*generation{}
	for id, g := range s.shown {
		if matches(g.Repo) {
			with[id] = g
		} else {
			without[id] = g
		}
	}
	switch {
	case len(without) == 0:
		return fileSet{kind: allFiles}
	case len(with) == 0:
		return fileSet{kind: noFiles}
	case len(with) <= maxListed:
		return fileSet{someFiles, ofGenerations(with)}
	case len(without) <= maxListed:
		return complement(fileSet{someFiles, ofGenerations(without)})
	}
	return fileSet{}
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
