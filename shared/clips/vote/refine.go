package vote

import (
	"math"
	"slices"
	"sort"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
)

const (
	// together is the width of the small cell, in frames: 40 ms. A landmark lies within a frame of
	// its place, and the pace is off by half a step, which is 2 frames (fineStep). 4 and 7 find as
	// much (docs/benchmarks.md, Constants of the search).
	together = 5
	// maxPace is the largest difference of pace, in thousandths: changes of tempo or pitch
	// alone. It is the range of the benchmark; each percent more takes two more tries a candidate.
	maxPace = 40
	// paceStep is the distance of the paces that are tried beyond MaxFine. Of the best of them, finer
	// ones are tried.
	paceStep = 10
	// MaxFine is the largest difference of pace between an episode and the variant nearest to its
	// speed: half the distance of two variants, and a fifth of that. A waveform still fits there,
	// at the corrected speed.
	MaxFine = 6
)

// Mark is one landmark that the episode and a variant share.
type Mark struct {
	Hash    uint32
	Episode int // frame
	Clip    int // frame of the variant
}

// Hit is a candidate after the Refiner counted its landmarks in small cells.
type Hit struct {
	Variant int
	// Pace is how much faster than the variant's time the episode's runs, in thousandths: up to
	// MaxFine between two variants, more if tempo or pitch alone were changed.
	Pace  int
	Begin float64 // frame of the episode at which it begins
	Votes int     // Marks that agree on Begin, each landmark of either side once
	// First and Last are the frames of the variant between which the Marks lie.
	First, Last int
	// Spread is the share of the variant's eighths that have Marks: 0 to 1.
	Spread float64
	Marks  []Mark // those that agree, by Episode
}

// Refiner turns candidates into Hits. It is for one goroutine.
type Refiner struct {
	index *index.Index
	first []int32  // of each variant's candidates; -1 if there are none
	asked []uint64 // a bit for each unit of positions: whether its variant has candidates
	marks [][]Mark // of each candidate
	at    []float64
}

// NewRefiner returns a Refiner.
func NewRefiner(x *index.Index) *Refiner {
	r := &Refiner{index: x, first: make([]int32, len(x.Variants())), asked: make([]uint64, x.Units()/64+1)}
	for i := range r.first {
		r.first[i] = -1
	}
	return r
}

// Refine calls emit with the best Hit of each candidate, in their order. Candidates of one
// variant must be adjacent. The landmarks are the episode's, in the order of time, at least
// those from Slack frames before each candidate's frame to Slack frames after its end. A Hit's
// Marks are valid until the next Refine.
func (r *Refiner) Refine(candidates []Candidate, episode []landmark.Landmark, emit func(Hit)) {
	r.gather(candidates, episode)
	for i, c := range candidates {
		emit(r.best(c, r.marks[i]))
	}
}

// best returns the Hit at the pace at which most marks agree: the variant's own, unless a pace
// within MaxFine has more, or one further off has clearly more. Then it fits the line through the
// marks, unless the variant is too short to tell its pace. marks are those near the candidate.
func (r *Refiner) best(c Candidate, marks []Mark) Hit {
	v := r.index.Variants()[c.Variant]
	best := r.agree(c, v, 0, marks, 1)
	if len(marks) >= few {
		best = r.closer(c, v, best, MaxFine, marks)
		for _, pace := range paces(v.Speed) {
			// A pace that far off explains more by chance, because the best of eight is taken: it
			// must explain a quarter more, and three, which is the deviation of ten votes.
			least := best.Votes + best.Votes/4 + 3
			if h := r.agree(c, v, pace, marks, least); h.Votes >= least {
				best = h
			}
		}
		if !best.Fine() {
			best = r.closer(c, v, best, paceStep/2, marks)
		}
	}
	if fineStep(v.Frames) <= MaxFine {
		best.fit()
	}
	best.Variant = c.Variant
	for i, m := range best.Marks {
		if i == 0 {
			best.First, best.Last = m.Clip, m.Clip
		}
		best.First, best.Last = min(best.First, m.Clip), max(best.Last, m.Clip)
	}
	best.Spread = spread(best.Marks, v.Frames)
	return best
}

