package elastic

import (
	"bytes"
	"context"
	"slices"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// readBlob is a candidate with its blob as it was read.
type readBlob struct {
	*candidate
	blob
	text   []byte
	values map[code.Expr]code.Truth // of the leaves that need the text
	hits   map[code.Expr][]hit      // of the same leaves, ordered by line
}

// hit is a matching line of a text.
type hit struct {
	line, start, end int          // line is counted from 1; the place is without the line feed
	ranges           []code.Range // of symbols and multiline patterns; others are searched again in the line
}

// hitBytes is about the memory of a hit.
const hitBytes = 56

// group is candidates whose blobs are read in one request.
type group struct {
	candidates []*candidate
	blobs      []*blob // in the order of candidates; nil for each that the server has lost
	err        error   // of reading
}

// verify evaluates the query for candidates, and adds their matches to the results. While one group is
// evaluated, the next one is read, so the texts of two groups are in memory.
func (s *search) verify(all []*candidate) error {
	ctx, cancel := context.WithCancel(s.ctx)
	read := make(chan group)
	go func() {
		defer close(read)
		for candidates := range inGroups(all, func(c *candidate) int64 { return c.Size }) {
			g := s.readGroup(ctx, candidates)
			select {
			case read <- g:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		cancel()
		for range read { // until the goroutine has ended
		}
	}()
	for g := range read {
		if g.err != nil {
			return g.err
		}
		if err := s.evaluateGroup(g); err != nil {
			return err
		}
	}
	return context.Cause(s.ctx)
}

// readGroup reads the blobs of a group in one request: whole documents, which a server need not parse.
func (s *search) readGroup(ctx context.Context, candidates []*candidate) group {
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = string(c.OID)
	}
	fields := "info"
	if s.readsText {
		fields = wholeDocument
	}
	found, err := readMany[blob](ctx, s.index, blobs, ids, fields)
	return group{candidates, found, err}
}

// evaluateGroup evaluates the query for each blob of a group. A blob that the server has lost counts as
// skipped.
func (s *search) evaluateGroup(g group) error {
	for i, b := range g.blobs {
		r := &readBlob{candidate: g.candidates[i], values: map[code.Expr]code.Truth{}, hits: map[code.Expr][]hit{}}
		if b == nil {
			for _, f := range r.places {
				if s.generationOf(f).home() == s.now.home { // others were counted as a whole
					s.stats.Skipped[code.SkipLost]++
				}
			}
			r.Skipped, r.Info.Skipped = code.SkipLost, code.SkipLost
		} else {
			r.blob, r.text = *b, b.content()
		}
		r.searched = !s.delivering
		if err := s.evaluateBlob(r); err != nil {
			return err
		}
		g.blobs[i] = nil // its memory is free before that of the group
	}
	return nil
}

// evaluateBlob evaluates the query for each place of a blob, and adds the matches to the results.
// Leaves that need the text are evaluated once for all places. Evaluate cannot return an error,
// so leaf keeps it in failed, and it is checked before the value is used.
func (s *search) evaluateBlob(r *readBlob) error {
	var failed error
	for _, f := range r.places {
		leaf := func(e code.Expr) code.Truth {
			if s.matchers[e] == nil || isAboutFile(e) {
				return s.evaluateForFile(e, f)
			}
			if _, ok := r.values[e]; !ok && failed == nil {
				r.values[e], failed = s.evaluateForText(e, r)
			}
			return r.values[e]
		}
		truth := code.Evaluate(s.Root, leaf)
		if failed != nil {
			return failed
		}
		if truth != code.True {
			continue
		}
		var shown []code.Expr
		code.Shown(s.Root, leaf, func(e code.Expr) { shown = append(shown, e) })
		if failed != nil {
			return failed
		}
		if err := s.addMatches(r, f, shown); err != nil {
			return err
		}
	}
	return nil
}

// isAboutFile reports whether a leaf with a matcher is compared with the path of a file.
func isAboutFile(e code.Expr) bool {
	switch e.(type) {
	case code.Filter, code.Path:
		return true
	}
	return false
}

// evaluateForText returns whether a leaf holds for the text or symbols of a blob, and keeps its
// hits in r. It is Unknown for a skipped blob. The error is errStop if the hits take too much
// memory, or the cause of ctx if the time ended.
func (s *search) evaluateForText(e code.Expr, r *readBlob) (code.Truth, error) {
	if r.Info.Skipped != "" {
		return code.Unknown, nil
	}
	m := s.matchers[e]
	var hits []hit
	add := func(line, start, end int, at code.Range) {
		if n := len(hits); n > 0 && hits[n-1].line == line {
			hits[n-1].ranges = append(hits[n-1].ranges, at)
			return
		}
		hits = append(hits, hit{line, start, end, []code.Range{at}})
	}
	_, isSymbol := e.(code.Sym)
	switch {
	case isSymbol:
		s.eachSymbolHit(m, r, add)
	case m.Multiline():
		m.SpanLines(s.ctx, r.text, add)
	default:
		hits = s.lineHits(m, r.text)
	}
	r.hits[e] = hits
	s.stats.BytesScanned += int64(len(r.text))
	if s.ctx.Err() != nil {
		return code.Unknown, context.Cause(s.ctx)
	}
	if s.kept+int64(len(hits))*hitBytes > s.options.MaxBytes {
		return code.Unknown, s.stop(code.StoppedMemory)
	}
	return code.TruthOf(len(hits) > 0), nil
}

// lineHits returns a hit without ranges for each line of text that matches; addMatches finds the
// ranges. It stops once the hits take more than MaxBytes.
func (s *search) lineHits(m *match.Matcher, text []byte) (hits []hit) {
	line, counted := 1, 0 // the number of the line that begins at counted
	m.Lines(s.ctx, text, &s.scratch, func(start, end int) bool {
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		hits = append(hits, hit{line: line, start: start, end: end})
		return int64(len(hits))*hitBytes <= s.options.MaxBytes
	})
	return hits
}

// eachSymbolHit calls add for the lines that define symbols whose names match, with the range of
// the name; an empty range if the line does not have it. A symbol of a line that the blob does not
// have is left out.
func (s *search) eachSymbolHit(m *match.Matcher, r *readBlob, add func(line, start, end int, at code.Range)) {
	walk := match.Walk{Text: r.text}
	for _, x := range r.Symbols {
		if !m.MatchName([]byte(x.Name)) {
			continue
		}
		start, end, ok := walk.To(x.Line)
		if !ok {
			continue
		}
		at := code.Range{}
		if i := bytes.Index(r.text[start:end], []byte(x.Name)); i >= 0 {
			at = code.Range{Start: i, End: i + len(x.Name)}
		}
		add(x.Line, start, end, at)
	}
}

// addMatches adds the matches of a blob in one place: one for each line in which a shown leaf has
// hits, or one for the file if no leaf is shown, because it matches by its filters only. Hits and
// symbols are ordered by line, so both are read once.
func (s *search) addMatches(r *readBlob, f *file, shown []code.Expr) error {
	base := s.fileMatch(r, f)
	if len(shown) == 0 {
		return s.addMatch(r.candidate, base)
	}
	var hits []hit
	for _, e := range shown {
		hits = append(hits, r.hits[e]...)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.line - b.line })
	at := 0 // the first symbol on the line or after it
	for i := 0; i < len(hits); {
		h := hits[i]
		h.ranges = slices.Clone(h.ranges)
		for i++; i < len(hits) && hits[i].line == h.line; i++ {
			h.ranges = append(h.ranges, hits[i].ranges...)
		}
		line := r.text[h.start:h.end]
		for _, e := range shown {
			if _, ok := e.(code.Content); ok && !s.matchers[e].Multiline() {
				h.ranges = append(h.ranges, s.matchers[e].Ranges(line)...)
			}
		}
		for at < len(r.Symbols) && r.Symbols[at].Line < h.line {
			at++
		}
		to := at
		for to < len(r.Symbols) && r.Symbols[to].Line == h.line {
			to++
		}
		if err := s.addMatch(r.candidate, s.lineMatch(base, r.text, h, r.Symbols[at:to])); err != nil {
			return err
		}
	}
	return nil
}

// fileMatch returns the match of a file, without the fields of a line. It has the commit of the
// file's first ref; its branch is empty if all refs have the file.
func (s *search) fileMatch(r *readBlob, f *file) code.Match {
	g := s.generationOf(f)
	refs := g.refsOf(f)
	m := code.Match{RepoID: g.RepoID, Repo: g.Repo, Path: string(f.Place.Path), OID: f.OID, Lang: f.Language,
		Score: code.FileScore(string(f.Place.Path), s.words, f.Place.Info.Generated, f.Vendored, newestCommit(refs))}
	for i, ref := range refs {
		m.Refs = append(m.Refs, ref.Name)
		if i == 0 {
			m.Commit = ref.Commit
		}
	}
	if len(refs) > 0 && len(refs) < len(g.Refs) {
		m.Branch = refs[0].Name
	}
	return m
}

// lineMatch returns m, the match of a file, with the fields of the line of h in text; symbols come
// from the line. The symbol is a copy, so that a match does not keep all of them in memory.
func (s *search) lineMatch(m code.Match, text []byte, h hit, symbols []code.Symbol) code.Match {
	content := text[h.start:h.end]
	score, symbol := code.LineScore(content, h.ranges, symbols)
	m.Line, m.Score = h.line, m.Score+score
	if symbol != nil {
		found := *symbol
		m.Symbol = &found
	}
	m.Text, m.Column, m.Ranges = code.Excerpt(content, code.JoinRanges(h.ranges))
	m.Before, m.After = match.Context(text, h.start, h.end, s.options.Context)
	return m
}
