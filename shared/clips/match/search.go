package match

import (
	"cmp"
	"slices"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
)

const (
	// perClip is how many candidates of one clip are verified in a stretch, the best first, in
	// addition to twice as many as could be played in it one after the other. It bounds the cost of
	// a clip that agrees everywhere; 3 and 12 find the same (docs/benchmarks.md, Constants of the search).
	perClip = 6
)

// search goes through one episode: it takes landmarks and returns places.
type search struct {
	index      *index.Index
	options    Options
	counter    *vote.Counter
	refiner    *vote.Refiner
	verifier   *verify.Verifier
	landmarks  []landmark.Landmark // those that may still be needed
	counted    int                 // how many of landmarks the counter has
	longest    int                 // frames of any variant
	candidates []vote.Candidate    // of the current stretch
	hits       [][]vote.Hit        // by clip, of the current stretch
	work       Work
	trace      func(Attempt) // nil unless the search is explained
}

// Attempt is a place that the search considered.
type Attempt struct {
	Hit     vote.Hit
	Result  verify.Result // zero if the outcome was decided before verification
	Score   float64       // of waveform and landmarks together
	Outcome Outcome
	begin   int // sample at which the clip would begin
}

// note tells trace of a place and its outcome, with a copy of the marks, because the refiner uses
// them again.
func (s *search) note(h vote.Hit, r verify.Result, begin int, o Outcome) {
	if s.trace != nil {
		h.Marks = slices.Clone(h.Marks)
		s.trace(Attempt{h, r, s.score(h, r), o, begin})
	}
}

// Work counts the steps of a search.
type Work struct {
	Landmarks, Candidates, Verified, Places int
}

// newSearch returns a search at the start of an episode. longest is the length of the longest
// variant, on which depends how far it looks ahead.
func newSearch(x *index.Index, o Options) *search {
	s := &search{
		index: x, options: o, counter: vote.NewCounter(x), refiner: vote.NewRefiner(x), verifier: verify.New(x),
		hits: make([][]vote.Hit, x.Clips()),
	}
	for _, v := range x.Variants() {
		s.longest = max(s.longest, v.Frames)
	}
	return s
}

// ahead is how many frames after a stretch must be known for it to be decided.
func (s *search) ahead() int { return vote.Slack(s.longest) + 64 }

// behind is how many frames before a stretch are still needed.
func (s *search) behind() int { return s.longest + vote.Slack(s.longest) + 128 }

// push takes the next landmark, and drops it if no clip has its hash.
func (s *search) push(l landmark.Landmark) {
	s.work.Landmarks++
	if s.index.Hashes().Has(l.Hash) {
		s.landmarks = append(s.landmarks, l)
	}
}

// advance decides the current stretch and returns the places in it, verified on the sound. All
// landmarks of the stretch were pushed before. In this order: the landmarks vote, places with
// enough votes are refined, and of each clip the best are verified. It forgets the landmarks that
// no later stretch needs.
func (s *search) advance(sound verify.Source) ([]place, error) {
	end := s.counter.Start() + vote.Stretch
	from := s.counted
	for s.counted < len(s.landmarks) && s.landmarks[s.counted].Frame < end {
		s.counted++
	}
	s.counter.Push(s.landmarks[from:s.counted])
	variants := s.index.Variants()
	s.candidates = s.candidates[:0]
	s.counter.Decide(func(c vote.Candidate) { s.candidates = append(s.candidates, c) })
	s.work.Candidates += len(s.candidates)
	s.refiner.Refine(s.candidates, s.landmarks, func(h vote.Hit) {
		if float64(h.Votes) < vote.Least(variants[h.Variant]) {
			s.note(h, verify.Result{}, beginOf(h), FewVotes)
			return
		}
		if s.trace != nil {
			h.Marks = slices.Clone(h.Marks)
		}
		clip := variants[h.Variant].Clip
		s.hits[clip] = append(s.hits[clip], h)
	})
	var places []place
	for clip, hits := range s.hits {
		if len(hits) == 0 {
			continue
		}
		found, err := s.verify(clip, hits, sound)
		if err != nil {
			return nil, err
		}
		places = append(places, found...)
		s.hits[clip] = hits[:0]
	}
	s.forget(end - s.behind())
	return places, nil
}

// forget drops the landmarks before a frame.
func (s *search) forget(before int) {
	n := 0
	for n < s.counted && s.landmarks[n].Frame < before {
		n++
	}
	s.landmarks = s.landmarks[:copy(s.landmarks, s.landmarks[n:])]
	s.counted -= n
}

// verify verifies the hits of one clip, those with the most votes first, and returns the places
// that are found. It skips a hit if a better one was found at about the same place, and those
// beyond the bound of perClip.
func (s *search) verify(clip int, hits []vote.Hit, sound verify.Source) ([]place, error) {
	slices.SortStableFunc(hits, func(a, b vote.Hit) int { return cmp.Compare(b.Votes, a.Votes) })
	length := s.index.Samples(clip)
	most := perClip + 2*vote.Stretch*spectrum.Hop/max(length, RateHz/4)
	var places []place
	for i, h := range hits {
		begin := beginOf(h)
		if i >= most {
			s.note(h, verify.Result{}, begin, Crowded)
			continue
		}
		same := RateHz/10 + length*4/100 // a block is looked for within 128 ms; the fastest variant ends 4 % early
		if slices.ContainsFunc(places, func(p place) bool { return abs(p.begin-begin) < same }) {
			s.note(h, verify.Result{}, begin, Beside)
			continue
		}
		s.work.Verified++
		r, err := s.verifier.Verify(s.placeOf(h, begin), sound)
		if err != nil {
			return nil, err
		}
		p, outcome := s.judge(clip, h, r)
		if outcome != Found {
			s.note(h, r, r.Begin, outcome)
			continue
		}
		s.note(h, r, p.begin, outcome)
		places = append(places, p)
		s.work.Places++
	}
	return places, nil
}

// beginOf returns the sample at which a hit's landmarks would have its clip begin.
func beginOf(h vote.Hit) int { return int(h.Begin * spectrum.Hop) }

// placeOf returns where to verify a hit. A hit with many of its variant's landmarks need not pass
// the gate. The pace of a change of tempo or pitch is left out, because no waveform fits there.
func (s *search) placeOf(h vote.Hit, begin int) verify.Place {
	p := verify.Place{
		Variant: h.Variant, Begin: begin, From: h.First, To: h.Last,
		Ungated: float64(h.Votes) >= minDensity*float64(s.index.Variants()[h.Variant].Postings),
	}
	if h.Fine() {
		p.Pace = h.Pace
	}
	return p
}

func abs(n int) int { return max(n, -n) }
