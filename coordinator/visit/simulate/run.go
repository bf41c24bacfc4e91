package simulate

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"leasehold/coordinator/visit"
	"leasehold/shared/fault"
)

// Setup says what is simulated.
type Setup struct {
	Scenario Scenario
	Policy   string // one of visit.Names, or Bound
	Rules    visit.Rules
	Origins  int
	Days     int
	Seed     uint64
	Capacity float64 // visits a day in all; 0: the scenario's
}

// Check says whether the numbers of a setup can be simulated, its scenario aside.
func (s Setup) Check() error {
	if s.Origins < 1 || s.Origins > MaxOrigins || s.Days < 1 || s.Days > MaxDays || !(s.Capacity >= 0 && s.Capacity <= 1e9) {
		return fmt.Errorf("%d origins, %d days, capacity %v: %w: 1 to %d, 1 to %d, and 0 to 10^9 are accepted",
			s.Origins, s.Days, s.Capacity, fault.ErrInvalid, MaxOrigins, MaxDays)
	}
	return nil
}

// Bound is the name of the reference.
const Bound = "bound"

// The most that is simulated.
const (
	MaxOrigins = 10_000_000
	MaxDays    = 36_500
)

// tick is the time between two picks.
const tick = day / 4

// Run plays one policy through one world until it ends or ctx does.
func Run(ctx context.Context, s Setup) (Result, error) {
	g, err := newGame(s)
	if err != nil {
		return Result{}, err
	}
	for now := start; now < g.end; now += tick {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if (now-start)%day == 0 {
			g.list(now)
		}
		g.wake(now)
		g.pick(now)
	}
	return g.finish(), nil
}

// game is one run.
type game struct {
	Setup
	policy visit.Policy
	rules  visit.Rules
	things []thing
	states []visit.State
	queues *queues
	dates  visit.Dates
	counts visit.Counts
	meter  meter

	end      int64
	position int64 // the largest target handed out
	credit   float64
	fudge    dice
	arriving []int32 // not yet listed, the next one last
}

