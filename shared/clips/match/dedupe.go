package match

import (
	"cmp"
	"slices"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/verify"
)

// maxCluster bounds the places that overlap in a chain and are held for each other, because they
// are compared in pairs: a clip of a second played without a pause has so many in four minutes.
const maxCluster = 256

// repeatScore is the score of a clip against itself, shifted, from which on it repeats itself: the
// score of a deviation of 5, which chance reaches (verify.Score).
const repeatScore = .5

// deduper chooses, among the places of a clip that overlap, those that others do not explain. It
// is needed because a clip that repeats itself matches again a beat later, and one place matches
// at several speeds.
type deduper struct {
	index    *index.Index
	verifier *verify.Verifier
	open     [][]place // by clip
	repeats  map[repeat]bool
	trace    func(place) // called with each place that another explains; nil unless the search is explained
}

// repeat is a clip's likeness to itself at a shift.
type repeat struct{ clip, shift int }

func newDeduper(x *index.Index, v *verify.Verifier) *deduper {
	return &deduper{index: x, verifier: v, open: make([][]place, x.Clips()), repeats: map[repeat]bool{}}
}

// add takes places that are not decided yet.
func (s *deduper) add(places []place) {
	for _, p := range places {
		s.open[p.clip] = append(s.open[p.clip], p)
	}
}

// dedupe returns the places that are final, if no new place will begin before the sample before,
// and the first sample at which a place is still open, at most before. Places of a clip that
// overlap in a chain (a cluster) are decided together, once no later one can join them, or if
// they are maxCluster.
func (s *deduper) dedupe(before int) (final []place, open int) {
	open = before
	for clip, list := range s.open {
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(a.begin, b.begin) })
		reach := s.index.Samples(clip) * 11 / 10 // the clip at its slowest
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
		if len(list) > 0 {
			open = min(open, list[0].begin)
		}
		s.open[clip] = append(s.open[clip][:0], list...) // from here on list has other places
	}
	return final, open
}

// choose returns the places of a cluster that no other one explains. It takes the one with the
// most evidence first, so that a place can only be explained by a surer one.
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

// explains reports whether p is a duplicate of the chosen place: it lies nearly at the same
// sample; or the clip repeats itself at that shift, and p has nothing found outside of the chosen
// place.
func (s *deduper) explains(chosen, p place) bool {
	shift := p.begin - chosen.begin
	if abs(shift) >= chosen.length {
		return false
	}
	if abs(shift) <= chosen.length/4 { // a clip is not played again before a quarter of it has ended
		return true
	}
	over := max(RateHz/3, chosen.length/8) // a block and a third, and as much as verify calls a cut
	if p.last > chosen.begin+chosen.length+over || p.first < chosen.begin-over {
		return false
	}
	return s.resembles(p.clip, abs(shift))
}

// resembles reports whether a clip is like itself at a shift, to a twentieth of a second. It
// keeps the answer, because clips that repeat themselves are asked about often. Verify cannot
// fail here, because the clip is in memory.
func (s *deduper) resembles(clip, shift int) bool {
	e := repeat{clip, shift / (RateHz / 20)}
	like, known := s.repeats[e]
	if !known {
		own := window{samples: s.index.Wave(clip)}
		r, _ := s.verifier.Verify(verify.Place{Variant: s.index.Own(clip), Begin: shift}, &own)
		like = r.Score >= repeatScore
		s.repeats[e] = like
	}
	return like
}
