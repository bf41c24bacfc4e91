package simulate

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"leasehold/coordinator/visit"
	"leasehold/shared/fault"
)

// Setup describes one run.
type Setup struct {
	Scenario Scenario
	Policy   string // one of visit.Names, or Bound
	Rules    visit.Rules
	Origins  int
	Days     int
	Seed     uint64
	Capacity float64 // visits per day of all origins; 0: Scenario.Capacity for each
}

// Check returns fault.ErrInvalid if a number is out of range. It does not check the
// scenario, the policy and the rules; Run does.
func (s Setup) Check() error {
	if s.Origins < 1 || s.Origins > maxOrigins || s.Days < 1 || s.Days > maxDays || !(s.Capacity >= 0 && s.Capacity <= 1e9) {
		return fmt.Errorf("%d origins, %d days, capacity %v: %w: want 1 to %d, 1 to %d, and 0 to 10^9",
			s.Origins, s.Days, s.Capacity, fault.ErrInvalid, maxOrigins, maxDays)
	}
	return nil
}

// Bound is the name of the reference that knows the true rates.
const Bound = "bound"

// The limits of Setup.
const (
	maxOrigins = 10_000_000
	maxDays    = 36_500
)

// tick is the time between two picks.
const tick = day / 4

// Run simulates one policy in one scenario. It returns the error of ctx if that ends
// first.
func Run(ctx context.Context, s Setup) (Result, error) {
	r, err := newRun(s)
	if err != nil {
		return Result{}, err
	}
	for now := start; now < r.end; now += tick {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if (now-start)%day == 0 {
			r.listOrigins(now)
		}
		r.endRests(now)
		r.visitBest(now)
	}
	return r.finish(), nil
}

// run is the state of one simulation.
type run struct {
	Setup
	policy  visit.Policy
	rules   visit.Rules
	origins []origin
	states  []visit.State
	queues  *queues
	dates   visit.Dates
	counts  visit.Counts
	meter   meter

	end      int64
	position int64   // the largest target handed out
	credit   float64 // slots earned and not yet given out
	noise    rng     // of intervals, failures and the visits before the start
	unborn   []int32 // keys of origins that are not listed yet
}

