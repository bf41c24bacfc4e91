package codetest

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"leasehold/shared/code"
)

// naiveSearch is one search of Naive.
type naiveSearch struct {
	query   code.Query
	options code.Options
	words   []string
	regexps map[code.Pattern]*regexp.Regexp
	filters map[code.Filter]func(string) bool
	matches []code.Match
	stats   code.Stats
}

// newNaiveSearch compiles a query.
func newNaiveSearch(q code.Query, o code.Options) (*naiveSearch, error) {
	s := &naiveSearch{query: q, options: o, words: q.Words(), regexps: map[code.Pattern]*regexp.Regexp{},
		filters: map[code.Filter]func(string) bool{}, stats: code.Stats{Skipped: map[string]int{}}}
	return s, s.compile(q.Root)
}

// compile compiles the patterns and filters of e into s. It fails if Go's regexp refuses an
// expression, or if a filter is invalid.
func (s *naiveSearch) compile(e code.Expr) (err error) {
	switch e := e.(type) {
	case code.And:
		for _, sub := range e.Of {
			err = cmp.Or(err, s.compile(sub))
		}
	case code.Or:
		for _, sub := range e.Of {
			err = cmp.Or(err, s.compile(sub))
		}
	case code.Not:
		return s.compile(e.Of)
	case code.Content:
		s.regexps[e.Pattern], err = e.Pattern.Compile(s.query.Folds())
	case code.Path:
		s.regexps[e.Pattern], err = e.Pattern.Compile(s.query.Folds())
	case code.Sym:
		s.regexps[e.Pattern], err = e.Pattern.Compile(s.query.Folds())
	case code.Filter:
		s.filters[e], err = e.Compile()
	}
	return err
}

// naiveFile is a file as a search sees it: a path with its content, and the refs it is in.
type naiveFile struct {
	code.File
	refs []code.Ref
	blob code.Blob
}

// filesOf joins the entries of m that have the same path and content, with all refs that have
// them in the order of m, and sorts them by path.
func filesOf(m code.Manifest, blobs map[code.OID]code.Blob) []naiveFile {
	type key struct {
		path string
		oid  code.OID
	}
	at := map[key]int{}
	var files []naiveFile
	for _, ref := range m.Refs {
		for _, f := range m.Files {
			if f.Ref != ref.Name {
				continue
			}
			k := key{f.Path, f.OID}
			i, ok := at[k]
			if !ok {
				i, at[k] = len(files), len(files)
				files = append(files, naiveFile{File: f, blob: blobs[f.OID]})
			}
			files[i].refs = append(files[i].refs, ref)
		}
	}
	slices.SortFunc(files, func(a, b naiveFile) int { return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.OID, b.OID)) })
	return files
}

// searchRepo searches the files of one repository, unless the filters on repositories exclude it,
// whatever its files contain.
func (s *naiveSearch) searchRepo(m code.Manifest, blobs map[code.OID]code.Blob) {
	searched := code.Evaluate(s.query.Root, func(e code.Expr) code.Truth {
		if f, ok := e.(code.Filter); ok && f.Field == code.FieldRepo {
			return code.TruthOf(s.filters[f](m.Repo))
		}
		return code.Unknown
	})
	if searched == code.False {
		return
	}
	s.stats.Repos++
	for _, f := range filesOf(m, blobs) {
		s.searchFile(m, f)
	}
}

