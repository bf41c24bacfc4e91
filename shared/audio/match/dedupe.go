package match

import (
	"cmp"
	"slices"

	"leasehold/shared/audio/index"
	"leasehold/shared/audio/verify"
)

// maxCluster bounds the places that overlap in a chain and are held for each other.
const maxCluster = 256

// repeatScore of a clip against itself says that it resembles itself there.
const repeatScore = .5

// deduper chooses, of the places of a clip that overlap, those that others do not
// explain: a clip that repeats itself is found again a beat later, and a place at
// several speeds.
type deduper struct {
	index    *index.Index
	verifier *verify.Verifier
	open     [][]place // by clip
	repeats  map[repeat]bool
	trace    func(place) // told each place that another explains; nil unless the search is explained
}

// repeat is a clip's likeness to itself at a shift.
type repeat struct{ clip, shift int }

func newDeduper(x *index.Index, v *verify.Verifier) *deduper {
	return &deduper{index: x, verifier: v, open: make([][]place, x.Clips()), repeats: map[repeat]bool{}}
}

func (s *deduper) add(places []place) {
	for _, p := range places {
		s.open[p.clip] = append(s.open[p.clip], p)
	}
}

// dedupe returns the places that are final, when nothing new will begin before a
// sample; and the first sample at which one is still open, at most that one.
func (s *deduper) dedupe(before int) (final []place, open int) {
	open = before
	for clip, list := range s.open {
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(a.begin, b.begin) })
		reach := s.index.Samples(clip) * 11 / 10
		for len(list) > 0 {
			n := 1
			for n < len(list) && n < maxCluster && list[n].begin-list[n-1].begin < reach {
				n++
			}
			if n < maxCluster && list[n-1].begin+reach > before {
				break
			}
			final = append(final, s.choose(list[:n])...)
			list = list[n:]
		}
		s.open[clip] = append(s.open[clip][:0], list...)
		if len(list) > 0 {
			open = min(open, list[0].begin)
		}
	}
	return final, open
}

// choose takes the surest first.
func (s *deduper) choose(cluster []place) []place {
	ordered := slices.Clone(cluster)
	slices.SortStableFunc(ordered, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.evidence, a.evidence), cmp.Compare(a.begin, b.begin))
	})
	var chosen []place
	for _, p := range ordered {
		if !slices.ContainsFunc(chosen, func(c place) bool { return s.explains(c, p) }) {
			chosen = append(chosen, p)
		} else if s.trace != nil {
			s.trace(p)
		}
	}
	return chosen
}

// explains reports whether p is the chosen place over again: nearly at the same
// sample; or one that resembles it by the clip's likeness to itself, with nothing found
// outside of it.
func (s *deduper) explains(chosen, p place) bool {
	shift := p.begin - chosen.begin
	if abs(shift) >= chosen.length {
		return false
	}
	if abs(shift) <= chosen.length/4 {
		return true
	}
	over := max(RateHz/3, chosen.length/8)
	if p.last > chosen.begin+chosen.length+over || p.first < chosen.begin-over {
		return false
	}
	return s.resembles(p.clip, abs(shift))
}

// resembles reports whether a clip is like itself at a shift, to a twentieth of a second.
func (s *deduper) resembles(clip, shift int) bool {
	e := repeat{clip, shift / (RateHz / 20)}
	like, known := s.repeats[e]
	if !known {
		own := window{samples: s.index.Wave(clip)}
		r, _ := s.verifier.Verify(verify.Place{Variant: s.index.Own(clip), Begin: shift}, &own) // a window cannot fail
		like = r.Score >= repeatScore
		s.repeats[e] = like
	}
	return like
}
