package embedded

import (
	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// deliverBest visits the best matches, in their order.
func (r *results) deliverBest() error {
	r.done, r.files = map[rankedPlace]bool{}, map[place]bool{}
	for _, b := range r.best.Items {
		if !r.files[b.at] && r.withinLimit() {
			r.search.stats.Files++
			r.files[b.at] = true
		}
		if err := r.deliverOne(b.found, 0, 0); err != nil {
			return err
		}
		r.done[b.rankedPlace] = true
	}
	return nil
}

// deliverRest visits the other matches in the order of segments and blobs. It searches the blobs
// that ranking has not searched or not kept, unless the search was stopped.
func (s *search) deliverRest() error {
	for n, p := range s.view.parts {
		if s.parts[n] == nil && s.stats.Stopped != "" {
			continue
		}
		ps := s.candidatesIn(n)
		for blob := range ps.candidates.each(p.Blobs()) {
			f, known := s.searched[blobKey{n, blob}]
			if !known && s.stats.Stopped == "" {
				var err error
				if f, err = s.searchBlob(ps, blob); err != nil {
					return err
				}
			}
			if f == nil {
				continue
			}
			if err := s.deliver(f); err != nil {
				return err
			}
		}
		if err := s.countSkipped(p); err != nil {
			return err
		}
	}
	return nil
}

// deliver visits the matches of f in the order of places and lines, except those that deliverBest
// has visited. A file counts in Stats.Files when its first match is visited.
func (r *results) deliver(f *found) error {
	for i, at := range f.places {
		counted := r.files[at]
		for line := range max(1, len(f.hits)) { // a file without lines is one match
			if r.done[rankedPlace{at, f.lineOf(line)}] {
				continue
			}
			if !counted && r.withinLimit() {
				r.search.stats.Files++
				counted = true
			}
			if err := r.deliverOne(f, i, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// withinLimit reports whether Options.Limit permits one more match; 0 permits all.
func (r *results) withinLimit() bool {
	return r.search.options.Limit <= 0 || r.search.stats.Matches < r.search.options.Limit
}

// deliverOne visits the match in one line of f at one place. The error is errStop if the search
// ends because of the limit, because visit returned false, or because its time ended. A search
// whose time has ended still delivers its best matches, but no more.
func (r *results) deliverOne(f *found, place, line int) error {
	if !r.withinLimit() {
		return r.search.stop(code.StoppedLimit)
	}
	m, err := r.match(f, f.places[place], line)
	if err != nil {
		return err
	}
	r.search.stats.Matches++
	if !r.visit(m) {
		return r.search.stop(code.StoppedLimit)
	}
	if r.search.stats.Matches > code.RankedMatches && r.search.ctx.Err() != nil {
		return r.search.stop(code.StoppedTime)
	}
	return nil
}

// fileMatch returns the match of the file at a place, without the fields of a line. Branch is set
// if only some refs of the repository have this content there (code.Match). It keeps the
// last match, because those of a file are delivered one after the other; so callers must not
// change Refs.
func (r *results) fileMatch(f *found, at place) code.Match {
	if r.baseIn == f.part && r.baseAt == at {
		return r.base
	}
	g := r.search.view.repos[at.repo]
	i := int(at.file)
	m := code.Match{RepoID: g.repoID, Repo: g.repo, Path: string(g.path(i)), OID: g.oid(i), Lang: f.langOf(f.blob, g.path(i)), Score: r.fileScore(f.partSearch, f.blob, at)}
	g.refsOf(i, func(ref code.Ref) {
		if len(m.Refs) == 0 {
			m.Commit = ref.Commit
		}
		m.Refs = append(m.Refs, ref.Name)
	})
	if len(m.Refs) < len(g.refs) {
		m.Branch = m.Refs[0] // each file has a ref: generation.checkFiles
	}
	r.base, r.baseIn, r.baseAt = m, f.part, at
	return m
}

// match returns the match in f.hits[line] at one place, or the match of the whole file if f has no
// lines. Matches of one file share Refs.
func (r *results) match(f *found, at place, line int) (code.Match, error) {
	m := r.fileMatch(f, at)
	if len(f.hits) == 0 {
		return m, nil
	}
	text, err := r.textOf(f)
	if err != nil {
		return m, err
	}
	h := f.hits[line]
	content := text[h.start:h.end]
	ranges := r.ranges(f, h, content)
	score, symbol := code.LineScore(content, ranges, f.symbolsOf(h.line))
	m.Line, m.Score, m.Symbol = int(h.line), m.Score+score, symbol
	m.Text, m.Column, m.Ranges = code.Excerpt(content, code.JoinRanges(ranges))
	m.Before, m.After = match.Context(text, int(h.start), int(h.end), r.search.options.Context)
	return m, nil
}

// symbolsOf returns the symbols that a line defines. Symbols are ordered by line, so it stops
// reading behind that line.
func (f *found) symbolsOf(line uint32) (all []code.Symbol) {
	f.Symbols(f.blob, func(at int, read func() code.Symbol) bool {
		if at == int(line) {
			all = append(all, read())
		}
		return at <= int(line)
	})
	return all
}
