package elastic

import (
	"cmp"
	"slices"

	"leasehold/shared/codesearch"
)

// Which matches are ranked: those that are found until there are rankedLines, or enough of
// them after rankedBytes of text were read, so that the first ones come soon. All others
// follow as they are found.
const (
	rankedLines = 1024
	rankedBytes = 8 << 20
)

// results ranks and delivers the matches of a search.
type results struct {
	search *search
	visit  func(codesearch.Match) bool
	window []codesearch.Match // not delivered yet
	kept   int64              // bytes of window
	closed bool               // the best ones were delivered
	files  map[fileKey]bool   // with a match of the window that was visited
	last   fileKey            // of the match that was visited last
}

// fileKey identifies a file of a generation.
type fileKey struct {
	repo, path string
	oid        codesearch.OID
}

// add adds a match.
func (r *results) add(m codesearch.Match) error {
	if r.closed {
		return r.one(m)
	}
	r.window = append(r.window, m)
	r.kept += 300 + int64(len(m.Text)) + 16*int64(len(m.Ranges))
	for _, text := range slices.Concat(m.Before, m.After) {
		r.kept += int64(len(text))
	}
	switch {
	case r.kept > r.search.options.MaxBytes:
		return r.search.stop(codesearch.StoppedMemory)
	case len(r.window) >= rankedLines, len(r.window) >= codesearch.RankedMatches && r.search.stats.BytesScanned >= rankedBytes:
		return r.finish()
	}
	return nil
}

// finish delivers the window: the best matches, then the others.
func (r *results) finish() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.files = map[fileKey]bool{}
	order := make([]int, len(r.window))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.window[b].Score, r.window[a].Score) })
	slices.Sort(order[min(len(order), codesearch.RankedMatches):])
	for _, i := range order {
		if err := r.one(r.window[i]); err != nil {
			return err
		}
	}
	r.window, r.kept = nil, 0
	return nil
}

// one visits a match.
func (r *results) one(m codesearch.Match) error {
	s := r.search
	if s.options.Limit > 0 && s.stats.Matches == s.options.Limit {
		return s.stop(codesearch.StoppedLimit)
	}
	// Files of the window come in the order of scores, and all others file by file.
	if key := (fileKey{m.RepoID, m.Path, m.OID}); key != r.last && !r.files[key] {
		s.stats.Files++
		r.last = key
		if r.window != nil {
			r.files[key] = true
		}
	}
	s.stats.Matches++
	if !r.visit(m) {
		return s.stop(codesearch.StoppedLimit)
	}
	// A search whose time has ended still delivers its best matches, but no more.
	if s.stats.Matches > codesearch.RankedMatches && s.ctx.Err() != nil {
		return s.stop(codesearch.StoppedTime)
	}
	return nil
}