// searchFile adds the matches of one file: one for each line in which a shown leaf is found, or one
// without a line if no leaf is shown. A skipped file that the filters do not exclude is counted.
func (s *naiveSearch) searchFile(m code.Manifest, f naiveFile) {
	leaf := func(e code.Expr) code.Truth { return s.holds(e, m, f) }
	truth := code.Evaluate(s.query.Root, leaf)
	if f.blob.Skipped != "" && truth != code.False {
		s.stats.Skipped[f.blob.Skipped]++
	}
	if truth != code.True {
		return
	}
	found := map[int][]code.Range{} // by line, from 1
	shown := false
	for _, e := range wanted(s.query.Root, nil) {
		if leaf(e) != code.True {
			continue
		}
		shown = true
		switch e := e.(type) {
		case code.Content:
			s.findContent(e.Pattern, f.blob.Content, found)
		case code.Sym:
			s.findSymbols(e.Pattern, f.blob, found)
		}
	}
	if !shown {
		s.matches = append(s.matches, s.match(m, f, 0, nil))
	}
	for line, ranges := range found {
		s.matches = append(s.matches, s.match(m, f, line, ranges))
	}
}

// wanted appends the words, expressions and symbols of e that are not behind a minus.
func wanted(e code.Expr, leaves []code.Expr) []code.Expr {
	switch e := e.(type) {
	case code.And:
		for _, sub := range e.Of {
			leaves = wanted(sub, leaves)
		}
	case code.Or:
		for _, sub := range e.Of {
			leaves = wanted(sub, leaves)
		}
	case code.Content, code.Sym:
		leaves = append(leaves, e)
	}
	return leaves
}

// holds evaluates a leaf of the query. The content of a skipped blob is unknown, so that neither
// a word nor its negation finds it.
func (s *naiveSearch) holds(e code.Expr, m code.Manifest, f naiveFile) code.Truth {
	switch e := e.(type) {
	case code.Content:
		if f.blob.Skipped != "" {
			return code.Unknown
		}
		found := map[int][]code.Range{}
		s.findContent(e.Pattern, f.blob.Content, found)
		return code.TruthOf(len(found) > 0)
	case code.Sym:
		if f.blob.Skipped != "" {
			return code.Unknown
		}
		return code.TruthOf(slices.ContainsFunc(f.blob.Symbols, func(x code.Symbol) bool {
			return s.regexps[e.Pattern].MatchString(x.Name)
		}))
	case code.Path:
		return code.TruthOf(s.regexps[e.Pattern].MatchString(f.Path))
	case code.Vendor:
		return code.TruthOf(f.Vendored)
	case code.Filter:
		return code.TruthOf(s.filterHolds(e, m, f))
	}
	return code.False
}

// filterHolds reports whether a filter matches the field of a file that it is about; branch:
// matches if one of the refs does.
func (s *naiveSearch) filterHolds(e code.Filter, m code.Manifest, f naiveFile) bool {
	matches := s.filters[e]
	switch e.Field {
	case code.FieldRepo:
		return matches(m.Repo)
	case code.FieldFile:
		return matches(f.Path)
	case code.FieldLang:
		return matches(code.FileLang(f.Path, f.blob.BlobInfo))
	}
	return slices.ContainsFunc(f.refs, func(r code.Ref) bool { return matches(r.Name) })
}

