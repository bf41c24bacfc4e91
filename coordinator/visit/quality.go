package visit

import "math"

// Dates is a lister's record: how often its dates were right.
type Dates struct {
	Hits   float64 // dates behind which a visit found a change
	Misses float64 // changes that were there when it listed, and that it did not date
	False  float64 // dates behind which there was none
}

const (
	datesPrior = 2    // what the first guess counts for, in observations
	datesMost  = 2000 // observations; older ones fade
)

// Quality is what the record says, beginning at one half for both.
func (d Dates) Quality(listed int64) Quality {
	return Quality{
		Recall:    (d.Hits + datesPrior/2) / (d.Hits + d.Misses + datesPrior),
		Precision: (d.Hits + datesPrior/2) / (d.Hits + d.False + datesPrior),
		Listed:    listed,
	}
}

// Learn adds what a successful visit of a dated origin says of its lister's dates.
// s is the state before it, rate the rate a day then. A change without a date may
// have come after the last listing, and one with a date in spite of it: each
// explanation gets the share that it is likely to have.
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
