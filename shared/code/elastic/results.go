package elastic

import (
	"cmp"
	"slices"

	"leasehold/shared/code"
)

// Limits of the window of matches that are ranked. It is full when it has rankedLines, or
// code.RankedMatches and rankedBytes of text were read, so that the first matches come
// soon. All later matches are delivered as they are found.
const (
	rankedLines = 1024
	rankedBytes = 8 << 20
	matchBytes  = 300 // about the memory of a match without texts and ranges
	rangeBytes  = 16
)

// results ranks and delivers the matches of a search.
type results struct {
	search          *search
	visit           func(code.Match) bool
	window          []code.Match     // not delivered yet
	kept            int64            // bytes of window
	windowDelivered bool             // the best ones were delivered
	files           map[fileKey]bool // with a match of the window that was visited
	lastFile        fileKey          // of the match that was visited last
}

// fileKey identifies a file of a generation.
type fileKey struct {
	repo, path string
	oid        code.OID
}

// addMatch adds a match to the window, or delivers it if the window was delivered. The window
// keeps the first matches until there are enough to choose the best ones from; it is delivered
// when it is large, or has enough after rankedBytes of text. The error is errStop if a limit is
// reached, or more than MaxBytes are kept.
func (r *results) addMatch(m code.Match) error {
	if r.windowDelivered {
		return r.deliverOne(m)
	}
	r.window = append(r.window, m)
	r.kept += matchBytes + int64(len(m.Text)) + rangeBytes*int64(len(m.Ranges))
	for _, text := range slices.Concat(m.Before, m.After) {
		r.kept += int64(len(text))
	}
	switch {
	case r.kept > r.search.options.MaxBytes:
		return r.search.stop(code.StoppedMemory)
	case len(r.window) >= rankedLines, len(r.window) >= code.RankedMatches && r.search.stats.BytesScanned >= rankedBytes:
		return r.deliverWindow()
	}
	return nil
}

// deliverWindow delivers the matches of the window: the RankedMatches with the highest scores, then
// the others in the order in which they were found. A second call does nothing.
func (r *results) deliverWindow() error {
	if r.windowDelivered {
		return nil
	}
	r.windowDelivered = true
	r.files = map[fileKey]bool{}
	order := make([]int, len(r.window))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.window[b].Score, r.window[a].Score) })
	slices.Sort(order[min(len(order), code.RankedMatches):]) // back to the order of finding
	for _, i := range order {
		if err := r.deliverOne(r.window[i]); err != nil {
			return err
		}
	}
	r.window, r.kept = nil, 0
	return nil
}

// deliverOne visits a match. The error is errStop if the search ends: because of the limit,
// because visit returned false, or because its time ended.
func (r *results) deliverOne(m code.Match) error {
	s := r.search
	if s.options.Limit > 0 && s.stats.Matches == s.options.Limit {
		return s.stop(code.StoppedLimit)
	}
	// Files of the window come in the order of scores, and all others file by file.
	if key := (fileKey{m.RepoID, m.Path, m.OID}); key != r.lastFile && !r.files[key] {
		s.stats.Files++
		r.lastFile = key
		if r.window != nil {
			r.files[key] = true
		}
	}
	s.stats.Matches++
	if !r.visit(m) {
		return s.stop(code.StoppedLimit)
	}
	// A search whose time has ended still delivers its best matches, but no more.
	if s.stats.Matches > code.RankedMatches && s.ctx.Err() != nil {
		return s.stop(code.StoppedTime)
	}
	return nil
}