// closer returns the Hit with the most votes at paces up to so many thousandths (reach) beside the
// pace of h; the first of them if several have as many.
func (r *Refiner) closer(c Candidate, v index.Variant, h Hit, reach int, marks []Mark) Hit {
	pace := h.Pace
	for off, step := fineStep(v.Frames), fineStep(v.Frames); off <= reach; off += step {
		for _, p := range [2]int{pace + off, pace - off} {
			if x := r.agree(c, v, p, marks, h.Votes+1); x.Votes > h.Votes {
				h = x
			}
		}
	}
	return h
}

// Fine reports whether the pace is a change of speed between two variants, at which a waveform
// fits, and not a change of tempo or pitch alone.
func (h *Hit) Fine() bool { return h.Pace >= -MaxFine && h.Pace <= MaxFine }

// fit sets the pace and the beginning to those of the line through the marks, by least squares:
// several paces may leave all marks within one cell. It changes nothing with fewer than 8 marks,
// or if the pace would differ by more than MaxFine or be fine where it was not.
func (h *Hit) fit() {
	n := float64(len(h.Marks))
	var clip, episode, square, product float64
	for _, m := range h.Marks {
		clip += float64(m.Clip) / n
		episode += float64(m.Episode) / n
	}
	for _, m := range h.Marks {
		d := float64(m.Clip) - clip
		square += float64(d * d)
		product += float64(d * (float64(m.Episode) - episode))
	}
	if n < 8 || product <= 0 {
		return
	}
	fitted := Hit{Pace: int(math.Round(1000 * (square/product - 1)))}
	if off := fitted.Pace - h.Pace; off < -MaxFine || off > MaxFine || fitted.Fine() != h.Fine() {
		return
	}
	h.Pace, h.Begin = fitted.Pace, episode-float64(clip*1000/float64(1000+fitted.Pace))
}

// fineStep is the distance of the paces that are tried within MaxFine, in thousandths: small
// enough for the landmarks at either end of the variant to stay within one cell; more than
// MaxFine if they do so without.
func fineStep(frames int) int { return max(1, 4000/frames) }

// Slack is by how many frames the landmarks of a candidate of a variant of so many frames may lie
// outside of it.
func Slack(frames int) int { return 2*cell + frames*maxPace/1000 + 1 }

// paces to try besides the variant's own. A change of tempo alone leaves the hashes of
// speed 0; one of pitch alone those of its speed, at the pace of speed 0.
func paces(speed int) []int {
	if speed == 0 {
		return []int{-maxPace, -30, -20, -10, 10, 20, 30, maxPace}
	}
	return []int{-speed - 5, -speed, -speed + 5}
}

// gather fills marks with the landmarks in common near each candidate. It goes once through the
// landmarks for all of them. Candidates are ordered by variant; episode by time. The variants are
// asked for meanwhile (ask), so that share passes over all others quickly.
func (r *Refiner) gather(candidates []Candidate, episode []landmark.Landmark) {
	for len(r.marks) < len(candidates) {
		r.marks = append(r.marks, nil)
	}
	from, to := math.MaxInt, math.MinInt
	for i, c := range candidates {
		r.marks[i] = r.marks[i][:0]
		from, to = min(from, r.from(c)), max(to, r.to(c))
		if i == 0 || c.Variant != candidates[i-1].Variant {
			r.ask(c.Variant, int32(i))
		}
	}
	first := sort.Search(len(episode), func(i int) bool { return episode[i].Frame >= from })
	end := sort.Search(len(episode), func(i int) bool { return episode[i].Frame > to })
	r.index.Lookup(episode[first:max(first, end)], func(l landmark.Landmark, postings index.Postings) { r.share(candidates, l, postings) })
	for _, c := range candidates {
		r.ask(c.Variant, -1)
	}
}

