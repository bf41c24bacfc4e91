package embedded

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"strings"

	"leasehold/shared/code"
)

// Limits of ranking.
const (
	fewBlobs       = 256 // so many candidates are searched without knowing their bounds
	candidateBytes = 32
	checkEvery     = 1024 // candidates between two checks of the time
)

type blobKey struct{ part, blob int }

// A rankedPlace is a line of a file; 0 if the file matches without one.
type rankedPlace struct {
	at   place
	line uint32
}

// A ranked match is one line of a found blob in one place, or the file there.
type ranked struct {
	score float64
	rankedPlace
	found *found // with this place and this hit only
}

// A candidate is a blob that may match. No match of it comes before score and at.
type candidate struct {
	score float64
	at    place
	blobKey
}

// candidates is a heap: the one whose matches may come first is at 0.
type candidates struct {
	*search
	of []candidate
}

func (c *candidates) Len() int      { return len(c.of) }
func (c *candidates) Swap(i, j int) { c.of[i], c.of[j] = c.of[j], c.of[i] }
func (c *candidates) Push(any)      {} // candidates are only taken
func (c *candidates) Less(i, j int) bool {
	return c.compare(c.of[i].least(), c.of[j].least()) < 0
}

// Pop implements heap.Interface.
func (c *candidates) Pop() any {
	last := c.of[len(c.of)-1]
	c.of = c.of[:len(c.of)-1]
	return last
}

// least returns a match that comes before all of the candidate's, or is equal to the first.
func (c candidate) least() ranked { return ranked{score: c.score, rankedPlace: rankedPlace{at: c.at}} }

// compare orders matches: by score, then by repository, path and line, then by content.
func (s *search) compare(a, b ranked) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	if a.at.repo != b.at.repo {
		return cmp.Compare(s.order[a.at.repo], s.order[b.at.repo])
	}
	byFile := cmp.Compare(a.at.file, b.at.file) // by path, then by object id
	if byFile != 0 {
		g := s.view.repos[a.at.repo]
		if !bytes.Equal(g.path(int(a.at.file)), g.path(int(b.at.file))) {
			return byFile
		}
	}
	return cmp.Or(cmp.Compare(a.line, b.line), byFile)
}

// rank finds the best matches of all. It searches the blobs in the order of the scores that their
// matches may have, and ends when no other blob can have a better match. If the time for ranking
// or its memory ends before, Stats.RankedOf tells. The error is errStop at a limit of the search.
func (s *search) rank() error {
	ctx, cancel := context.WithTimeout(s.ctx, s.options.Timeout/code.RankingShare)
	defer cancel()
	s.orderRepos()
	s.best = code.Best[ranked]{Limit: s.options.RankedAmong(), Compare: s.compare}
	queue, all := s.boundCandidates(ctx)
	var err error
	for len(queue.of) > 0 && err == nil && s.best.Takes(queue.of[0].least()) {
		if ctx.Err() != nil {
			all = false
			break
		}
		next := heap.Pop(queue).(candidate)
		var f *found
		if f, err = s.searchBlob(s.parts[next.part], next.blob); err == nil {
			s.keep(next.blobKey, f)
			err = s.rankFound(f)
		}
	}
	if !all || err != nil {
		s.stats.RankedOf = max(1, s.ranked)
	}
	return err
}

// orderRepos sets s.order.
func (s *search) orderRepos() {
	slots := make([]int, len(s.view.repos))
	for i := range slots {
		slots[i] = i
	}
	slots = slices.DeleteFunc(slots, func(slot int) bool { return s.view.repos[slot] == nil })
	slices.SortFunc(slots, func(a, b int) int {
		x, y := s.view.repos[a], s.view.repos[b]
		return cmp.Or(strings.Compare(x.repo, y.repo), strings.Compare(x.repoID, y.repoID))
	})
	s.order = make([]int, len(s.view.repos))
	for n, slot := range slots {
		s.order[slot] = n
	}
}

// boundCandidates returns the candidates with their bounds. all is false if some are left out,
// because ctx ended or they take more than half of the search's memory.
func (s *search) boundCandidates(ctx context.Context) (queue *candidates, all bool) {
	queue = &candidates{search: s}
	blobs := 0
	for n := range s.view.parts {
		p := s.candidatesIn(n)
		blobs += p.candidates.count(p.Blobs())
	}
	for n := range s.view.parts {
		p := s.parts[n]
		var definitions []uint8
		if blobs > fewBlobs {
			definitions = s.definitionWeights(p)
		}
		seen := 0
		for blob := range p.candidates.each(p.Blobs()) {
			if seen++; seen%checkEvery == 0 && ctx.Err() != nil || int64(len(queue.of)+1)*candidateBytes > s.options.MaxBytes/2 {
				return queue.init(), false
			}
			c := candidate{score: math.Inf(1), blobKey: blobKey{n, blob}}
			ok := true
			if blobs > fewBlobs {
				ok = s.bound(&c, p, definitions[blob])
			}
			if ok {
				queue.of = append(queue.of, c)
			}
		}
	}
	return queue.init(), true
}

// init makes c a heap, and returns it.
func (c *candidates) init() *candidates {
	heap.Init(c)
	return c
}

