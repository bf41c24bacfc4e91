package simulate

import (
	"math"
	"reflect"
	"slices"
)

// Result has the measurements of one run, or of several as a mean (Means). Its JSON
// is documented in docs/json.md and does not change.
type Result struct {
	Scenario string  `json:"scenario"`
	Policy   string  `json:"policy"`
	Seed     uint64  `json:"seed"`
	Origins  int     `json:"origins"`
	Days     int     `json:"days"`
	Capacity float64 `json:"capacity"` // visits per day

	Freshness  float64 `json:"freshness"`          // share of origin-time without an unseen change
	OfBound    float64 `json:"of_bound,omitempty"` // freshness as a share of the bound's
	LagDays    float64 `json:"lag_days"`           // mean age of the oldest unseen change
	DelayP50   float64 `json:"delay_p50_days"`     // from a change to the visit that saw it
	DelayP95   float64 `json:"delay_p95_days"`
	DelayP99   float64 `json:"delay_p99_days"`
	Useless    float64 `json:"useless"`          // share of visits that found nothing new
	Dead       float64 `json:"dead"`             // share of visits of origins that were dead
	FirstVisit float64 `json:"first_visit_days"` // mean time from the listing to the first visit
	Visits     int     `json:"visits"`
	Slots      int     `json:"slots"`
	Size       float64 `json:"size"` // mean size of the visited origins; the smallest has 1
}

// Means returns the mean over the seeds for each scenario and policy, in the order in
// which these first occur. Seed of a mean has no meaning.
func Means(results []Result) (means []Result) {
	for _, r := range results {
		other := func(x Result) bool { return x.Scenario != r.Scenario || x.Policy != r.Policy }
		if !slices.ContainsFunc(means, func(x Result) bool { return !other(x) }) {
			means = append(means, meanOf(slices.DeleteFunc(slices.Clone(results), other)))
		}
	}
	return means
}

// meanOf returns the mean of each number of at least one result.
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

// meter sums up what happens during a run.
type meter struct {
	alive, stale         float64 // seconds
	lag                  float64 // seconds²: the integral of the age of the oldest unseen change
	delays               histogram
	visits, slots        int
	useless, dead, first int
	firstWait, size      float64
}

// addUnseen adds the span during which an origin had an unseen change.
func (m *meter) addUnseen(from, to int64) {
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

// histogram counts time spans in buckets of 0.5 % width; all under finest are in the
// first bucket, all over about 800 years in the last.
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

// quantile returns, in days, the time span that a share p of all does not exceed; 0 if
// there are none.
func (h *histogram) quantile(p float64) float64 {
	want, sum := int(math.Ceil(p*float64(h.total))), 0
	for i, n := range h.counts {
		if sum += n; n > 0 && sum >= want {
			return finest * math.Pow(1.005, float64(i)) / day
		}
	}
	return 0
}
