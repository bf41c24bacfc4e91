package elastic

import (
	"bytes"
	"context"
	"slices"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/match"
)

// read is a blob with its text.
type read struct {
	*candidate
	blob
	text   []byte
	values map[codesearch.Expr]codesearch.Truth // of the leaves that need the text
	hits   map[codesearch.Expr][]hit            // of the same, by line
}

// hit is a matching line of a text.
type hit struct {
	line, start, end int                // line is counted from 1; the place is without the line feed
	ranges           []codesearch.Range // if they are not found by searching the line again
}

// hitBytes is about the memory of a hit.
const hitBytes = 56

// verify searches candidates, whose texts are read in groups.
func (s *search) verify(all []*candidate) error {
	for len(all) > 0 {
		n, size := 0, int64(0)
		for n < len(all) && (n == 0 || size+all[n].Size <= textsAtOnce) {
			size += all[n].Size
			n++
		}
		if err := s.verifyGroup(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func (s *search) verifyGroup(group []*candidate) error {
	fields := "info"
	if s.reads {
		fields = "info,text,raw,symbols"
	}
	ids := make([]codesearch.OID, len(group))
	for i, c := range group {
		ids[i] = c.OID
	}
	i := 0
	return s.index.blobs(s.ctx, ids, fields, func(_ codesearch.OID, b *blob) error {
		r := &read{candidate: group[i], values: map[codesearch.Expr]codesearch.Truth{}, hits: map[codesearch.Expr][]hit{}}
		i++
		if b == nil {
			s.stats.Skipped[codesearch.SkipLost] += len(r.places)
			r.Skipped, r.Info.Skipped = codesearch.SkipLost, codesearch.SkipLost
		} else {
			r.blob, r.text = *b, b.content()
		}
		return s.blob(r)
	})
}

// blob evaluates the query for each place of a blob, and adds what matches to the results.
func (s *search) blob(r *read) error {
	var failed error
	for _, f := range r.places {
		leaf := func(e codesearch.Expr) codesearch.Truth {
			if s.matchers[e] == nil || isFilter(e) {
				return s.ofFile(e, f)
			}
			if _, ok := r.values[e]; !ok && failed == nil {
				r.values[e], failed = s.ofText(e, r)
			}
			return r.values[e]
		}
		if codesearch.Evaluate(s.Root, leaf) != codesearch.True || failed != nil {
			if failed != nil {
				return failed
			}
			continue
		}
		var shown []codesearch.Expr
		codesearch.Shown(s.Root, leaf, func(e codesearch.Expr) { shown = append(shown, e) })
		if failed != nil {
			return failed
		}
		if err := s.place(r, f, shown); err != nil {
			return err
		}
	}
	return nil
}

func isFilter(e codesearch.Expr) bool {
	_, ok := e.(codesearch.Filter)
	return ok
}

// ofText evaluates a leaf for a blob, and collects its hits.
func (s *search) ofText(e codesearch.Expr, r *read) (codesearch.Truth, error) {
	if r.Info.Skipped != "" {
		return codesearch.Unknown, nil
	}
	m := s.matchers[e]
	var hits []hit
	add := func(line, start, end int, at codesearch.Range) {
		if n := len(hits); n > 0 && hits[n-1].line == line {
			hits[n-1].ranges = append(hits[n-1].ranges, at)
			return
		}
		hits = append(hits, hit{line, start, end, []codesearch.Range{at}})
	}
	_, isSymbol := e.(codesearch.Sym)
	switch {
	case isSymbol:
		s.symbols(m, r, add)
	case m.Multiline():
		m.SpanLines(s.ctx, r.text, add)
	default:
		line, counted := 1, 0
		m.Lines(s.ctx, r.text, &s.scratch, func(start, end int) bool {
			line += bytes.Count(r.text[counted:start], []byte("\n"))
			counted = start
			hits = append(hits, hit{line: line, start: start, end: end})
			return int64(len(hits))*hitBytes <= s.options.MaxBytes
		})
	}
	r.hits[e] = hits
	s.stats.BytesScanned += int64(len(r.text))
	if s.ctx.Err() != nil {
		return codesearch.Unknown, context.Cause(s.ctx)
	}
	if s.kept+int64(len(hits))*hitBytes > s.options.MaxBytes {
		return codesearch.Unknown, s.stop(codesearch.StoppedMemory)
	}
	return codesearch.TruthOf(len(hits) > 0), nil
}

// symbols calls add for the lines that define symbols whose names match.
func (s *search) symbols(m *match.Matcher, r *read, add func(line, start, end int, at codesearch.Range)) {
	walk := match.Walk{Text: r.text}
	for _, x := range r.Symbols {
		if !m.MatchName([]byte(x.Name)) {
			continue
		}
		start, end, ok := walk.To(x.Line)
		if !ok {
			continue
		}
		at := codesearch.Range{}
		if i := bytes.Index(r.text[start:end], []byte(x.Name)); i >= 0 {
			at = codesearch.Range{Start: i, End: i + len(x.Name)}
		}
		add(x.Line, start, end, at)
	}
}

// place adds the matches of a blob in one place.
func (s *search) place(r *read, f *file, shown []codesearch.Expr) error {
	base := s.match(r, f)
	if len(shown) == 0 {
		return s.add(base)
	}
	var hits []hit
	for _, e := range shown {
		hits = append(hits, r.hits[e]...)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.line - b.line })
	at := 0 // in the symbols
	for i := 0; i < len(hits); {
		h := hits[i]
		h.ranges = slices.Clone(h.ranges)
		for i++; i < len(hits) && hits[i].line == h.line; i++ {
			h.ranges = append(h.ranges, hits[i].ranges...)
		}
		line := r.text[h.start:h.end]
		for _, e := range shown {
			if _, ok := e.(codesearch.Content); ok && !s.matchers[e].Multiline() {
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
		if err := s.add(s.line(base, r.text, h, r.Symbols[at:to])); err != nil {
			return err
		}
	}
	return nil
}

// match returns the match of a file without a line.
func (s *search) match(r *read, f *file) codesearch.Match {
	g := s.shown[f.Generation]
	refs := g.refsOf(f)
	m := codesearch.Match{RepoID: g.RepoID, Repo: g.Repo, Path: string(f.Place.Path), OID: f.OID, Lang: f.Language,
		Score: codesearch.FileScore(string(f.Place.Path), s.words, f.Place.Info.Generated, f.Vendored, newest(refs))}
	for i, ref := range refs {
		if m.Refs = append(m.Refs, ref.Name); i == 0 {
			m.Commit = ref.Commit
		}
	}
	if len(refs) > 0 && len(refs) < len(g.Refs) {
		m.Branch = refs[0].Name
	}
	return m
}

// line returns the match of a line of a file.
func (s *search) line(m codesearch.Match, text []byte, h hit, symbols []codesearch.Symbol) codesearch.Match {
	content := text[h.start:h.end]
	ranges := codesearch.JoinRanges(h.ranges)
	score, symbol := codesearch.LineScore(content, ranges, symbols)
	if m.Line, m.Score = h.line, m.Score+score; symbol != nil {
		found := *symbol // so that a match does not keep all symbols in memory
		m.Symbol = &found
	}
	m.Text, m.Column, m.Ranges = codesearch.Excerpt(content, ranges)
	m.Before, m.After = match.Context(text, h.start, h.end, s.options.Context)
	return m
}
