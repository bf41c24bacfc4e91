package match

import (
	"cmp"
	"math"
	"slices"

	"leasehold/shared/clips/index"
)

// reporter holds findings until the findings of all clips up to their offset are known, marks
// the ones that lie within others, and emits them by offset.
type reporter struct {
	index   *index.Index
	longest int // samples of any clip, at its slowest
	end     int // of the episode; far away until it is known
	waiting []Finding
	recent  []Finding // emitted, but a later one may lie within
	emit    func(Finding) error
}

// newReporter returns a reporter at the start of an episode. A clip at its slowest variant is
// less than a tenth longer.
func newReporter(x *index.Index, emit func(Finding) error) *reporter {
	r := &reporter{index: x, emit: emit, end: math.MaxInt / 2}
	for i := range x.Clips() {
		r.longest = max(r.longest, x.Samples(i)*11/10)
	}
	return r
}

// add takes places that are final; it drops those that end before the episode begins, or begin after its end,
// and cuts the others to it.
func (r *reporter) add(places []place) {
	for _, p := range places {
		if p.last <= 0 || p.first >= r.end {
			continue
		}
		offset := max(0, p.begin)
		f := Finding{
			Clip: p.clip, ID: r.index.ID(p.clip), Offset: offset, Length: min(p.last, r.end) - max(offset, p.first),
			PartFrom: r.inClip(p, p.first), PartTo: r.inClip(p, p.last), Coverage: p.coverage, Score: p.score, Speed: p.speed, How: p.how,
		}
		r.waiting = append(r.waiting, f)
	}
}

// inClip is the sample of a place's clip played at a sample of the episode.
func (r *reporter) inClip(p place, at int) int {
	return max(0, min(int(math.Round(float64(at-p.begin)*p.speed)), r.index.Samples(p.clip)))
}

// report emits the findings that begin more than around samples before the sample before; all
// findings up to before are known. So all longer clips around them are known too. After an error of
// emit the search cannot go on.
func (r *reporter) report(before int) error {
	slices.SortStableFunc(r.waiting, order)
	for i, f := range r.waiting {
		// A longer clip around f begins at most around samples later than f.
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

// around is how many samples a clip may lie outside of a longer one and still be within it.
const around = RateHz / 20

// within returns the ID of the shortest longer clip found around f, among the recent findings and
// the next ones, which are ordered by offset; "" if there is none.
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

// remember keeps f as long as a later finding may lie within it.
func (r *reporter) remember(f Finding) {
	r.recent = slices.DeleteFunc(r.recent, func(g Finding) bool { return g.Offset+r.longest+2*around < f.Offset })
	r.recent = append(r.recent, f)
}
