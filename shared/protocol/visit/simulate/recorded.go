package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
)

// Recorded is an origin of a recorded world.
type Recorded struct {
	Changes []int64 `json:"changes"` // seconds after the start of the recording
}

// WorldOf returns the world in which outcomes were recorded: its origins change when the recorded ones did,
// visits fail as often, and the capacity is the same. If an outcome has no dates of its changes, a change is
// assumed in the middle of the time since the visit before it.
func WorldOf(outcomes []models.Outcome) Scenario {
	all := slices.SortedStableFunc(slices.Values(outcomes), func(a, b models.Outcome) int { return a.At.Compare(b.At) })
	s := defaults
	s.Name, s.FailedRate, s.Counts, s.Recorded = "recorded", 0, false, []Recorded{}
	if len(all) == 0 {
		return s
	}
	begin, days := all[0].At, max(all[len(all)-1].At.Sub(all[0].At).Hours()/24, 1)
	index, last := map[string]int{}, map[string]models.Outcome{}
	failed := 0.0
	for _, o := range all {
		i, known := index[o.Origin]
		if !known {
			i = len(s.Recorded)
			index[o.Origin] = i
			s.Recorded = append(s.Recorded, Recorded{Changes: []int64{}})
		}
		if o.Status != models.Eventful && o.Status != models.Uneventful {
			failed++
			continue
		}
		before, visited := last[o.Origin]
		changes := changesBetween(before, o, visited, begin)
		s.Counts = s.Counts || len(o.ChangedAt) > 0
		s.Recorded[i].Changes = append(s.Recorded[i].Changes, changes...)
		last[o.Origin] = o
	}
	for i := range s.Recorded {
		slices.Sort(s.Recorded[i].Changes)
		s.Recorded[i].Changes = slices.Compact(s.Recorded[i].Changes)
	}
	s.FailedRate = failed / float64(len(all))
	s.Capacity = min(max(float64(len(all))/days/float64(len(s.Recorded)), 1e-6), 100)
	s.About = fmt.Sprintf("%d visits of %d origins in %.0f days", len(all), len(s.Recorded), days)
	return s
}

// changesBetween returns the seconds from begin to the changes that an outcome found since the
// last success before it, if there was one (visited). Another digest without dates stands for one
// change half way.
func changesBetween(before, o models.Outcome, visited bool, begin time.Time) (changes []int64) {
	from := begin
	if visited {
		from = before.At
	}
	for _, t := range o.ChangedAt {
		if t.After(from) && !t.After(o.At) {
			changes = append(changes, int64(t.Sub(begin)/time.Second))
		}
	}
	changed := o.Status == models.Eventful && cmp.Or(o.Digest, "unknown") != before.Digest
	if visited && changed && len(changes) == 0 {
		changes = append(changes, int64(from.Add(o.At.Sub(from)/2).Sub(begin)/time.Second))
	}
	return changes
}
