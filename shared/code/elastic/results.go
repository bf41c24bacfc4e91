package elastic

import (
	"slices"

	"leasehold/shared/code"
)

// About the memory of a match.
const (
	matchBytes = 300 // without texts and ranges
	rangeBytes = 16
)

// results ranks and delivers the matches of a search.
type results struct {
	search     *search
	visit      func(code.Match) bool
	join       *join        // the candidates that are not in candidates; nil if there are none
	candidates []*candidate // in the order of object ids, first those that join finds by text
	best       code.Best[code.Match]
	ranked     int               // matches that were compared with the best
	kept       int64             // bytes of the matches of candidates
	delivering bool              // matches are delivered as they are found
	done       map[matchKey]bool // matches that deliverBest has visited
	files      map[fileKey]bool  // with a match of done
	lastFile   fileKey           // of the match that was visited last
}

// fileKey identifies a file of a generation.
type fileKey struct {
	repo, path string
	oid        code.OID
}

// matchKey identifies a match.
type matchKey struct {
	fileKey
	line int
}

func keyOf(m code.Match) matchKey { return matchKey{fileKey{m.RepoID, m.Path, m.OID}, m.Line} }

// addMatch compares a match of a candidate with the best ones and keeps it, if half of the search's
// memory suffices for all that are kept; else the candidate is searched again to deliver them. While
// delivering it delivers the match, unless that was one of the best.
func (r *results) addMatch(c *candidate, m code.Match) error {
	if r.delivering {
		return r.deliverRanked(m)
	}
	r.ranked++
	r.best.Add(m)
	if !c.searched {
		return nil
	}
	if r.kept += bytesOf(m); r.kept <= r.search.options.MaxBytes/2 {
		c.matches = append(c.matches, m)
		return nil
	}
	for _, m := range append(c.matches, m) {
		r.kept -= bytesOf(m)
	}
	c.searched, c.matches = false, nil
	return nil
}

// bytesOf returns about the memory of a match.
func bytesOf(m code.Match) int64 {
	bytes := matchBytes + int64(len(m.Text)) + rangeBytes*int64(len(m.Ranges))
	for _, text := range slices.Concat(m.Before, m.After) {
		bytes += int64(len(text))
	}
	return bytes
}

// deliver delivers the matches: the best ones in their order, then those that ranking has kept, then
// the others as they are found, unless the search was stopped.
func (s *search) deliver() error {
	if err := s.deliverBest(); err != nil {
		return err
	}
	var others []*candidate
	for _, c := range s.candidates {
		if !c.searched {
			others = append(others, c)
		}
		for _, m := range c.matches {
			if err := s.deliverRanked(m); err != nil {
				return err
			}
		}
	}
	if s.stats.Stopped != "" {
		return errStop
	}
	s.delivering = true
	for {
		if err := s.verify(others); err != nil {
			return err
		}
		var err error
		if others, err = s.nextOf(&s.join); err != nil || others == nil {
			return err
		}
	}
}

// deliverBest visits the best matches, in their order.
func (r *results) deliverBest() error {
	r.done, r.files = map[matchKey]bool{}, map[fileKey]bool{}
	for _, m := range r.best.Items {
		if err := r.deliverOne(m); err != nil {
			return err
		}
		r.done[keyOf(m)], r.files[keyOf(m).fileKey] = true, true
	}
	return nil
}

// deliverRanked visits a match unless deliverBest has visited it.
func (r *results) deliverRanked(m code.Match) error {
	if r.done[keyOf(m)] {
		return nil
	}
	return r.deliverOne(m)
}

// deliverOne visits a match. The error is errStop if the search ends: because of the limit,
// because visit returned false, or because its time ended. Behind the best matches they come file by
// file.
func (r *results) deliverOne(m code.Match) error {
	s := r.search
	if s.options.Limit > 0 && s.stats.Matches == s.options.Limit {
		return s.stop(code.StoppedLimit)
	}
	if key := keyOf(m).fileKey; key != r.lastFile && !r.files[key] {
		s.stats.Files++
		r.lastFile = key
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
