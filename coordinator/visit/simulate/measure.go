package simulate

import (
	"math"
	"reflect"
	"slices"
)

// Result is what one policy did in one world. Its JSON is a contract
// (docs/json.md).
type Result struct {
	Scenario string  `json:"scenario"`
	Policy   string  `json:"policy"`
	Seed     uint64  `json:"seed"`
	Origins  int     `json:"origins"`
	Days     int     `json:"days"`
	Capacity float64 `json:"capacity"` // visits a day

	Freshness  float64 `json:"freshness"`          // share of origin-time with no unseen change
	OfBound    float64 `json:"of_bound,omitempty"` // freshness, of that of the bound
	LagDays    float64 `json:"lag_days"`           // mean age of the oldest unseen change
	DelayP50   float64 `json:"delay_p50_days"`     // from a change to the visit that saw it
	DelayP95   float64 `json:"delay_p95_days"`
	DelayP99   float64 `json:"delay_p99_days"`
	Useless    float64 `json:"useless"` // share of visits that found nothing new
	Dead       float64 `json:"dead"`    // share of visits of origins that were dead
	FirstVisit float64 `json:"first_visit_days"`
	Visits     int     `json:"visits"`
	Slots      int     `json:"slots"`
	Size       float64 `json:"size"` // mean of visits, where the smallest origin has 1
}

// Means returns one result for each scenario and policy, in the order in which they
// come first: the mean of its seeds. Its Seed says nothing.
func Means(results []Result) (means []Result) {
	for _, r := range results {
		another := func(x Result) bool { return x.Scenario != r.Scenario || x.Policy != r.Policy }
		if !slices.ContainsFunc(means, func(x Result) bool { return !another(x) }) {
			means = append(means, meanOf(slices.DeleteFunc(slices.Clone(results), another)))
		}
	}
	return means
}

// meanOf is at least one result.
func meanOf(results []Result) Result {
	m := results[0]
	v := reflect.ValueOf(&m).Elem()
	for i := range v.NumField() {
		sum := 0.0
		for _, r := range results {
			switch x := reflect.ValueOf(r).Field(i); {
			case x.CanFloat():
				sum += x.Float()
			case x.CanInt():
				sum += float64(x.Int())
			}
		}
		switch mean, x := sum/float64(len(results)), v.Field(i); {
		case x.CanFloat():
			x.SetFloat(mean)
		case x.CanInt():
			x.SetInt(int64(math.Round(mean)))
		}
	}
	return m
}

// meter adds up what happens.
type meter struct {
	alive, stale, lag    float64 // seconds, seconds, seconds²
	delays               histogram
	visits, slots        int
	useless, dead, first int
	firstWait, size      float64
}

// unseen adds a span in which an origin had an unseen change.
func (m *meter) unseen(from, to int64) {
	if span := float64(to - from); span > 0 {
		m.stale += span
		m.lag += span * span / 2
	}
}

func (m *meter) result() Result {
	share := func(n int) float64 { return float64(n) / math.Max(float64(m.visits), 1) }
	return Result{
		Freshness: 1 - m.stale/math.Max(m.alive, 1), LagDays: m.lag / math.Max(m.alive, 1) / day,
		DelayP50: m.delays.quantile(0.5), DelayP95: m.delays.quantile(0.95), DelayP99: m.delays.quantile(0.99),
		Useless: share(m.useless), Dead: share(m.dead), FirstVisit: m.firstWait / math.Max(float64(m.first), 1) / day,
		Visits: m.visits, Slots: m.slots, Size: m.size / math.Max(float64(m.visits), 1),
	}
}

// histogram counts spans of time, to half a percent.
type histogram struct {
	counts [2800]int
	total  int
}

const finest = 60.0 // seconds

func (h *histogram) add(seconds int64) {
	i := 0
	if s := float64(seconds); s > finest {
		i = min(int(math.Log(s/finest)/math.Log(1.005))+1, len(h.counts)-1)
	}
	h.counts[i]++
	h.total++
}

// quantile is in days.
func (h *histogram) quantile(p float64) float64 {
	want, sum := int(math.Ceil(p*float64(h.total))), 0
	for i, n := range h.counts {
		if sum += n; n > 0 && sum >= want {
			return finest * math.Pow(1.005, float64(i)) / day
		}
	}
	return 0
}