func newRun(s Setup) (*run, error) {
	if err := s.Scenario.Check(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Scenario.Name, err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Capacity == 0 {
		s.Capacity = s.Scenario.Capacity * float64(s.Origins)
	}
	r := &run{Setup: s, rules: s.Rules, end: start + int64(s.Days)*day, noise: rng(s.Seed), position: start}
	r.origins = newOrigins(s.Scenario, s.Origins, s.Seed, r.end)
	var err error
	if s.Policy == Bound {
		r.policy, err = optimal{visit.Value{Rules: s.Rules}, r.origins}, s.Rules.Check()
	} else {
		r.policy, err = visit.New(s.Policy, s.Rules)
	}
	if err != nil {
		return nil, err
	}
	r.states = make([]visit.State, s.Origins)
	r.queues = newQueues(s.Origins)
	r.visitBeforeStart()
	return r, nil
}

// visitBeforeStart gives each origin that exists at the start one visit at a random
// time during the history, because a scheduler is rarely started with empty records.
func (r *run) visitBeforeStart() {
	for key := range r.origins {
		o := &r.origins[key]
		r.states[key] = visit.NewState(int64(key), o.born, r.rules)
		r.states[key].Lister = 1
		if o.born >= start {
			r.unborn = append(r.unborn, int32(key))
			continue
		}
		r.addCount(key, 1)
		at := start - 1 - int64(r.noise.uniform()*float64(history-day))
		if o.dies <= o.born { // dead from the start: it dies right after this visit
			o.dies = at + 1
		}
		r.Scenario.advance(o, at)
		r.position = at
		r.record(key, at)
	}
	r.position = start
}

// addCount adds by to the number of dated or undated origins, if the origin is enabled.
// Callers subtract it before they change a state and add it afterwards.
func (r *run) addCount(key, by int) {
	switch s := r.states[key]; {
	case !s.Enabled():
	case s.LastUpdate == visit.Never:
		r.counts.A += by
	default:
		r.counts.B += by
	}
}

// listOrigins is the daily listing of all origins that exist.
func (r *run) listOrigins(now int64) {
	later := r.unborn[:0]
	for _, key := range r.unborn {
		if r.origins[key].born > now {
			later = append(later, key)
			continue
		}
		r.listNew(int(key), now)
	}
	r.unborn = later
	for key := range r.origins {
		if r.origins[key].born < now {
			r.listAgain(key, now)
		}
	}
	r.queues.quality.Listed = now
}

// listNew adds an origin that a listing names for the first time.
func (r *run) listNew(key int, now int64) {
	o := &r.origins[key]
	s := visit.NewState(int64(key), now, r.rules)
	s.Lister = 1
	if r.Scenario.Dated {
		s.LastUpdate = o.born
	}
	r.states[key] = s
	r.addCount(key, 1)
	o.born = now // measured from the first listing, because no policy knows it earlier
	o.unseen = append(o.unseen, int32(now-start))
	r.place(key, now)
}

// listAgain applies a listing to a known origin.
func (r *run) listAgain(key int, now int64) {
	o, s := &r.origins[key], &r.states[key]
	dead, date := now >= o.dies, visit.Never
	if r.Scenario.Dated && !dead {
		r.Scenario.advance(o, now)
		date = r.Scenario.listedDate(o, key, now)
	}
	gone := dead && o.unlisted
	if gone != s.Enabled() && date <= s.LastUpdate {
		return // the listing changes nothing
	}
	r.addCount(key, -1)
	if gone {
		*s = visit.Unlisted(*s)
	} else {
		*s = visit.Listed(*s, now, date)
	}
	r.addCount(key, 1)
	r.place(key, now)
}

// place puts an origin into its queue, or while it rests into queues.resting.
func (r *run) place(key int, now int64) {
	s := r.states[key]
	until, _ := r.rules.Rest(s)
	switch {
	case !s.Enabled():
		r.queues.remove(key)
	case until > now:
		r.queues.remove(key)
		if until < r.end {
			at := (until - start + tick - 1) / tick
			r.queues.resting[at] = append(r.queues.resting[at], int32(key))
		}
	default:
		r.queues.place(key, r.policy.Place(s))
	}
}

// endRests places the origins whose rest ends now.
func (r *run) endRests(now int64) {
	at := (now - start) / tick
	for _, key := range r.queues.resting[at] {
		r.place(int(key), now)
	}
	delete(r.queues.resting, at)
}

// visitBest visits as many origins as the capacity allows in one tick.
func (r *run) visitBest(now int64) {
	r.credit += r.Setup.Capacity * tick / day
	n := int(r.credit)
	r.credit -= float64(n)
	r.meter.slots += n
	r.queues.quality = r.dates.Quality(r.queues.quality.Listed)
	picked := visit.Pick(r.policy, r.queues, now, n, r.counts, nil)
	r.counts.Served += int64(len(picked))
	r.queues.finishPick(picked)
	for _, c := range picked {
		r.visit(int(c.Key), now)
	}
}

// visit visits an origin, records the outcome and measures it.
func (r *run) visit(key int, now int64) {
	o := &r.origins[key]
	s := &r.states[key]
	if s.Target != visit.Never {
		r.position = max(r.position, s.Target)
	}
	s.LastScheduled = now
	r.meter.visits++
	r.meter.size += float64(o.size)
	if s.LastVisit == visit.Never {
		r.meter.first++
		r.meter.firstWait += float64(now - s.FirstSeen)
	}
	r.Scenario.advance(o, now)
	before := *s
	effect := r.record(key, now)
	switch {
	case now >= o.dies:
		r.meter.dead++
	case effect.Success:
		r.markSeen(o, now)
		if !effect.Changed && before.LastSuccess != visit.Never {
			r.meter.useless++
		}
		r.dates = r.dates.Learn(before, visit.Event{At: now}, effect, r.rules.Rate(before), r.queues.quality.Listed)
	}
}

// markSeen ends the spans and delays of an origin's unseen changes.
func (r *run) markSeen(o *origin, now int64) {
	if len(o.unseen) > 0 {
		r.meter.addUnseen(max(start+int64(o.unseen[0]), start), now)
	}
	for _, at := range o.unseen {
		r.meter.delays.add(now - start - int64(at))
	}
	o.unseen = o.unseen[:0]
}

// record draws the outcome of a visit and gives it to the policy. Visits before start
// do not fail, and their changes are not measured.
func (r *run) record(key int, now int64) visit.Effect {
	o := &r.origins[key]
	e := visit.Event{Status: visit.Full, At: now, Fudge: (2*r.noise.uniform() - 1) * r.rules.Fudge}
	s := r.states[key]
	switch {
	case now >= o.dies:
		e.Status = visit.NotFound
	case now >= start && r.noise.uniform() < r.Scenario.FailedRate:
		e.Status = visit.Failed
	default:
		e.Digest = strconv.FormatUint(uint64(o.changes), 36)
		if r.Scenario.Counts {
			e.Changes, e.Span = r.changesCounted(o, s, now)
		}
		o.seen = o.changes
		if now < start {
			o.unseen = o.unseen[:0]
		}
	}
	r.addCount(key, -1)
	var effect visit.Effect
	r.states[key], effect = r.policy.Record(s, e, r.position)
	r.addCount(key, 1)
	r.place(key, max(now, start))
	return effect
}

// changesCounted returns the changes that a visit can count, and over how many days:
// those since the last success or, at the first visit, those of 180 days before, which
// are drawn here because origins have no changes before they exist.
func (r *run) changesCounted(o *origin, s visit.State, now int64) (changes, span float64) {
	if s.LastSuccess != visit.Never {
		return float64(o.changes - o.seen), float64(now-s.LastSuccess) / day
	}
	const back = 180.0
	mean := o.rate * back
	if r.Scenario.Changes == "bursts" {
		size := r.Scenario.BurstSize
		return float64(o.rng.poisson(mean/size)) * size, back
	}
	return float64(o.rng.poisson(mean)), back
}

// poisson draws a Poisson number; for a mean above 50 from the normal distribution.
func (g *rng) poisson(mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*g.normal())))
	}
	n, p := 0, g.uniform()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= g.uniform()
	}
	return n
}

