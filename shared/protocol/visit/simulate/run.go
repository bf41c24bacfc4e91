package simulate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// Setup describes one run.
type Setup struct {
	Scenario Scenario
	Policy   string // one of policy.Names, or KnownRates
	Rules    policy.Rules
	OfKinds  string // rules of kinds and of all, as policy.ParsePlan takes them, in scenarios with kinds; Rules has no effect there
	Origins  int
	Days     int
	Seed     uint64
	Capacity float64 // visits per day of all origins; 0: the scenario's
	Claim    int     // slots of a claim, spread over each tick; 0: the scenario's
}

// Check returns fault.ErrInvalid if a number is out of range. It does not check the
// scenario, the policy and the rules; Run does.
func (s Setup) Check() error {
	if s.Origins < 1 || s.Origins > maxOrigins || s.Days < 1 || s.Days > maxDays || !(s.Capacity >= 0 && s.Capacity <= 1e9) || s.Claim < 0 {
		return fmt.Errorf("%d origins, %d days, capacity %v, claims of %d: %w: want 1 to %d, 1 to %d, 0 to 10^9, and 0 or more",
			s.Origins, s.Days, s.Capacity, s.Claim, fault.ErrInvalid, maxOrigins, maxDays)
	}
	return nil
}

// KnownRates is the name of the reference that knows the true rates.
const KnownRates = "known-rates"