// bound sets the bound of a candidate in p whose blob defines symbols of this weight. ok is false
// if the filters exclude all its places.
func (s *search) bound(c *candidate, p *partSearch, definitions uint8) (ok bool) {
	most := 0.0
	if len(s.plan.mayShow) > 0 {
		most = code.MaxPlainScore + float64(definitions)
	}
	for _, at := range p.placesOf(c.blob) {
		if s.plan.filtersPlaces && s.plan.root.evaluate(func(n int) code.Truth { return s.evaluateForPlace(n, p.part, c.blob, at) }) == code.False {
			continue
		}
		here := candidate{score: s.fileScore(p, c.blob, at) + most, at: at}
		if !ok || s.compare(here.least(), c.least()) < 0 {
			c.score, c.at, ok = here.score, at, true
		}
	}
	return ok
}

// definitionWeights returns for each blob of p the weight of the definitions that matches in it may
// have at most, from what its symbols are named.
func (s *search) definitionWeights(p *partSearch) []uint8 {
	weights := make([]uint8, p.Blobs())
	raise := func(blobs []uint32, weight uint8) {
		for _, b := range blobs {
			weights[b] = max(weights[b], weight)
		}
	}
	for _, n := range s.plan.mayShow {
		l := &s.plan.leaves[n]
		parts, ok := code.WholeWords(l.word)
		switch {
		case l.word == "" || !ok: // any text may be found
			for blob := range p.blobs[n].each(p.Blobs()) {
				if p.HasSymbols(blob) {
					weights[blob] = code.WeightDefines
				}
			}
		case l.literal == "":
			p.definingFolded(l.word, raise)
		default:
			p.Defining(l.literal, func([]byte) bool { return true }, func(name []byte, blobs []uint32) bool {
				raise(blobs, weightIf(string(name) == l.literal))
				return true
			})
			for _, name := range parts {
				raise(p.DefiningExactly(name), code.WeightDefinesPart)
			}
		}
	}
	return weights
}

// weightIf returns the weight of a definition of exactly what was found, or of a part.
func weightIf(exactly bool) uint8 {
	if exactly {
		return code.WeightDefines
	}
	return code.WeightDefinesPart
}

// definingFolded calls raise with the blobs that define a symbol which, if case is ignored, contains
// a word or is a part of it.
func (p *partSearch) definingFolded(word string, raise func(blobs []uint32, weight uint8)) {
	folded, _ := code.Fold(nil, []byte(word))
	var name []byte
	p.Defining("", func(text []byte) bool {
		name, _ = code.Fold(name[:0], text)
		return bytes.Contains(name, folded) || bytes.Contains(folded, name)
	}, func(_ []byte, blobs []uint32) bool {
		raise(blobs, weightIf(bytes.Equal(name, folded)))
		return true
	})
}

// keep remembers what a blob has, so that deliverRest need not search it again, if half of the
// search's memory suffices for it.
func (s *search) keep(k blobKey, f *found) {
	bytes := int64(foundBytes)
	if f != nil {
		bytes += int64(len(f.hits))*hitBytes + int64(len(f.places))*placeBytes
	}
	if s.kept+bytes <= s.options.MaxBytes/2 {
		s.searched[k] = f
		s.kept += bytes
	}
}

// rankFound compares the matches of f, which may be nil, with the best ones. It looks only at lines
// that may be among them.
func (s *search) rankFound(f *found) error {
	if f == nil {
		return nil
	}
	s.ranked += max(1, len(f.hits)) * len(f.places)
	places := make([]ranked, len(f.places))
	for i, at := range f.places {
		places[i] = ranked{score: s.fileScore(f.partSearch, f.blob, at), rankedPlace: rankedPlace{at: at}}
	}
	slices.SortFunc(places, s.compare)
	if len(f.hits) == 0 {
		s.rankLine(f, places, 0, 0)
		return nil
	}
	text, err := s.textOf(f)
	if err != nil {
		return err
	}
	symbols := f.symbols()
	for i, h := range f.hits {
		first := places[0]
		first.line, first.score = h.line, first.score+code.MaxPlainScore
		if symbols[h.line] != nil {
			first.score += code.WeightDefines
		}
		if !s.best.Takes(first) {
			continue
		}
		line := text[h.start:h.end]
		score, _ := code.LineScore(line, s.ranges(f, h, line), symbols[h.line]) // match finds the symbol
		s.rankLine(f, places, i, score)
	}
	return nil
}

// rankLine compares the match of f in its n-th hit with the best ones, in each of places, which come
// in the order of compare. score is that of the line.
func (s *search) rankLine(f *found, places []ranked, n int, score float64) {
	for _, m := range places {
		m.score, m.line = m.score+score, f.lineOf(n)
		if !s.best.Takes(m) {
			return
		}
		m.found = &found{f.partSearch, f.blob, []place{m.at}, f.shown, slices.Clone(f.hits[min(n, len(f.hits)):min(n+1, len(f.hits))])}
		s.best.Add(m)
	}
}

// lineOf returns the line of f's n-th hit; 0 if f has none.
func (f *found) lineOf(n int) uint32 {
	if len(f.hits) == 0 {
		return 0
	}
	return f.hits[n].line
}
