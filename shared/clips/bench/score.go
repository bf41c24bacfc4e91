package bench

import (
	"cmp"
	"log/slog"
	"math"
	"slices"

	"leasehold/shared/clips/bench/set"
)

// tolerance is the largest error of a hit's offset, in seconds.
const tolerance = .25

// judged is one insertion, or one finding other than a hit, with the values by which the tables
// group it.
type judged struct {
	clip      set.Clip
	condition string // "" for a finding of a clip not played there
	hit       bool
	errorS    float64 // error of a hit's offset
	wrong     bool
	aside     bool // a finding neither right nor wrong
}

// judge scores the findings of one episode, and logs each miss and each wrong finding. First the
// findings of the clips themselves become hits, then those of clips of the same class, so that a
// finding of the clip itself is preferred.
func judge(s *set.Set, e set.Episode, found []Found, log *slog.Logger) []judged {
	j := newScorer(s, e, found)
	j.pair(func(in set.Insertion, f Found) float64 {
		if f.Clip != in.Clip {
			return math.Inf(1)
		}
		return offsetError(in, f.OffsetS)
	})
	j.pair(func(in set.Insertion, f Found) float64 {
		best := math.Inf(1)
		for _, r := range j.relations[f.Clip] {
			if r.Within == in.Clip && !r.Part {
				best = min(best, math.Abs(f.OffsetS-in.OffsetS-r.OffsetS/in.Speed))
			}
		}
		return best
	})
	return j.results(e.File, log)
}

// scorer pairs the findings of one episode with its insertions.
type scorer struct {
	clips     map[string]set.Clip
	relations map[string][]set.Relation // by clip
	played    []set.Insertion
	others    []set.Insertion
	found     []Found
	hit       []float64 // offset error of each insertion's finding; NaN without one
	used      []bool    // per finding: it is paired with an insertion
}

// newScorer returns a scorer of an episode without hits. It knows all clips of the set, also
// those that Part left out, because they are played too. A hit of NaN is an insertion that was
// not found.
func newScorer(s *set.Set, e set.Episode, found []Found) *scorer {
	j := &scorer{
		clips: map[string]set.Clip{}, relations: map[string][]set.Relation{}, played: e.Played, others: e.Others,
		found: found, hit: make([]float64, len(e.Played)), used: make([]bool, len(found)),
	}
	for _, c := range slices.Concat(s.Left, s.Clips) {
		j.clips[c.ID] = c
	}
	for _, r := range s.Relations {
		j.relations[r.Clip] = append(j.relations[r.Clip], r)
	}
	for i := range j.hit {
		j.hit[i] = math.NaN()
	}
	return j
}

// offsetError returns the distance of an offset from the insertion's start, or from the start of
// its sound if it is nearer.
func offsetError(in set.Insertion, offsetS float64) float64 {
	return min(math.Abs(offsetS-in.OffsetS), math.Abs(offsetS-in.HeardS))
}

// pair makes hits of the pairs within the tolerance, the nearest first. apart returns the error
// of a finding in seconds; infinite if it is not of the insertion. Each insertion and each
// finding is used once, over all calls.
func (j *scorer) pair(apart func(set.Insertion, Found) float64) {
	type couple struct {
		insertion, finding int
		apart              float64
	}
	var all []couple
	for i, in := range j.played {
		for k, f := range j.found {
			if d := apart(in, f); math.IsNaN(j.hit[i]) && !j.used[k] && d <= tolerance {
				all = append(all, couple{i, k, d})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b couple) int { return cmp.Compare(a.apart, b.apart) })
	for _, c := range all {
		if math.IsNaN(j.hit[c.insertion]) && !j.used[c.finding] {
			j.hit[c.insertion], j.used[c.finding] = c.apart, true
		}
	}
}

// results returns the insertions, found or missed, and the findings that are not paired: wrong,
// or aside if another clip explains them. Those missed and wrong are logged.
func (j *scorer) results(file string, log *slog.Logger) []judged {
	var all []judged
	for i, in := range j.played {
		v := judged{clip: j.clips[in.Clip], condition: in.Condition}
		if !math.IsNaN(j.hit[i]) {
			v.hit, v.errorS = true, j.hit[i]
		} else {
			log.Debug("missed", "file", file, "clip", in.Clip, "offset_s", in.OffsetS, "condition", in.Condition, "detail", in.Detail)
		}
		all = append(all, v)
	}
	for k, f := range j.found {
		if j.used[k] {
			continue
		}
		aside := j.explained(f)
		if !aside {
			log.Debug("wrong", "file", file, "clip", f.Clip, "offset_s", f.OffsetS, "score", f.Score, "coverage", f.Coverage, "speed", f.Speed)
		}
		all = append(all, judged{clip: j.clips[f.Clip], condition: j.conditionAt(f), wrong: !aside, aside: aside})
	}
	return all
}

// explained reports whether a finding is of a clip related to one played there, so that it is
// neither right nor wrong. If the clips share a loop, every offset is accepted, because none of
// them is the right one.
func (j *scorer) explained(f Found) bool {
	clip := j.clips[f.Clip]
	for _, in := range slices.Concat(j.played, j.others) {
		if other := j.clips[in.Clip]; clip.Loops && clip.ID != other.ID && clip.Class == other.Class && in.HeardWithin(f.OffsetS, clip.DurationS) {
			return true
		}
		for _, r := range j.relations[f.Clip] {
			if r.Within == in.Clip && math.Abs(f.OffsetS-in.OffsetS-r.OffsetS/in.Speed) <= tolerance {
				return true
			}
		}
		for _, r := range j.relations[in.Clip] {
			if r.Within == f.Clip && math.Abs(f.OffsetS+r.OffsetS/in.Speed-in.OffsetS) <= tolerance {
				return true
			}
		}
	}
	return false
}

// conditionAt returns the condition under which the clip of a wrong finding is played at
// the place of the finding, if only the offset is wrong. It returns "" if the clip is not
// played there.
func (j *scorer) conditionAt(f Found) string {
	length := j.clips[f.Clip].DurationS
	for _, in := range j.played {
		if in.Clip == f.Clip && in.HeardWithin(f.OffsetS, length) {
			return in.Condition
		}
	}
	return ""
}