// finish measures the changes that are unseen at the end, and returns the result.
func (r *run) finish() Result {
	for key := range r.origins {
		o := &r.origins[key]
		born, until := max(o.born, start), min(o.dies, r.end)
		if until <= born {
			continue
		}
		r.meter.alive += float64(until - born)
		r.Scenario.advance(o, until)
		r.markSeen(o, until)
	}
	result := r.meter.result()
	result.Scenario, result.Policy, result.Seed = r.Scenario.Name, r.Setup.Policy, r.Seed
	result.Origins, result.Days, result.Capacity = r.Origins, r.Days, r.Setup.Capacity
	return result
}

// optimal is the policy of Bound: Value with the true rates, 0 after death.
type optimal struct {
	visit.Value
	origins []origin
}

// Name implements visit.Policy.
func (optimal) Name() string { return Bound }

// Place implements visit.Policy.
func (p optimal) Place(s visit.State) visit.Place {
	o := &p.origins[s.Key]
	place := p.Value.Place(s)
	place.Class = visit.ClassOf(o.rate)
	if s.LastVisit >= o.dies || s.LastScheduled >= o.dies {
		place.Class = 0
	}
	return place
}

// Shares implements visit.Policy: no shares are reserved.
func (optimal) Shares(n int, _ visit.Counts) (shares, refill []visit.Share) {
	return []visit.Share{{Pools: []visit.Pool{visit.PoolFirst, visit.PoolKnown, visit.PoolQuiet, visit.PoolSignal}, N: n}}, nil
}