func newGame(s Setup) (*game, error) {
	if err := s.Scenario.Check(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Scenario.Name, err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Capacity == 0 {
		s.Capacity = s.Scenario.Capacity * float64(s.Origins)
	}
	g := &game{Setup: s, rules: s.Rules, end: start + int64(s.Days)*day, fudge: dice(s.Seed), position: start}
	g.things = people(s.Scenario, s.Origins, s.Seed, g.end)
	var err error
	if s.Policy == Bound {
		g.policy, err = oracle{visit.Value{Rules: s.Rules}, g.things}, s.Rules.Check()
	} else {
		g.policy, err = visit.New(s.Policy, s.Rules)
	}
	if err != nil {
		return nil, err
	}
	g.states = make([]visit.State, s.Origins)
	g.queues = newQueues(s.Origins)
	g.begin()
	return g, nil
}

// begin gives the origins that exist a first visit some time before the start.
func (g *game) begin() {
	for key := range g.things {
		t := &g.things[key]
		g.states[key] = visit.NewState(int64(key), t.born, g.rules)
		g.states[key].Lister = 1
		if t.born >= start {
			g.arriving = append(g.arriving, int32(key))
			continue
		}
		g.count(key, 1)
		at := start - 1 - int64(g.fudge.uniform()*float64(history-day))
		if t.dies <= t.born { // dead, which nobody has noticed
			t.dies = at + 1
		}
		g.Scenario.advance(t, at)
		g.position = at
		g.record(key, at)
	}
	g.position = start
}

// count keeps the numbers of dated and undated origins.
func (g *game) count(key, by int) {
	switch s := g.states[key]; {
	case !s.Enabled():
	case s.LastUpdate == visit.Never:
		g.counts.A += by
	default:
		g.counts.B += by
	}
}

// list is the daily listing of all that exists.
func (g *game) list(now int64) {
	later := g.arriving[:0]
	for _, key := range g.arriving {
		if g.things[key].born > now {
			later = append(later, key)
			continue
		}
		g.appear(int(key), now)
	}
	g.arriving = later
	for key := range g.things {
		if g.things[key].born < now {
			g.relist(key, now)
		}
	}
	g.queues.quality.Listed = now
}

func (g *game) appear(key int, now int64) {
	t := &g.things[key]
	s := visit.NewState(int64(key), now, g.rules)
	s.Lister = 1
	if g.Scenario.Dated {
		s.LastUpdate = t.born
	}
	g.states[key] = s
	g.count(key, 1)
	t.born = now // counted from when it could be known
	t.unseen = append(t.unseen, int32(now-start))
	g.place(key, now)
}

func (g *game) relist(key int, now int64) {
	t, s := &g.things[key], &g.states[key]
	dead, date := now >= t.dies, visit.Never
	if g.Scenario.Dated && !dead {
		g.Scenario.advance(t, now)
		date = g.Scenario.listing(t, key, now)
	}
	missed := dead && t.dropped
	if missed != s.Enabled() && date <= s.LastUpdate {
		return // as it was
	}
	g.count(key, -1)
	if missed {
		*s = visit.Unlisted(*s)
	} else {
		*s = visit.Listed(*s, now, date)
	}
	g.count(key, 1)
	g.place(key, now)
}

// place puts an origin into its queue, or into the calendar while it rests.
func (g *game) place(key int, now int64) {
	s := g.states[key]
	until, _ := g.rules.Rest(s)
	switch {
	case !s.Enabled():
		g.queues.drop(key)
	case until > now:
		g.queues.drop(key)
		if until < g.end {
			at := (until - start + tick - 1) / tick
			g.queues.resting[at] = append(g.queues.resting[at], int32(key))
		}
	default:
		g.queues.place(key, g.policy.Place(s))
	}
}

// wake places those whose rest is over.
func (g *game) wake(now int64) {
	at := (now - start) / tick
	for _, key := range g.queues.resting[at] {
		g.place(int(key), now)
	}
	delete(g.queues.resting, at)
}

// pick visits as many as there is room for.
func (g *game) pick(now int64) {
	g.credit += g.Setup.Capacity * tick / day
	n := int(g.credit)
	g.credit -= float64(n)
	g.meter.slots += n
	g.queues.quality = g.dates.Quality(g.queues.quality.Listed)
	picked := visit.Pick(g.policy, g.queues, now, n, g.counts, nil)
	g.counts.Served += int64(len(picked))
	g.queues.settle(picked)
	for _, c := range picked {
		g.visit(int(c.Key), now)
	}
}

// visit looks at an origin.
func (g *game) visit(key int, now int64) {
	t := &g.things[key]
	s := &g.states[key]
	if s.Target != visit.Never {
		g.position = max(g.position, s.Target)
	}
	s.LastScheduled = now
	g.meter.visits++
	g.meter.size += float64(t.size)
	if s.LastVisit == visit.Never {
		g.meter.first++
		g.meter.firstWait += float64(now - s.FirstSeen)
	}
	g.Scenario.advance(t, now)
	before := *s
	effect := g.record(key, now)
	switch {
	case now >= t.dies:
		g.meter.dead++
	case effect.Success:
		g.see(t, now)
		if !effect.Changed && before.LastSuccess != visit.Never {
			g.meter.useless++
		}
		g.dates = g.dates.Learn(before, visit.Event{At: now}, effect, g.rules.Rate(before), g.queues.quality.Listed)
	}
}

// see makes everything seen that has changed until now.
func (g *game) see(t *thing, now int64) {
	if len(t.unseen) > 0 {
		g.meter.unseen(max(start+int64(t.unseen[0]), start), now)
	}
	for _, at := range t.unseen {
		g.meter.delays.add(now - start - int64(at))
	}
	t.unseen = t.unseen[:0]
}

// record gives the policy the outcome of a visit.
func (g *game) record(key int, now int64) visit.Effect {
	t := &g.things[key]
	e := visit.Event{Status: visit.Full, At: now, Fudge: (2*g.fudge.uniform() - 1) * g.rules.Fudge}
	s := g.states[key]
	switch {
	case now >= t.dies:
		e.Status = visit.NotFound
	case now >= start && g.fudge.uniform() < g.Scenario.FailedRate:
		e.Status = visit.Failed
	default:
		e.Digest = strconv.FormatUint(uint64(t.changes), 36)
		if g.Scenario.Counts {
			e.Changes, e.Span = g.countable(t, s, now)
		}
		t.seen = t.changes
		if now < start {
			t.unseen = t.unseen[:0]
		}
	}
	g.count(key, -1)
	var effect visit.Effect
	g.states[key], effect = g.policy.Record(s, e, g.position)
	g.count(key, 1)
	g.place(key, max(now, start))
	return effect
}

// countable is what a visit can count: the changes since the last success, or,
// at the first, those of the half-year before.
func (g *game) countable(t *thing, s visit.State, now int64) (changes, span float64) {
	if s.LastSuccess != visit.Never {
		return float64(t.changes - t.seen), float64(now-s.LastSuccess) / day
	}
	const back = 180.0
	mean := t.rate * back
	if g.Scenario.Changes == "bursts" {
		size := g.Scenario.BurstSize
		return float64(t.dice.poisson(mean/size)) * size, back
	}
	return float64(t.dice.poisson(mean)), back
}

// poisson draws a number of events; far from 0, by the normal law.
func (d *dice) poisson(mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*d.normal())))
	}
	n, p := 0, d.uniform()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= d.uniform()
	}
	return n
}

// finish counts what is unseen at the end.
func (g *game) finish() Result {
	for key := range g.things {
		t := &g.things[key]
		born, until := max(t.born, start), min(t.dies, g.end)
		if until <= born {
			continue
		}
		g.meter.alive += float64(until - born)
		g.Scenario.advance(t, until)
		g.see(t, until)
	}
	r := g.meter.result()
	r.Scenario, r.Policy, r.Seed = g.Scenario.Name, g.Setup.Policy, g.Seed
	r.Origins, r.Days, r.Capacity = g.Origins, g.Days, g.Setup.Capacity
	return r
}

// oracle is the bound: the greedy choice that knows the true rates.
type oracle struct {
	visit.Value
	things []thing
}

// Name implements visit.Policy.
func (oracle) Name() string { return Bound }

// Place implements visit.Policy.
func (o oracle) Place(s visit.State) visit.Place {
	t := &o.things[s.Key]
	p := o.Value.Place(s)
	p.Class = visit.ClassOf(t.rate)
	if s.LastVisit >= t.dies || s.LastScheduled >= t.dies {
		p.Class = 0
	}
	return p
}

// Shares implements visit.Policy: all by value.
func (oracle) Shares(n int, _ visit.Counts) (shares, refill []visit.Share) {
	return []visit.Share{{Pools: []visit.Pool{visit.PoolFirst, visit.PoolKnown, visit.PoolQuiet, visit.PoolSignal}, N: n}}, nil
}
