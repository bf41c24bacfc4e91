package visit

import "math"

// Dates counts how often a lister's dates were right.
type Dates struct {
	Hits   float64 // dates after which a visit found a change
	Misses float64 // changes before its listing that it did not date
	False  float64 // dates after which a visit found no change
}

const (
	datesPrior = 2    // weight of the prior (one half), in observations
	datesMost  = 2000 // observations; beyond it the older ones lose weight
)

// Quality estimates recall and precision; without observations both are one half.
func (d Dates) Quality(listed int64) Quality {
	return Quality{
		Recall:    (d.Hits + datesPrior/2) / (d.Hits + d.Misses + datesPrior),
		Precision: (d.Hits + datesPrior/2) / (d.Hits + d.False + datesPrior),
		Listed:    listed,
	}
}

// Learn adds the observation of one visit; it changes nothing unless the visit
// succeeded, an earlier one did, and the lister dated the origin. s is the state
// before the visit and rate its changes per day. The count is divided among the
// possible explanations by their probability, because a change without a date may
// have happened after the last listing, and a changed origin with a date may have
// changed for another reason than the date.
func (d Dates) Learn(s State, e Event, effect Effect, rate float64, listed int64) Dates {
	if !effect.Success || s.LastSuccess == Never || s.LastUpdate == Never {
		return d
	}
	q := d.Quality(listed)
	before := rate * (1 - q.Recall) * math.Max(float64(listed-s.LastSuccess)/day, 0)
	after := rate * math.Max(float64(e.At-max(listed, s.LastSuccess))/day, 0)
	switch dated := s.LastUpdate > s.LastSuccess; {
	case dated && effect.Changed:
		chance := (1 - q.Precision) * -math.Expm1(-before-after)
		hit := q.Precision / (q.Precision + chance)
		d.Hits, d.False = d.Hits+hit, d.False+1-hit
	case dated:
		d.False++
	case effect.Changed && before > 0:
		d.Misses += before / (before + after)
	}
	if sum := d.Hits + d.Misses + d.False; sum > datesMost {
		fade := datesMost / sum
		d = Dates{d.Hits * fade, d.Misses * fade, d.False * fade}
	}
	return d
}
