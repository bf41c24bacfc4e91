package elastic

import (
	"context"
	"math"
	"slices"

	"leasehold/shared/code"
)

// Limits of ranking.
const (
	fewBlobs       = 256 // so many candidates are searched without knowing their bounds
	firstGroup     = 32  // candidates that are searched at once; each later group has twice as many
	candidateBytes = 200 // about the memory of one, without the paths of its files
	fileBytes      = 300
)

// rank finds the best matches of all. It reads which blobs may match, searches them in the order
// of the scores that their matches may have, and ends when no other blob can have a better match. If the
// time for ranking or its memory ends before, Stats.RankedOf tells. The error is errStop or errTimeout
// at a limit of the search.
func (s *search) rank() error {
	s.best = code.Best[code.Match]{Limit: s.options.RankedAmong(), Compare: code.CompareMatches}
	if err := s.selectRepos(); err != nil || len(s.shown) == 0 {
		return err
	}
	if err := s.countSkipped(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.options.Timeout/code.RankingShare)
	defer cancel()
	var err error
	if s.join, err = s.newJoin(); err == nil {
		err = s.collect(ctx)
	}
	order := slices.Clone(s.candidates)
	if err == nil {
		err = s.bound(order)
	}
	for size := firstGroup; err == nil && len(order) > 0 && ctx.Err() == nil; size *= 2 {
		n := 0
		for n < min(size, len(order)) && s.best.Takes(order[n].bound) {
			n++
		}
		if n == 0 {
			order = nil
			break
		}
		err = s.verify(order[:n])
		order = order[n:]
	}
	if err != nil || len(order) > 0 || s.join != nil {
		s.stats.RankedOf = max(1, s.ranked)
	}
	return err
}

// collect reads the candidates, until ctx ends or they take half of the search's memory. s.join has
// the others; it is nil if there are none.
func (s *search) collect(ctx context.Context) error {
	for bytes := int64(0); ctx.Err() == nil && bytes < s.options.MaxBytes/2; {
		group, err := s.nextOf(&s.join)
		if err != nil || group == nil {
			return err
		}
		for _, c := range group {
			bytes += candidateBytes
			for _, f := range c.places {
				bytes += fileBytes + int64(len(f.Place.Path))
			}
		}
		s.candidates = append(s.candidates, group...)
	}
	return nil
}

// bound sets the bounds of candidates, and orders them by these. Few candidates are all searched, so
// that theirs need not be known.
func (s *search) bound(all []*candidate) error {
	if len(all) <= fewBlobs {
		for _, c := range all {
			c.bound.Score = math.Inf(1)
		}
		return nil
	}
	defining, any, err := s.blobsDefining()
	if err != nil {
		return err
	}
	for _, c := range all {
		most := 0.0
		if len(s.mayShow) > 0 {
			most = code.MaxPlainScore
		}
		if len(s.mayShow) > 0 && (any || defining[c.OID]) {
			most += code.WeightDefines
		}
		for i, f := range c.places {
			g := s.generationOf(f)
			here := code.Match{Repo: g.Repo, RepoID: g.RepoID, Path: string(f.Place.Path), Score: s.fileScore(f) + most}
			if i == 0 || code.CompareMatches(here, c.bound) < 0 {
				c.bound = here
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return code.CompareMatches(a.bound, b.bound) })
	return nil
}

// fileScore returns the part of a match's score that comes from its file.
func (s *search) fileScore(f *file) float64 {
	return code.FileScore(string(f.Place.Path), s.words, f.Place.Info.Generated, f.Vendored, newestCommit(s.generationOf(f).refsOf(f)))
}

// blobsDefining returns the blobs that may define a symbol whose name is like what the query finds;
// all is true if any blob may.
func (s *search) blobsDefining() (found map[code.OID]bool, all bool, err error) {
	var should []any
	for _, e := range s.mayShow {
		q := s.definingQuery(e)
		if q == nil {
			return nil, true, nil
		}
		should = append(should, q)
	}
	found = map[code.OID]bool{}
	if len(should) == 0 {
		return found, false, nil
	}
	pages := blobPages(object{"bool": object{"should": should, "minimum_should_match": 1}})
	for {
		page, err := nextBlobs(s.ctx, s.index, &pages)
		if err != nil || len(page) == 0 {
			return found, false, err
		}
		for _, b := range page {
			found[b.OID] = true
		}
	}
}

// definingQuery returns the query for the blobs with a symbol whose name contains what a leaf finds,
// or is whole words of it. It returns nil if any blob with symbols may have one.
func (s *search) definingQuery(e code.Expr) any {
	content, ok := e.(code.Content)
	if !ok || content.Pattern.Regexp || content.Pattern.Multiline() {
		return nil
	}
	parts, ok := code.WholeWords(content.Pattern.Source)
	if !ok || len(parts) > maxClauses || len(parts) > 0 && s.Folds() {
		return nil
	}
	containing := (&candidates{plan: s.plan}).hasTrigrams("symbol_tri", s.needs[e])
	if containing == nil || len(parts) == 0 {
		return containing
	}
	return object{"bool": object{"should": []any{containing, object{"terms": object{"defines": parts}}}, "minimum_should_match": 1}}
}
