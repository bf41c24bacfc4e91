package embedded

import (
	"cmp"
	"slices"

	"leasehold/shared/code"
)

// Limits of the window of matches that are ranked. It is full when it has rankedLines, or
// code.RankedMatches and rankedCost was spent, so that the first matches come soon. All
// later matches are delivered as they are found.
const (
	rankedLines  = 1024
	rankedCost   = 8 << 20 // in bytes that are searched for a text
	costOfRegexp = 64      // how many times as long a regular expression takes for a byte
	rankedPlaces = 16      // of one blob; the others are delivered after the ranked ones
	foundBytes   = 200     // about the memory of a found blob without hits and places
	placeBytes   = 8       // the memory of a place
)

// A found blob has matches in these places.
type found struct {
	*partSearch
	blob   int
	places []place
	shown  []int // numbers of the leaves whose matches are shown
	hits   []hit // by line; none if the places match by filters only
}

// results ranks and delivers what a search finds.
type results struct {
	search          *search
	visit           func(code.Match) bool
	scannedCost     int64   // of the text that was searched, in the unit of rankedCost
	kept            int64   // bytes of window
	lines           int     // in window
	window          []found // not delivered yet
	windowDelivered bool    // the window was delivered: later matches follow at once

	base   code.Match // that fileMatch returned last, for baseIn and baseAt
	baseIn *part
	baseAt place

	text     []byte // of the blob that textOf returned last
	textOfIt *part
	textBlob int
	unpacked []byte // the memory of it, if it was compressed
}

// addBlob adds the matches of a blob to the window, or delivers them if the window was delivered.
// shown are the leaves whose matches are shown; if they have none in the blob, the blob is left
// out.
func (r *results) addBlob(p *partSearch, blob int, places []place, shown []int) error {
	f := found{p, blob, places, shown, r.search.joinHits(shown)}
	if len(shown) > 0 && len(f.hits) == 0 {
		return nil
	}
	if r.windowDelivered {
		return r.deliver(&f, nil)
	}
	r.window = append(r.window, f)
	r.lines += max(1, len(f.hits))
	r.kept += foundBytes + int64(len(f.hits))*hitBytes + int64(len(places))*placeBytes
	if r.kept > r.search.options.MaxBytes {
		return r.search.stop(code.StoppedMemory)
	}
	if r.lines >= rankedLines || r.lines >= code.RankedMatches && r.scannedCost >= rankedCost {
		return r.deliverWindow()
	}
	return nil
}

// joinHits returns the hits of the leaves for the current blob, ordered by line, with one hit
// for each line. The slice is a copy, because the next blob reuses the hits of the leaves.
func (s *search) joinHits(leaves []int) []hit {
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

// A ranked match is one line of a found blob in one place, or the file there if it has no
// lines (line is 0).
type ranked struct {
	score       float64
	found       int // index in results.window
	place, line int // indices in found.places and found.hits
}

// deliverWindow delivers the matches of the window: the best ones by score, then the others in the
// order in which they were found. A second call does nothing.
func (r *results) deliverWindow() error {
	if r.windowDelivered {
		return nil
	}
	r.windowDelivered = true
	best, err := r.bestMatches()
	if err != nil {
		return err
	}
	done := map[ranked]bool{}
	files := map[[2]int]bool{}
	for _, b := range best {
		if file := [2]int{b.found, b.place}; !files[file] && r.withinLimit() {
			r.search.stats.Files++
			files[file] = true
		}
		if err := r.deliverOne(&r.window[b.found], b.place, b.line); err != nil {
			return err
		}
		b.score = 0 // done is asked without a score
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

// bestMatches returns the RankedMatches of the window with the highest scores, the highest first;
// of equal scores the one found first. Of a blob with more than rankedPlaces places it ranks the
// first rankedPlaces, by their score, so that the others of a line need not be looked at once one
// is too low.
func (r *results) bestMatches() ([]ranked, error) {
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
				if len(best) == code.RankedMatches && m.score <= best[len(best)-1].score {
					break
				}
				best = insert(best, m)
			}
		}
	}
	return best, nil
}

// insert inserts m into best, which is ordered by descending score, behind equal scores. If
// that makes more than RankedMatches, it drops the last one.
func insert(best []ranked, m ranked) []ranked {
	at, _ := slices.BinarySearchFunc(best, m.score, func(b ranked, score float64) int {
		if b.score >= score {
			return -1
		}
		return 1
	})
	best = slices.Insert(best, at, m)
	return best[:min(len(best), code.RankedMatches)]
}

// fileScore returns the part of a score that the file of f at a place adds.
func (r *results) fileScore(f *found, at place) float64 {
	g := r.search.view.repos[at.repo]
	i := int(at.file)
	return code.FileScore(string(g.path(i)), r.search.plan.words, f.Generated(f.blob), g.vendored(i), g.newest(i))
}

// lineScores returns the score of each of f.hits. If f has none, because it matches by its filters
// only, it returns one 0.
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
		scores[i], _ = code.LineScore(line, r.ranges(f, h, line), symbols[h.line]) // deliver finds the symbol
	}
	return scores, nil
}

// symbols returns the symbols that the hit lines of f define, by line; nil if there are none.
// It goes through symbols and hits once, because both are ordered by line.
func (f *found) symbols() map[uint32][]code.Symbol {
	var all map[uint32][]code.Symbol
	at := 0
	f.Symbols(f.blob, func(line int, read func() code.Symbol) bool {
		for at < len(f.hits) && int(f.hits[at].line) < line {
			at++
		}
		if at == len(f.hits) {
			return false
		}
		if int(f.hits[at].line) == line {
			if all == nil {
				all = map[uint32][]code.Symbol{}
			}
			all[uint32(line)] = append(all[uint32(line)], read())
		}
		return true
	})
	return all
}

// ranges returns the parts of a line that match the shown leaves, in order, overlapping ones
// joined. Those of symbols and multiline patterns are in h; the others are searched for here.
func (r *results) ranges(f *found, h hit, line []byte) []code.Range {
	all := slices.Clone(h.ranges)
	for _, n := range f.shown {
		if l := r.search.plan.leaves[n]; l.kind == kindContent && !l.matcher.Multiline() {
			all = append(all, l.matcher.Ranges(line)...)
		}
	}
	return code.JoinRanges(all)
}

// textOf returns the text of f's blob, which is valid until the next call. It keeps the last one,
// because the lines of a blob are asked for one after the other.
func (r *results) textOf(f *found) ([]byte, error) {
	if r.textOfIt == f.part && r.textBlob == f.blob {
		return r.text, nil
	}
	text, err := f.Text(f.blob, &r.unpacked)
	r.text, r.textOfIt, r.textBlob = text, f.part, f.blob
	return text, err
}
