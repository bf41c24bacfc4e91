package simulate

import (
	"context"
	"fmt"
	"math"

	"leasehold/shared/protocol/visit/policy"
)

// tick is the time in which the slots of a number of claims are given out. Kinds rest for less, so that scenarios with
// kinds have ticks of an hour.
const (
	tick     = day / 4
	kindTick = 3600
)

// Run simulates one policy in one scenario. It fails with fault.ErrInvalid if the setup is not valid.
func Run(ctx context.Context, s Setup) (Result, error) {
	r, err := newRun(s)
	if err != nil {
		return Result{}, err
	}
	for now := start; now < r.end; now += r.tick {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		r.step(now)
	}
	return r.finish(), nil
}

// step simulates one tick.
func (r *run) step(now int64) {
	if (now-start)%tick == 0 {
		r.listDue(now)
		for i := range r.hosts {
			r.hosts[i].visits = 0 // accept counts those of this time
		}
	}
	r.queues.endRests((now - start) / r.tick)
	r.visitBest(now)
}

// run is the state of one simulation.
type run struct {
	Setup
	*world
	policy *policy.Plan
	rules  policy.Rules // of all types without their own
	tick   int64        // in seconds
	states []policy.State
	queues *queues
	counts policy.Counts
	pace   policy.Pace
	meter  meter

	kindRules []policy.Rules // of Scenario.Kinds
	documents [][]int64      // dates of the items at the last success, of origins whose documents are windows

	silences policy.Silences
	position int64   // the queue position, which the policy moves
	credit   float64 // slots earned and not yet given out
	unborn   []int32 // keys of origins that are not listed yet
	telling  []int32 // keys of those for which tells is true
	disabled []int32 // keys of others that failures disabled: the next listing enables them again
	touched  int64   // has the compiler keep the loads of touch
	times    []int64 // of the changes that a visit counts; used again by the next
}

// newRun returns a run at its start: the world is drawn, and the origins that exist have been visited once. A
// recorded scenario replaces the number of origins by its own.
func newRun(s Setup) (*run, error) {
	if err := s.Scenario.Check(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Scenario.Name, err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if n := len(s.Scenario.Recorded); n > 0 {
		s.Origins = n
	}
	w := newWorld(s.Scenario, s.Origins, s.Origins, s.Seed, start+int64(s.Days)*day)
	s.Capacity, s.Rules = w.capacity(s), s.Rules.ForPolicy(s.Policy)
	r := &run{Setup: s, world: w, rules: s.Rules, position: start, tick: tick}
	r.meter.warm = start + int64(warmUp*float64(w.end-start))
	if err := r.setRules(); err != nil {
		return nil, err
	}
	if s.Claim == 0 {
		r.Setup.Claim = int(math.Round(w.Scenario.Claim))
	}
	r.documents = make([][]int64, s.Origins)
	r.states, r.counts.ServedBy = make([]policy.State, s.Origins), map[policy.Pool]int64{}
	r.queues = newQueues(s.Origins, r.quality)
	r.visitBeforeStart()
	for key := range r.origins {
		if r.tells(&r.origins[key]) {
			r.telling = append(r.telling, int32(key))
		}
	}
	return r, nil
}

// visitBeforeStart gives each origin that exists at the start one visit at a random time during
// the history, because a scheduler is rarely started with empty records. Others wait in unborn
// until they are listed.
func (r *run) visitBeforeStart() {
	for key := range r.origins {
		o := &r.origins[key]
		r.states[key] = r.newState(key, o.born)
		if o.born >= start {
			r.unborn = append(r.unborn, int32(key))
			continue
		}
		r.addCount(key, 1)
		g := r.random(forFirstVisit, int64(key), 0)
		at := start - 1 - int64(g.uniform()*float64(history-day))
		if o.dies <= o.born { // dead from the start: it dies right after this visit
			o.dies = at + 1
		}
		r.advance(o, at)
		r.position = at
		r.record(key, at) // its results are for measuring, which begins at the start
		r.skipLost(key)
	}
	r.position = start
}

// addCount adds by to the number of dated or undated origins, if the origin is enabled.
// Callers subtract it before they change a state and add it afterwards.
func (r *run) addCount(key, by int) {
	var of policy.TypeCounts
	switch s := &r.states[key]; {
	case !s.Enabled():
		return
	case s.LastUpdate == policy.Never:
		of.A = by
	default:
		of.B = by
	}
	r.counts.A += of.A
	r.counts.B += of.B
	if r.counts.Types != nil {
		t := r.counts.Types[r.states[key].Type]
		t.A, t.B = t.A+of.A, t.B+of.B
		r.counts.Types[r.states[key].Type] = t
	}
}

// place puts an origin into its queue, or while it rests into queues.resting: its place
// stays the same until it is visited or listed again.
func (r *run) place(key int, now int64) {
	s := &r.states[key]
	until, _ := r.rulesOf(&r.origins[key]).Rest(*s)
	switch {
	case until >= r.end: // also of a disabled origin
		r.queues.remove(key)
	case until > now:
		r.queues.rest(key, r.policy.Place(*s), (until-start+r.tick-1)/r.tick)
	default:
		r.queues.place(key, r.policy.Place(*s))
	}
}

// quality returns the quality of the dates of the lister with a number, 1 for the first, as it is
// known now from its visits and, where these are few, from those of all listers. For 0, no
// lister, it is the zero value.
func (r *run) quality(id int32) policy.Quality {
	if id < 1 || int(id) > len(r.listers) {
		return policy.Quality{}
	}
	l, all := &r.listers[id-1], policy.Dates{}
	for i := range r.listers {
		all = all.Add(r.listers[i].dates)
	}
	return r.rules.Quality(l.dates, all, l.listed)
}

// finish measures the changes that are unseen at the end, and the time that origins were alive,
// and returns the result. Each origin is advanced to its death or the end.
func (r *run) finish() Result {
	for key := range r.origins {
		o := &r.origins[key]
		born, until := max(o.born, start), min(o.dies, r.end)
		if until <= born {
			continue
		}
		r.meter.alive += float64(until - born)
		r.meter.aliveLate += float64(max(until-max(born, r.meter.warm), 0))
		r.advance(o, until)
		r.countLost(key, until)
		r.markSeen(o, until)
		if s := &r.states[key]; s.LastVisit == policy.Never && s.FirstSeen < until {
			r.meter.never++
			r.meter.firstWaits.add(until - s.FirstSeen)
		}
	}
	result := r.meter.result()
	result.Scenario, result.Policy, result.Seed = r.Name, r.Setup.Policy, r.Seed
	result.Pools = map[string]int{}
	for pool, n := range r.counts.ServedBy {
		result.Pools[pool.String()] += int(n)
	}
	result.Origins, result.Days, result.Capacity = r.Origins, r.Days, r.Setup.Capacity
	return result
}
