package embedded

import (
	"cmp"
	"slices"

	"leasehold/shared/codesearch"
)

// Which matches are ranked: those that are found until there are rankedLines, or enough of
// them after rankedCost, so that the first ones come soon. All others follow as they are
// found.
const (
	rankedLines  = 1024
	rankedCost   = 8 << 20 // bytes to look for a text in
	costOfRegexp = 64      // of a byte that a regular expression reads, in the same unit
	rankedPlaces = 16      // of one blob; the others follow too
)

// A found blob has matches in these places.
type found struct {
	*partSearch
	blob   int
	places []place
	shown  []int // leaves
	hits   []hit // by line; none if the places match by filters only
}

// results ranks and delivers what a search finds.
type results struct {
	search *search
	visit  func(codesearch.Match) bool
	cost   int64   // of the text that was read
	kept   int64   // bytes of window
	lines  int     // in window
	window []found // not delivered yet
	closed bool    // the best ones were delivered

	base   codesearch.Match // of the file that baseOf returned last
	baseIn *part
	baseAt place

	text     []byte // of the blob that textOf returned last
	textOfIt *part
	textBlob int
	unpacked []byte // the memory of it, if it was compressed
}

// add adds the matches of a blob.
func (r *results) add(p *partSearch, blob int, places []place, shown []int) error {
	f := found{p, blob, places, shown, r.search.join(shown)}
	if len(shown) > 0 && len(f.hits) == 0 {
		return nil
	}
	if r.closed {
		return r.deliver(&f, nil)
	}
	r.window = append(r.window, f)
	r.lines += max(1, len(f.hits))
	if r.kept += 200 + int64(len(f.hits))*hitBytes + int64(len(places))*8; r.kept > r.search.options.MaxBytes {
		return r.search.stop(codesearch.StoppedMemory)
	}
	if r.lines >= rankedLines || r.lines >= codesearch.RankedMatches && r.cost >= rankedCost {
		return r.finish()
	}
	return nil
}

// join returns the lines that one of the leaves has hits in.
func (s *search) join(leaves []int) []hit {
	var all []hit
	for _, n := range leaves {
		all = append(all, s.hits[n]...)
	}
	if len(leaves) < 2 {
		return all
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(a.line, b.line) })
	joined := all[:0]
	for _, h := range all {
		if last := len(joined) - 1; last >= 0 && joined[last].line == h.line {
			joined[last].ranges = slices.Concat(joined[last].ranges, h.ranges)
		} else {
			joined = append(joined, h)
		}
	}
	return joined
}

// A ranked match is a line, or all, of a found blob in one place.
type ranked struct {
	score       float64
	found       int
	place, line int
}

// finish delivers the window: the best matches, then the others.
func (r *results) finish() error {
	if r.closed {
		return nil
	}
	r.closed = true
	best, err := r.best()
	if err != nil {
		return err
	}
	done := map[ranked]bool{}
	files := map[[2]int]bool{}
	for _, b := range best {
		if file := [2]int{b.found, b.place}; !files[file] && r.within() {
			r.search.stats.Files++
			files[file] = true
		}
		if err := r.one(&r.window[b.found], b.place, b.line); err != nil {
			return err
		}
		b.score = 0
		done[b] = true
	}
	for n := range r.window {
		err := r.deliver(&r.window[n], func(place, line int) (delivered, counted bool) {
			return done[ranked{0, n, place, line}], files[[2]int{n, place}]
		})
		if err != nil {
			return err
		}
	}
	r.window = nil
	return nil
}

// best returns the matches of the window with the highest scores; of equal ones the first.
func (r *results) best() ([]ranked, error) {
	var best []ranked
	for n := range r.window {
		f := &r.window[n]
		lines, err := r.lineScores(f)
		if err != nil {
			return nil, err
		}
		places := make([]ranked, min(len(f.places), rankedPlaces))
		for i := range places {
			places[i] = ranked{r.fileScore(f, f.places[i]), n, i, 0}
		}
		slices.SortStableFunc(places, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
		for line, score := range lines {
			for _, m := range places {
				m.score, m.line = m.score+score, line
				if len(best) == codesearch.RankedMatches && m.score <= best[len(best)-1].score {
					break
				}
				best = insert(best, m)
			}
		}
	}
	return best, nil
}

// insert inserts m behind those that are as good, and drops the last one if they are too many.
func insert(best []ranked, m ranked) []ranked {
	at, _ := slices.BinarySearchFunc(best, m.score, func(b ranked, score float64) int {
		if b.score >= score {
			return -1
		}
		return 1
	})
	best = slices.Insert(best, at, m)
	return best[:min(len(best), codesearch.RankedMatches)]
}

func (r *results) fileScore(f *found, at place) float64 {
	g := r.search.view.repos[at.repo]
	i := int(at.file)
	return codesearch.FileScore(string(g.path(i)), r.search.plan.words, f.Generated(f.blob), g.vendored(i), g.newest(i))
}

// lineScores returns the score of each line of f; of a file without lines, one 0.
func (r *results) lineScores(f *found) ([]float64, error) {
	if len(f.hits) == 0 {
		return []float64{0}, nil
	}
	text, err := r.textOf(f)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(f.hits))
	symbols := f.symbols()
	for i, h := range f.hits {
		line := text[h.start:h.end]
		scores[i], _ = codesearch.LineScore(line, r.ranges(f, h, line), symbols[h.line])
	}
	return scores, nil
}

// symbols returns the symbols that the lines of f define.
func (f *found) symbols() map[uint32][]codesearch.Symbol {
	var all map[uint32][]codesearch.Symbol
	at := 0
	f.Symbols(f.blob, func(line int, read func() codesearch.Symbol) bool {
		for at < len(f.hits) && int(f.hits[at].line) < line {
			at++
		}
		if at == len(f.hits) {
			return false
		}
		if int(f.hits[at].line) == line {
			if all == nil {
				all = map[uint32][]codesearch.Symbol{}
			}
			all[uint32(line)] = append(all[uint32(line)], read())
		}
		return true
	})
	return all
}

// ranges returns where the query is in a line.
func (r *results) ranges(f *found, h hit, line []byte) []codesearch.Range {
	all := slices.Clone(h.ranges)
	for _, n := range f.shown {
		if l := r.search.plan.leaves[n]; l.kind == kindContent && !l.matcher.Multiline() {
			all = append(all, l.matcher.Ranges(line)...)
		}
	}
	return codesearch.JoinRanges(all)
}

// textOf returns the text of f's blob, until the next call.
func (r *results) textOf(f *found) ([]byte, error) {
	if r.textOfIt == f.part && r.textBlob == f.blob {
		return r.text, nil
	}
	text, err := f.Text(f.blob, &r.unpacked)
	r.text, r.textOfIt, r.textBlob = text, f.part, f.blob
	return text, err
}