// linesOf splits content at line feeds; what follows the last one is a line if it is not empty.
func linesOf(content []byte) [][]byte {
	lines := bytes.Split(content, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// findContent adds the places of p in content to found, by line. A match of several lines adds
// its part in each.
func (s *naiveSearch) findContent(p code.Pattern, content []byte, found map[int][]code.Range) {
	re, lines := s.regexps[p], linesOf(content)
	if !p.Multiline() {
		for i, line := range lines {
			for _, at := range re.FindAllIndex(line, -1) {
				found[i+1] = append(found[i+1], trim(p, line, code.Range{Start: at[0], End: at[1]}))
			}
		}
		return
	}
	for _, at := range re.FindAllIndex(content, -1) {
		start := 0
		for i, line := range lines {
			end := start + len(line)
			// An empty match touches the line that it is in; others touch each line
			// that shares a byte with them, its line feed included.
			if at[0] <= end && (at[1] > start || at[0] == at[1] && at[0] >= start) {
				found[i+1] = append(found[i+1], trim(p, line, code.Range{Start: max(at[0], start) - start, End: min(at[1], end) - start}))
			}
			start = end + 1
		}
	}
}

// trim returns a range without the characters that ^ and $ of a regular expression take.
func trim(p code.Pattern, line []byte, r code.Range) code.Range {
	if p.Regexp && strings.ContainsAny(p.Source, "^$") {
		return code.TrimEdges(line, r)
	}
	return r
}

// findSymbols adds the places of the symbols whose names match p to found, by line; an empty range
// if the line does not have the name. PutBlobs kept only symbols of lines that the blob has.
func (s *naiveSearch) findSymbols(p code.Pattern, b code.Blob, found map[int][]code.Range) {
	lines := linesOf(b.Content)
	for _, x := range b.Symbols {
		if !s.regexps[p].MatchString(x.Name) {
			continue
		}
		r := code.Range{}
		if at := bytes.Index(lines[x.Line-1], []byte(x.Name)); at >= 0 {
			r = code.Range{Start: at, End: at + len(x.Name)}
		}
		found[x.Line] = append(found[x.Line], r)
	}
}

// match returns the match of a line of f, or of the file if line is 0. Its commit is the first
// ref's; its branch is empty if all refs of the repository have the file.
func (s *naiveSearch) match(m code.Manifest, f naiveFile, line int, ranges []code.Range) code.Match {
	match := code.Match{RepoID: m.RepoID, Repo: m.Repo, Commit: f.refs[0].Commit, Path: f.Path, OID: f.OID, Lang: code.FileLang(f.Path, f.blob.BlobInfo), Line: line}
	var newest time.Time
	for _, r := range f.refs {
		match.Refs = append(match.Refs, r.Name)
		if r.Time.After(newest) {
			newest = r.Time
		}
	}
	if len(f.refs) < len(m.Refs) {
		match.Branch = f.refs[0].Name
	}
	match.Score = code.FileScore(f.Path, s.words, f.blob.Generated, f.Vendored, newest)
	if line == 0 {
		return match
	}
	lines := linesOf(f.blob.Content)
	var symbols []code.Symbol
	for _, x := range f.blob.Symbols {
		if x.Line == line {
			symbols = append(symbols, x)
		}
	}
	score, symbol := code.LineScore(lines[line-1], ranges, symbols)
	match.Score, match.Symbol = match.Score+score, symbol
	match.Text, match.Column, match.Ranges = code.Excerpt(lines[line-1], code.JoinRanges(ranges))
	n := min(s.options.Context, code.MaxContext)
	match.Before = excerpts(lines[max(0, line-1-n) : line-1])
	match.After = excerpts(lines[line:min(len(lines), line+n)])
	return match
}

// excerpts returns lines as a match shows them, cut to their maximum.
func excerpts(lines [][]byte) (texts []string) {
	for _, line := range lines {
		text, _, _ := code.Excerpt(line, nil)
		texts = append(texts, text)
	}
	return texts
}

// deliver visits the best matches, then the others by repository, path and line. It stops at the
// limit, and when visit returns false; both are StoppedLimit.
func (s *naiveSearch) deliver(visit func(code.Match) bool) {
	byPlace := func(a, b code.Match) int {
		return cmp.Or(strings.Compare(a.Repo, b.Repo), strings.Compare(a.RepoID, b.RepoID), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.OID, b.OID))
	}
	slices.SortFunc(s.matches, func(a, b code.Match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), byPlace(a, b)) })
	slices.SortFunc(s.matches[min(code.RankedMatches, len(s.matches)):], byPlace)
	files := map[[3]string]bool{}
	for _, m := range s.matches {
		if s.options.Limit > 0 && s.stats.Matches == s.options.Limit {
			s.stats.Stopped = code.StoppedLimit
			break
		}
		s.stats.Matches++
		files[[3]string{m.RepoID, m.Path, string(m.OID)}] = true
		if !visit(m) {
			s.stats.Stopped = code.StoppedLimit
			break
		}
	}
	s.stats.Files = len(files)
}
