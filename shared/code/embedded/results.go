package embedded

import (
	"cmp"
	"slices"

	"leasehold/shared/code"
)

// About the memory that a search keeps.
const (
	foundBytes = 200 // of a found blob without hits and places
	placeBytes = 8
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
	search   *search
	visit    func(code.Match) bool
	best     code.Best[ranked]
	order    []int                // of repositories, by slot: by name
	ranked   int                  // matches that were compared with the best
	searched map[blobKey]*found   // by ranking; nil: without a match. It is not complete
	kept     int64                // bytes of searched
	done     map[rankedPlace]bool // matches that deliverBest has visited
	files    map[place]bool       // those of done

	base   code.Match // that fileMatch returned last, for baseIn and baseAt
	baseIn *part
	baseAt place

	text     []byte // of the blob that textOf returned last
	textOfIt *part
	textBlob int
	unpacked []byte // the memory of it, if it was compressed
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

// fileScore returns the part of a score that the file of a blob at a place adds.
func (r *results) fileScore(p *partSearch, blob int, at place) float64 {
	g := r.search.view.repos[at.repo]
	i := int(at.file)
	return code.FileScore(string(g.path(i)), r.search.plan.words, p.Generated(blob), g.vendored(i), g.newest(i))
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

// ranges returns the parts of a line that match the shown leaves. Those of symbols and multiline patterns are in h; the others are searched for here.
func (r *results) ranges(f *found, h hit, line []byte) []code.Range {
	all := slices.Clone(h.ranges)
	for _, n := range f.shown {
		if l := r.search.plan.leaves[n]; l.kind == kindContent && !l.matcher.Multiline() {
			all = append(all, l.matcher.Ranges(line)...)
		}
	}
	return all
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
