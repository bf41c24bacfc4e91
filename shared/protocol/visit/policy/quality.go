package policy

// Dates counts what visits showed about a lister's dates.
type Dates struct {
	Hits   float64 // changes that it dated
	Misses float64 // changes before its listings that it did not date
	False  float64 // dates without a change
	Days   float64 // time that its listings covered, of all origins
}

// Quality is an estimate of how good a lister's dates are.
type Quality struct {
	Recall float64 // share of the changes that it dates
	False  float64 // dates a day of an origin that belong to no change
	Listed int64   // end of its last listing

	// FirstVisits is true if first visits of the origins that it names precede all
	// other visits.
	FirstVisits bool
}

func (q Quality) signals(rate float64) signals { return signals{rate, q.Recall, q.False} }

// datesMost is the number of observations beyond which older ones lose weight.
const datesMost = 2000

// Add returns the observations of two listers together.
func (d Dates) Add(o Dates) Dates {
	return Dates{d.Hits + o.Hits, d.Misses + o.Misses, d.False + o.False, d.Days + o.Days}
}

// Quality estimates recall and false rate from the observations of a lister. They begin
// with those of all listers together, which weigh as much as two changes and 2·PriorDays
// days; and these begin with one half, and with one false date in so many days.
func (r Rules) Quality(own, all Dates, listed int64) Quality {
	days := 2 * r.PriorDays
	recall := (all.Hits + 1) / (all.Hits + all.Misses + 2)
	falsely := (all.False + 1) / (all.Days + days)
	return Quality{
		Recall: (own.Hits + 2*recall) / (own.Hits + own.Misses + 2),
		False:  (own.False + falsely*days) / (own.Days + days),
		Listed: listed,
	}
}

// LearnDates adds the observation of one visit to those of a lister with quality
// q; it changes nothing unless the visit succeeded, an earlier one did, and the lister
// dates the origin. s is the state before the visit.
//
// Each date since the last success is a true one with the probability
// recall·rate/(recall·rate+false), so it counts as that part of a hit, given that there
// was a change or none. The number of changes is the one that the visit counted, or else
// the expected one given that there was at least one. All listed days count, of visits
// with and without a change, because otherwise the false rate would be too large.
func (r Rules) LearnDates(observed Dates, q Quality, s State, e Event, effect Effect) Dates {
	if !effect.Success || s.LastSuccess == Never || s.LastUpdate == Never {
		return observed
	}
	days := max(float64(e.At-s.LastSuccess)/day, 1e-6)
	listed := min(max(float64(q.Listed-s.LastSuccess)/day, 0), days)
	dates := float64(s.Dates)
	if s.LastUpdate > s.LastSuccess {
		dates = max(dates, 1)
	}
	observed.Days += listed
	if effect.Changed {
		changes, counted := r.changesIn(e)
		if !counted {
			changes = atLeastOne(r.Rate(s) * days)
		}
		dateable := max(changes, 1) * listed / days // changes before the last listing
		hits := 0.0
		if truly := q.Recall * dateable; truly > 0 {
			hits = min(dates*truly/(truly+q.False*listed), dateable)
		}
		observed.Hits += hits
		observed.Misses += dateable - hits
		observed.False += max(dates-hits, 0)
	} else {
		observed.False += dates
	}
	if sum := observed.Hits + observed.Misses + observed.False; sum > datesMost {
		fade := datesMost / sum
		observed = Dates{observed.Hits * fade, observed.Misses * fade, observed.False * fade, observed.Days * fade}
	}
	return observed
}