// The limits of Setup.
const (
	maxOrigins = 10_000_000
	maxDays    = 36_500
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

// setRules sets the rules of all origins and of kinds, and the plan.
func (r *run) setRules() (err error) {
	name, kinds := r.Setup.Policy, (*policy.Plan)(nil)
	if name == KnownRates {
		name = policy.Names[0]
	}
	if len(r.Kinds) > 0 {
		if kinds, err = policy.ParsePlan(name, r.OfKinds); err != nil {
			return err
		}
		r.tick, r.rules = kindTick, kinds.Rules("")
		r.counts.Types = map[string]policy.TypeCounts{}
		for _, k := range r.Kinds {
			r.kindRules = append(r.kindRules, kinds.Rules(k.Kind))
		}
	}
	if r.policy = kinds; kinds == nil || r.Setup.Policy == KnownRates {
		r.policy, err = r.plan()
	}
	return err
}

// plan returns the plan of the setup's policy without kinds, or of the reference: claims divide their slots by it, as
// those of the store do.
func (r *run) plan() (*policy.Plan, error) {
	if r.Setup.Policy != KnownRates {
		return policy.Uniform(r.Setup.Policy, r.rules)
	}
	reference := optimal{policy.Value{Rules: r.rules}, r.origins, 0}
	if r.Changes == "bursts" {
		reference.burst = r.BurstSize
	}
	return policy.Single(reference, r.rules), r.rules.Check()
}

// capacity returns the visits per day of all origins of the setup: the first number set. Need counts the changes
// of the drawn origins, which may be fewer, and scales them.
func (w *world) capacity(s Setup) float64 {
	switch {
	case s.Capacity > 0:
		return s.Capacity
	case w.CapacityDay > 0:
		return w.CapacityDay
	case w.Need > 0:
		changes := 0.0
		for i := range w.origins {
			changes += w.origins[i].rate
		}
		return min(w.Need*changes*float64(s.Origins)/float64(len(w.origins)), 1e9)
	}
	return w.Scenario.Capacity * float64(s.Origins)
}

// limits returns the freshness values with which results of the setup are compared. They are computed from at
// most limitOrigins origins, with as much less capacity.
func (s Setup) limits() (limits, error) {
	if err := s.Scenario.Check(); err != nil {
		return limits{}, fmt.Errorf("scenario %s: %w", s.Scenario.Name, err)
	}
	if err := s.Check(); err != nil {
		return limits{}, err
	}
	if n := len(s.Scenario.Recorded); n > 0 {
		s.Origins = n
	}
	w := newWorld(s.Scenario, s.Origins, limitOrigins, s.Seed, start+int64(s.Days)*day)
	return limitsOf(w, w.capacity(s)*float64(len(w.origins))/float64(s.Origins)), nil
}

const limitOrigins = 20_000

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

// visitBest gives out the slots of one tick in claims (Setup.Claim), which follow each other evenly, and at most
// HostVisits of them to a host. Slots that no origin takes are lost, and fractions of a slot are kept for the next
// tick.
func (r *run) visitBest(now int64) {
	r.credit += r.Setup.Capacity * float64(r.tick) / day
	n := int(r.credit)
	r.credit -= float64(n)
	r.meter.slots += n
	size := r.Setup.Claim
	if size == 0 {
		size = n
	}
	for claimed := 0; claimed < n; claimed += size {
		r.claim(min(size, n-claimed), now+int64(claimed)*r.tick/int64(n))
	}
}

// claim visits the origins that the policy picks for n slots. All are picked before the first is visited, so
// outcomes of this claim do not change the choice; touch reads the states of the next ones ahead, for speed only.
func (r *run) claim(n int, now int64) {
	picked := policy.Pick(r.policy, r.queues, now, n, r.counts, func(c policy.Candidate) bool { return r.accept(c.Key, now) })
	for _, c := range picked {
		r.counts.ServedBy[c.Place.Pool]++
	}
	r.pace = r.pace.Add(len(picked), now)
	r.counts.PerDay = r.pace.PerDay
	r.queues.finishPick(picked)
	for i, c := range picked {
		if i%touchAhead == 0 {
			r.touch(picked[i:min(i+touchAhead, len(picked))])
		}
		r.visit(int(c.Key), now)
	}
}

// touchAhead is how many origins touch loads at once.
const touchAhead = 16

// touch reads a word of each cache line of origins that are visited next. Their loads from
// memory then overlap; without it a simulation of 10^6 origins waits for one after the other,
// which took a quarter of its time.
func (r *run) touch(picked []policy.Candidate) {
	sum := int64(0)
	for _, c := range picked {
		o, s := &r.origins[c.Key], &r.states[c.Key]
		sum += o.born + o.switches + int64(o.host)
		sum += s.Key + s.Created + s.LastVisit + s.Target + s.NotBefore + int64(s.Recent[len(s.Recent)-1])
	}
	r.touched = sum
}

// visit visits an origin, records the outcome and measures it. A visit after the death of the
// origin counts as dead; a success counts as useless if it found nothing new. The queue positions
// move before, and the world is advanced to now before the outcome is read from it. The lister's
// dates learn from the state before the visit.
func (r *run) visit(key int, now int64) {
	o := &r.origins[key]
	s := &r.states[key]
	r.position = r.policy.Position(r.position, *s)
	s.Begin(now)
	r.meter.visits++
	r.meter.size += float64(o.size)
	if s.LastVisit == policy.Never {
		r.meter.addFirst(now - s.FirstSeen)
	}
	r.advance(o, now)
	before := *s
	e, effect := r.record(key, now)
	switch {
	case now >= o.dies:
		r.meter.dead++
	case effect.Success:
		r.markSeen(o, now)
		if !effect.Changed && before.LastSuccess != policy.Never {
			r.meter.useless++
		}
		if o.dated {
			l := &r.listers[o.lister]
			l.dates = r.rulesOf(o).LearnDates(l.dates, r.quality(int32(o.lister)+1), before, e, effect)
		}
	}
}

// markSeen measures that an origin's changes are seen now: the span in which it had an unseen
// one, from the first, and the delay of each. Then none is unseen.
func (r *run) markSeen(o *origin, now int64) {
	first := true
	for at := range r.unseen.of(&o.unseen) {
		if first {
			r.meter.addUnseen(max(at, start), now)
			first = false
		}
		r.meter.delays.add(now - at)
	}
	r.unseen.clear(&o.unseen)
}

// record draws the outcome of a visit and gives it to the policy, in the order of the store: the
// policy records, a refusal is taken back, a success teaches silences. The outcome depends on the
// origin and the time only, not on earlier draws. Visits before start do not fail, and their
// changes are not measured.
func (r *run) record(key int, now int64) (policy.Event, policy.Effect) {
	o := &r.origins[key]
	g := r.random(forOutcome, int64(key), now)
	e := policy.Event{Status: policy.Full, At: now, Fudge: (2*g.uniform() - 1) * r.rules.Fudge}
	s := &r.states[key]
	outage, down := span{}, false
	if len(r.hosts) > 0 && now >= start {
		outage, down = r.hosts[o.host].outage(now)
	}
	switch {
	case down && outage.refuses:
		e.Status, e.NotBefore = policy.Failed, min(outage.to, now+day)
		r.hosts[o.host].noteRefusal(key, e.NotBefore)
	case down:
		e.Status = policy.Failed
	case now >= o.dies:
		e.Status = policy.NotFound
	case now >= start && g.uniform() < r.FailedRate:
		e.Status = policy.Failed
	default:
		e.Digest = digestOf(o.changes)
		switch {
		case !r.Counts:
		case r.window(key) < math.MaxInt32:
			r.readDocument(key, now, &e)
		default:
			e.Times, e.Changes, e.Span = r.changesCounted(key, now)
		}
		r.countLost(key, now)
		o.seen = o.changes
		if now < start {
			r.unseen.clear(&o.unseen)
		}
	}
	r.addCount(key, -1)
	var effect policy.Effect
	before := *s
	*s, effect = r.policy.Record(before, e, r.position)
	if e.NotBefore > 0 && !effect.Success {
		*s = policy.AfterRefusal(before, *s)
	}
	if !s.Enabled() && !r.tells(o) { // listDue asks those that tell anyway
		r.disabled = append(r.disabled, int32(key))
	}
	if effect.Success {
		rules := r.rulesOf(o)
		rules.LearnSilence(&r.silences, before, e, effect)
		s.Activity = rules.Activity(&r.silences, *s)
	}
	r.addCount(key, 1)
	r.place(key, max(now, start))
	return e, effect
}

// digests are shared, because a digest for each change would take memory of its own.
var digests = func() (all [1 << 12]string) {
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}()

// digestOf returns the digest of an origin's content after so many changes.
func digestOf(changes uint32) string { return digests[changes%uint32(len(digests))] }

// changesCounted returns the changes that a visit now can count: their times, their number, and
// over how many days. These are the changes since the last success or, at the first visit, those
// of 180 days before, which are drawn then. With recorded origins the past is not drawn; then a first visit
// sets LastSuccess to when the origin was listed, and counts from there. The times are valid until the next call.
func (r *run) changesCounted(key int, now int64) (times []int64, changes, span float64) {
	o, s := &r.origins[key], &r.states[key]
	r.times = r.times[:0]
	first := s.LastSuccess == policy.Never
	if first && len(r.Recorded) == 0 {
		const back = 180.0
		past, total := r.pastChanges(int64(key), back-float64(now-o.born)/day, policy.MostTimes)
		slices.Reverse(past)
		r.times = append(r.times, past...)
		changes, span = float64(total)+float64(o.changes), back
	} else {
		if first {
			s.LastSuccess = s.FirstSeen
		}
		changes, span = float64(o.changes-o.seen), float64(now-s.LastSuccess)/day
	}
	for at := range r.unseen.of(&o.unseen) {
		r.times = append(r.times, at)
	}
	return r.times, changes, span
}

// countLost counts the changes since the last success that a document does not have any more. The first visit of
// an origin loses none, because nothing was known of it.
func (r *run) countLost(key int, now int64) {
	o := &r.origins[key]
	if now < start || r.states[key].LastSuccess == policy.Never {
		return
	}
	r.meter.lost += max(int(o.changes-o.seen)-r.window(key), 0)
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