func (r *Refiner) from(c Candidate) int { return c.Frame - Slack(r.index.Variants()[c.Variant].Frames) }

func (r *Refiner) to(c Candidate) int {
	frames := r.index.Variants()[c.Variant].Frames
	return c.Frame + frames + Slack(frames)
}

// ask records the first of a variant's candidates, and marks its units as asked for, so that
// share can pass over other postings by one bit. A first of -1 removes both.
func (r *Refiner) ask(variant int, first int32) {
	r.first[variant] = first
	v := r.index.Variants()[variant]
	for u := index.Unit(v.Base); u <= index.Unit(v.Base+v.Frames-1); u++ {
		if first < 0 {
			r.asked[u/64] &^= 1 << (u % 64)
		} else {
			r.asked[u/64] |= 1 << (u % 64)
		}
	}
}

// share adds a landmark to the marks of the candidates that it may belong to: those of a variant
// with its hash, at a place at most slack frames off. Variants have been asked for (ask). postings
// are the postings of its hash.
func (r *Refiner) share(candidates []Candidate, l landmark.Landmark, postings index.Postings) {
	asked := r.asked
	for ; len(postings) > 0; postings = postings.From(1) {
		position := postings.At(0)
		if u := uint(index.Unit(int(position))); asked[u/64]>>(u%64)&1 == 0 {
			continue
		}
		variant := r.index.Owner(position)
		v := r.index.Variants()[variant]
		clip, slack := int(position)-v.Base, Slack(v.Frames)
		for i := int(r.first[variant]); i < len(candidates) && candidates[i].Variant == variant; i++ {
			if off := l.Frame - clip - candidates[i].Frame; off > -slack && off < slack {
				r.marks[i] = append(r.marks[i], Mark{l.Hash, l.Frame, clip})
			}
		}
	}
}

// agree finds where most marks agree at a pace, among the beginnings that the candidate stands
// for: within together frames. It returns a Hit without votes if fewer than wanted marks agree.
// It sorts the beginnings and moves a window of that width over them.
func (r *Refiner) agree(c Candidate, v index.Variant, pace int, marks []Mark, wanted int) Hit {
	reach := float64(cell + together + v.Frames*max(pace, -pace)/1000)
	r.at = r.at[:0]
	for _, m := range marks {
		if b := m.begin(pace); b >= float64(c.Frame)-reach && b <= float64(c.Frame)+reach {
			r.at = append(r.at, b)
		}
	}
	if len(r.at) < wanted {
		return Hit{Pace: pace}
	}
	slices.Sort(r.at)
	first, count := 0, 0
	for i, j := 0, 0; j < len(r.at); j++ {
		for r.at[j]-r.at[i] >= together {
			i++
		}
		if j-i+1 > count {
			first, count = i, j-i+1
		}
	}
	h := Hit{Pace: pace}
	if count < wanted {
		return h
	}
	h.Begin = middle(r.at[first : first+count])
	low, high := r.at[first], r.at[first+count-1]
	for _, m := range marks {
		if b := m.begin(pace); b >= low && b <= high {
			h.Marks = append(h.Marks, m)
		}
	}
	h.Votes = len(h.Marks)
	return h
}

// begin is where the variant would begin.
func (m Mark) begin(pace int) float64 {
	return float64(m.Episode) - float64(m.Clip)*1000/float64(1000+pace)
}

// middle returns the mean of the beginnings; there must be at least one.
func middle(sorted []float64) float64 {
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	return sum / float64(len(sorted))
}

// spread returns the share of the eighths of a variant of that many frames in which there are
// marks.
func spread(marks []Mark, frames int) float64 {
	const parts = 8
	var there [parts]bool
	n := 0
	for _, m := range marks {
		if k := min(parts-1, m.Clip*parts/frames); !there[k] {
			there[k] = true
			n++
		}
	}
	return float64(n) / parts
}
