package match

import (
	"cmp"
	"math"
	"slices"

	"leasehold/shared/audio/index"
)

// reporter holds findings until those of all clips up to their place are known, marks
// the ones that lie within others, and hands them over by offset.
type reporter struct {
	index   *index.Index
	longest int // samples of any clip, at its slowest
	waiting []Finding
	recent  []Finding // handed over, but a later one may lie within
	emit    func(Finding) error
}

func newReporter(x *index.Index, emit func(Finding) error) *reporter {
	r := &reporter{index: x, emit: emit}
	for i := range x.Clips() {
		r.longest = max(r.longest, x.Samples(i)*11/10)
	}
	return r
}

// add takes places that are final, in an episode of at least so many samples.
func (r *reporter) add(places []place) {
	for _, p := range places {
		if p.last <= 0 {
			continue
		}
		offset := max(0, p.begin)
		f := Finding{
			Clip: p.clip, ID: r.index.ID(p.clip), Offset: offset, Length: p.last - max(offset, p.first, 0),
			PartFrom: r.inClip(p, p.first), PartTo: r.inClip(p, p.last), Coverage: p.coverage, Score: p.score, Speed: p.speed, How: p.how,
		}
		r.waiting = append(r.waiting, f)
	}
}

// inClip is the sample of a place's clip that is played at a sample of the episode.
func (r *reporter) inClip(p place, at int) int {
	return max(0, min(int(math.Round(float64(at-p.begin)*p.speed)), r.index.Samples(p.clip)))
}

// report hands over the findings that begin before a sample before which all are known.
func (r *reporter) report(before int) error {
	slices.SortStableFunc(r.waiting, order)
	for i, f := range r.waiting {
		// What lies around it begins no later, or at the same place.
		if f.Offset+around >= before {
			r.waiting = append(r.waiting[:0], r.waiting[i:]...)
			return nil
		}
		f.Within = r.within(f, r.waiting[i+1:])
		r.remember(f)
		if err := r.emit(f); err != nil {
			return err
		}
	}
	r.waiting = r.waiting[:0]
	return nil
}

func order(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Clip, b.Clip))
}

// around: a clip that is found so many samples outside of a longer one is within it.
const around = RateHz / 20

// within names the shortest longer clip that is found around f, of those before it and
// of those next.
func (r *reporter) within(f Finding, next []Finding) string {
	best := -1
	consider := func(g Finding) {
		longer := r.index.Samples(g.Clip) > r.index.Samples(f.Clip)+2*around
		inside := g.Offset <= f.Offset+around && f.Offset+f.Length <= g.Offset+g.Length+around
		if longer && inside && (best < 0 || r.index.Samples(g.Clip) < r.index.Samples(best)) {
			best = g.Clip
		}
	}
	for _, g := range r.recent {
		consider(g)
	}
	for _, g := range next {
		if g.Offset > f.Offset+around {
			break
		}
		consider(g)
	}
	if best < 0 {
		return ""
	}
	return r.index.ID(best)
}

// remember keeps f as long as something may lie within it.
func (r *reporter) remember(f Finding) {
	r.recent = slices.DeleteFunc(r.recent, func(g Finding) bool { return g.Offset+r.longest+2*around < f.Offset })
	r.recent = append(r.recent, f)
}
