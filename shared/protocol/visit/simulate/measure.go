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
	OfBound    float64 `json:"of_bound,omitempty"` // freshness as a share of that of KnownRates
	LagDays    float64 `json:"lag_days"`           // mean age of the oldest unseen change
	DelayP50   float64 `json:"delay_p50_days"`     // from a change to the visit that saw it
	DelayP95   float64 `json:"delay_p95_days"`
	DelayP99   float64 `json:"delay_p99_days"`
	Useless    float64 `json:"useless"`              // share of visits that found nothing new
	Dead       float64 `json:"dead"`                 // share of visits of origins that were dead
	FirstVisit float64 `json:"first_visit_days"`     // mean time from the listing to the first visit
	FirstP95   float64 `json:"first_visit_p95_days"` // origins without a visit count as visited at the end
	Never      int     `json:"never_visited"`        // origins that were alive and listed before the end
	Lost       int     `json:"lost"`                 // changes that were no longer in the document when a visit came, or at the end
	Visits     int     `json:"visits"`
	Slots      int     `json:"slots"`
	Size       float64 `json:"size"` // mean size of the visited origins; the smallest has 1

	OfBest      float64 `json:"of_best,omitempty"`     // freshness as a share of that of the best other policy
	OfBestPM    float64 `json:"of_best_pm,omitempty"`  // of a mean: half of the 95 % confidence interval of OfBest
	OfBestMin   float64 `json:"of_best_min,omitempty"` // of a mean: the least OfBest of a seed
	Steady      float64 `json:"steady"`                // freshness without the first third of the days
	Optimum     float64 `json:"optimum,omitempty"`     // the closed-form optimum of Steady; only for Poisson changes without dates
	OfOptimum   float64 `json:"of_optimum,omitempty"`  // Steady as a share of Optimum
	Clairvoyant float64 `json:"clairvoyant,omitempty"` // freshness that no policy exceeds, even if it knows every change in advance

	Pools map[string]int `json:"-"` // visits by the pool of the origin; of a mean those of the first seed
}

// Means returns the mean over the seeds for each scenario and policy, in the order in
// which these first occur. Seed of a mean has no meaning. Means of several seeds have the
// confidence interval and the least of OfBest.
func Means(results []Result) (means []Result) {
	for _, r := range results {
		isSame := func(x Result) bool { return x.Scenario == r.Scenario && x.Policy == r.Policy }
		if slices.ContainsFunc(means, isSame) {
			continue
		}
		var ofSeeds []Result
		for _, x := range results {
			if isSame(x) {
				ofSeeds = append(ofSeeds, x)
			}
		}
		m := meanOf(ofSeeds)
		if len(ofSeeds) > 1 && m.OfBest > 0 {
			m.OfBestPM, m.OfBestMin = confidence(ofSeeds, m.OfBest), ofSeeds[0].OfBest
			for _, x := range ofSeeds {
				m.OfBestMin = min(m.OfBestMin, x.OfBest)
			}
		}
		means = append(means, m)
	}
	return means
}

// studentT are the 97.5 % quantiles of the t distribution, by degrees of freedom less one;
// beyond them the normal distribution is used.
var studentT = []float64{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042}

// confidence returns half of the 95 % confidence interval of the mean of OfBest, of at least two
// results. The seeds are paired: each compares policies in the same world.
func confidence(results []Result, mean float64) float64 {
	sum := 0.0
	for _, r := range results {
		sum += (r.OfBest - mean) * (r.OfBest - mean)
	}
	n := float64(len(results))
	t := 1.96
	if len(results)-2 < len(studentT) {
		t = studentT[len(results)-2]
	}
	return t * math.Sqrt(sum/(n-1)/n)
}

// meanOf returns the mean of each number of at least one result, with the texts of the first. A whole number is
// rounded.
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
	warm                 int64   // end of the warm-up
	aliveLate, staleLate float64 // seconds after it
	lag                  float64 // seconds²: the integral of the age of the oldest unseen change
	delays               histogram
	visits, slots        int
	useless, dead, first int
	lost, never          int
	firstWait, size      float64
	firstWaits           histogram
}

// addFirst adds the time for which an origin waited for its first visit.
func (m *meter) addFirst(waited int64) {
	m.first++
	m.firstWait += float64(waited)
	m.firstWaits.add(waited)
}

// addUnseen adds the span during which an origin had an unseen change.
func (m *meter) addUnseen(from, to int64) {
	if span := float64(to - from); span > 0 {
		m.stale += span
		m.staleLate += float64(max(to-max(from, m.warm), 0))
		m.lag += span * span / 2
	}
}

// result returns the measurements as shares and means. Divisors are at least 1, so that a run
// without visits has zeros.
func (m *meter) result() Result {
	share := func(n int) float64 { return float64(n) / math.Max(float64(m.visits), 1) }
	return Result{
		Freshness: 1 - m.stale/math.Max(m.alive, 1), LagDays: m.lag / math.Max(m.alive, 1) / day,
		DelayP50: m.delays.quantile(0.5), DelayP95: m.delays.quantile(0.95), DelayP99: m.delays.quantile(0.99),
		Useless: share(m.useless), Dead: share(m.dead), FirstVisit: m.firstWait / math.Max(float64(m.first), 1) / day,
		FirstP95: m.firstWaits.quantile(0.95), Never: m.never, Lost: m.lost,
		Steady: 1 - m.staleLate/math.Max(m.aliveLate, 1), Visits: m.visits, Slots: m.slots, Size: m.size / math.Max(float64(m.visits), 1),
	}
}

// histogram counts time spans in buckets of 0.5 % width; all under finest are in the
// first bucket, all over about 800 years in the last.
type histogram struct {
	counts [2800]int
	total  int
}

const finest = 60.0 // seconds

// add counts a time span, in the first bucket if it is under finest and in the last if it is too
// long.
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
		sum += n
		if n > 0 && sum >= want {
			return finest * math.Pow(1.005, float64(i)) / day
		}
	}
	return 0
}
