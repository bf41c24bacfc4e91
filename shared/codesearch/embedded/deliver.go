package embedded

import (
	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/match"
)

// deliver visits the matches of f by place and line. known tells which were delivered
// already, and which files were counted; it may be nil.
func (r *results) deliver(f *found, known func(place, line int) (delivered, counted bool)) error {
	for i := range f.places {
		counted := false
		for line := range max(1, len(f.hits)) {
			if known != nil {
				delivered, of := known(i, line)
				if counted = counted || of; delivered {
					continue
				}
			}
			if !counted && r.within() {
				r.search.stats.Files++
				counted = true
			}
			if err := r.one(f, i, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// within reports whether one more match may be visited.
func (r *results) within() bool {
	return r.search.options.Limit <= 0 || r.search.stats.Matches < r.search.options.Limit
}

// one visits a match.
func (r *results) one(f *found, place, line int) error {
	if !r.within() {
		return r.search.stop(codesearch.StoppedLimit)
	}
	m, err := r.match(f, f.places[place], line)
	if err != nil {
		return err
	}
	r.search.stats.Matches++
	if !r.visit(m) {
		return r.search.stop(codesearch.StoppedLimit)
	}
	// A search whose time has ended still delivers its best matches, but no more.
	if r.search.stats.Matches > codesearch.RankedMatches && r.search.ctx.Err() != nil {
		return r.search.stop(codesearch.StoppedTime)
	}
	return nil
}

// baseOf returns the match of a file without a line.
func (r *results) baseOf(f *found, at place) codesearch.Match {
	if r.baseIn == f.part && r.baseAt == at {
		return r.base
	}
	g := r.search.view.repos[at.repo]
	i := int(at.file)
	m := codesearch.Match{RepoID: g.repoID, Repo: g.repo, Path: string(g.path(i)), OID: g.oid(i), Lang: f.Lang(f.blob), Score: r.fileScore(f, at)}
	g.refsOf(i, func(ref codesearch.Ref) {
		if len(m.Refs) == 0 {
			m.Commit = ref.Commit
		}
		m.Refs = append(m.Refs, ref.Name)
	})
	if len(m.Refs) < len(g.refs) {
		m.Branch = m.Refs[0]
	}
	r.base, r.baseIn, r.baseAt = m, f.part, at
	return m
}

// match makes the match of a line of f in one place. Matches of one file share Refs.
func (r *results) match(f *found, at place, line int) (codesearch.Match, error) {
	m := r.baseOf(f, at)
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
	score, symbol := codesearch.LineScore(content, ranges, f.symbolsOf(h.line))
	m.Line, m.Score, m.Symbol = int(h.line), m.Score+score, symbol
	m.Text, m.Column, m.Ranges = codesearch.Excerpt(content, ranges)
	m.Before, m.After = match.Context(text, int(h.start), int(h.end), r.search.options.Context)
	return m, nil
}

// symbolsOf returns the symbols that a line defines.
func (f *found) symbolsOf(line uint32) (all []codesearch.Symbol) {
	f.Symbols(f.blob, func(at int, read func() codesearch.Symbol) bool {
		if at == int(line) {
			all = append(all, read())
		}
		return at <= int(line)
	})
	return all
}
