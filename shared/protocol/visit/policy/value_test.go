package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The trapezoids of growing width are compared with the sum of very narrow ones.
func TestTheFreshnessAfterAFirstVisitIsTheIntegral(t *testing.T) {
	t.Parallel()
	for _, p := range []Value{{Rules: DefaultRules()}, {Rules: Rules{PriorDays: 5, PriorStrength: 2, HorizonDays: 30}}} {
		scale, want := p.PriorStrength*p.PriorDays, 0.0
		const width = 0.01
		for at := width / 2; at < 10*p.HorizonDays; at += width {
			want += width * math.Pow(scale/(scale+at), p.PriorStrength) * math.Exp(-at/p.HorizonDays)
		}
		require.InEpsilon(t, want, p.freshAfterFirst(), 0.02)
	}
}

func TestTheValueOfAForkIsAPartOfThatOfAnOrigin(t *testing.T) {
	t.Parallel()
	rules := DefaultRules()
	rules.ForkWeight = 0.25
	p := Value{Rules: rules}
	for class := range uint16(Classes) {
		origin := Place{Pool: PoolDue, Class: class, Ref: 1_600_000_000}
		fork := origin
		fork.Class += Classes
		want := p.Worth(origin, Quality{}, 1_600_100_000)
		require.Positive(t, want)
		require.InDelta(t, want/4, p.Worth(fork, Quality{}, 1_600_100_000), want/1e9, "class %d", class)
	}
}

func TestTheIndexesOfFreshnessAndLagAreTheirClosedForms(t *testing.T) {
	t.Parallel()
	fresh, lag := Terms(2, 4, 0.5)
	require.InDelta(t, (1-math.Exp(-2)*3)/0.5, fresh, 1e-12)
	require.InDelta(t, 4*(1-(1-math.Exp(-2))/2), lag, 1e-12)
	fresh, lag = Terms(0, 4, 0.5)
	require.Zero(t, fresh)
	require.Zero(t, lag, "nothing is expected to have changed")
}

// The value of each pool is written out with its own formula.
func TestTheValueOfAVisitIsThatOfItsPool(t *testing.T) {
	t.Parallel()
	rules := DefaultRules()
	rules.WeightFresh, rules.WeightLag, rules.HorizonDays, rules.FailedFactor = 3, 0.5, 200, 0.25
	p := Value{Rules: rules}
	const class, now = 20, 1_700_000_000
	rate, forgotten := ClassRate(class), 1.0/200
	q := Quality{Recall: 0.7, False: 0.02, Listed: now - 2*day}
	value := func(fresh, x, days float64) float64 {
		_, lag := Terms(x, days, rate)
		return 3*fresh + 0.5*lag
	}
	const days = 5
	x, dated := rate*days, q.signals(rate)
	quiet, signal := dated.unseen(days, 3, false), dated.unseen(days, 3, true)
	known := value(noSignals(rate).index(x, forgotten), x, days)
	first := value(p.freshAfterFirst(), x+certain, days)
	for name, c := range map[string]struct {
		pool   Pool
		lister int32
		q      Quality
		want   float64
		unseen float64
	}{
		"known":                   {PoolKnown, 0, q, known, x},
		"failing once":            {PoolFailing, 1, q, known / 4, x},
		"failing three times":     {PoolFailing, 3, q, known / 64, x},
		"quiet":                   {PoolQuiet, 1, q, value(dated.index(quiet, forgotten), quiet, days), quiet},
		"signal":                  {PoolSignal, 1, q, value(dated.index(signal, forgotten), signal, days), signal},
		"first":                   {PoolFirst, 1, q, first, x + certain},
		"first, with priority":    {PoolFirst, 1, Quality{FirstVisits: true}, first + firstVisitBonus, x + certain},
		"known, of such a lister": {PoolKnown, 1, Quality{FirstVisits: true}, known, x},
	} {
		place := Place{Pool: c.pool, Lister: c.lister, Class: class, Ref: now - days*day}
		require.InDelta(t, c.want, p.Worth(place, c.q, now), 1e-9, name)
		require.InDelta(t, c.unseen, p.unseenChanges(place, c.q, now), 1e-9, name)
		place.Class += Classes
		require.InDelta(t, c.unseen, p.unseenChanges(place, c.q, now), 1e-9, "%s, a fork", name)
	}
	place := Place{Pool: PoolKnown, Class: class, Ref: now}
	require.Zero(t, p.Worth(place, q, now), "right after a visit")
	require.Zero(t, p.Worth(place, q, now-day), "before the last visit")
	require.Zero(t, p.unseenChanges(place, q, now-day))
	p.FirstOrder = ByActivity
	place = Place{Pool: PoolFirst, Class: class, Ref: now - days*day}
	require.InDelta(t, 3*p.freshAfterFirst(), p.Worth(place, q, now), 1e-9, "its ref does not tell how long it has waited")
	place.Pool = PoolKnown
	require.InDelta(t, known, p.Worth(place, q, now), 1e-9)
}

func TestTheChanceThatAChangeIsDueIsLogisticAroundItsTime(t *testing.T) {
	t.Parallel()
	const class, now = 20, 1_700_000_000
	gap := 1 / ClassRate(class)
	for lister, spread := range map[int32]float64{-1: 0.03, 0: 0.03, 1: 0.06, 2: 0.12, 3: 0.2, 4: 0.3, 9: 0.3} {
		for _, late := range []float64{-gap / 2, 0, 0.25, gap / 2} {
			place := Place{Pool: PoolDue, Lister: lister, Class: class, Ref: now - int64(late*day)}
			chance, every := dueChance(place, now)
			require.InDelta(t, gap, every, 1e-12)
			require.InDelta(t, 1/(1+math.Exp(-1.7*late/(spread*gap))), chance, 1e-4, "lister %d, %v days late", lister, late)

			gained, price := chance*(1-math.Exp(-gap*0.01))/0.01, (1-chance)*(1-math.Exp(-(gap+late)*0.01))/0.01
			require.InDelta(t, max(gained-price, gained/1000), dueIndex(place, now, 0.01), 1e-4)
			rules := DefaultRules()
			rules.WeightFresh, rules.WeightLag, rules.HorizonDays = 3, 0.5, 100
			require.InDelta(t, 3*dueIndex(place, now, 0.01)+0.5*chance*max(late, 0), Value{rules}.Worth(place, Quality{}, now), 1e-4)
			require.InDelta(t, -math.Log(1-min(chance, 1-1e-9)), Value{rules}.unseenChanges(place, Quality{}, now), 1e-3)
		}
	}
	far, _ := dueChance(Place{Class: class, Ref: now - 1e12}, now)
	require.EqualValues(t, 1, far)
	far, _ = dueChance(Place{Class: class, Ref: now + 1e12}, now)
	require.Less(t, far, 1e-200)
	early := Place{Pool: PoolDue, Lister: 4, Class: class, Ref: now + int64(1.5*gap*day)} // before the last change
	chance, _ := dueChance(early, now)
	require.InEpsilon(t, chance*(1-math.Exp(-gap*0.01))/0.01, dueIndex(early, now, 0.01), 1e-9)
}

func TestAnOriginWithAHabitWaitsInTheQueueOfItsGapAndSpread(t *testing.T) {
	t.Parallel()
	s := NewState(1, 0, DefaultRules())
	const gap = 1_000_000
	for spread, lister := range map[int64]int32{0: 0, 30_000: 0, 30_001: 1, 60_000: 1, 60_001: 2, 120_001: 3, 200_000: 3, 200_001: 4, 300_001: 4, 900_000: 4} {
		s.LastSuccess = 5000
		want := Place{Pool: PoolDue, Lister: lister, Class: ClassOf(float64(day) / gap), Ref: 2_000_000}
		require.Equal(t, want, placeDue(s, Habit{Gap: gap, Spread: spread, Next: 2_000_000}), spread)
		s.LastSuccess = 2_000_000
		want.Ref = 2_000_000 + spread/2
		require.Equal(t, want, placeDue(s, Habit{Gap: gap, Spread: spread, Next: 2_000_000}), "%d: the expected time has passed", spread)
	}
}

func TestAnOriginIsPlacedByTheFirstRuleThatApplies(t *testing.T) {
	t.Parallel()
	p := Value{Rules: DefaultRules()}
	const success, seen = 2000, 1000
	state := func(change func(*State)) State {
		s := NewState(1, seen, p.Rules)
		s.Lister, s.LastVisit, s.LastSuccess, s.LastStatus = 7, success, success, Full
		change(&s)
		return s
	}
	class := ClassOf(p.Rate(NewState(1, 0, p.Rules)))
	for name, c := range map[string]struct {
		state State
		want  Place
	}{
		"never visited":               {state(func(s *State) { s.LastVisit, s.LastSuccess = Never, Never }), Place{PoolFirst, 7, class, seen}},
		"never, and failed":           {state(func(s *State) { s.LastSuccess, s.Failures, s.LastStatus = Never, 1, Failed }), Place{PoolFailing, 1, class, seen}},
		"known":                       {state(func(*State) {}), Place{PoolKnown, 0, class, success}},
		"failed":                      {state(func(s *State) { s.Failures, s.LastStatus = 1, Failed }), Place{PoolFailing, 1, class, success}},
		"failed, with a date":         {state(func(s *State) { s.Failures, s.LastStatus, s.LastUpdate = 2, Failed, success+1 }), Place{PoolFailing, 2, class, success}},
		"not found":                   {state(func(s *State) { s.Failures, s.LastStatus = 1, NotFound }), Place{PoolFailing, 2, class, success}},
		"failed eight times":          {state(func(s *State) { s.Failures, s.LastStatus = 8, Failed }), Place{PoolFailing, 8, class, success}},
		"failed more often":           {state(func(s *State) { s.Failures, s.LastStatus = 99, NotFound }), Place{PoolFailing, 9, class, success}},
		"refused once":                {state(func(s *State) { s.Refusals = 1 }), Place{PoolKnown, 0, class, success}},
		"refused twice":               {state(func(s *State) { s.Refusals = 2 }), Place{PoolFailing, 1, class, success}},
		"refused more than it failed": {state(func(s *State) { s.Refusals, s.Failures = 5, 3 }), Place{PoolFailing, 4, class, success}},
		"a date since":                {state(func(s *State) { s.LastUpdate = success + 1 }), Place{PoolSignal, 7, class, success}},
		"a date at the visit":         {state(func(s *State) { s.LastUpdate = success }), Place{PoolQuiet, 7, class, success}},
		"a report since":              {state(func(s *State) { s.LastUpdate, s.Told = success+1, true }), Place{PoolSignal, TellersID, class, success}},
		"a report before":             {state(func(s *State) { s.LastUpdate, s.Told = success-1, true }), Place{PoolQuiet, TellersID, class, success}},
		"a fork":                      {state(func(s *State) { s.Fork = true }), Place{PoolKnown, 0, class + Classes, success}},
	} {
		require.Equal(t, c.want, p.Place(c.state), name)
	}
	s := state(func(s *State) { s.Changes, s.Days, s.Activity = 100, 10, 0.1 })
	require.Equal(t, ClassOf(p.Rate(s)*0.1), p.Place(s).Class, "after a long silence")
}

func TestFirstVisitsAreOrderedByTheDateThatTheRuleNames(t *testing.T) {
	t.Parallel()
	const seen = 1000
	for name, c := range map[string]struct {
		order                   string
		visit, created, updated int64
		want                    int64
	}{
		"created":                 {ByCreation, Never, 500, 800, 500},
		"created, without a date": {ByCreation, Never, Never, 800, seen},
		"created in the future":   {ByCreation, Never, 1500, Never, seen},
		"updated":                 {ByUpdate, Never, 500, 800, 800},
		"updated, without a date": {ByUpdate, Never, 500, Never, seen},
		"updated since":           {ByUpdate, Never, 500, 1500, seen},
		"active":                  {ByActivity, Never, 500, 800, -800},
		"active, without a date":  {ByActivity, Never, 500, Never, -seen},
		"tried":                   {ByCreation, 3000, 500, 800, 3000},
		"active, and tried":       {ByActivity, 3000, 500, 800, 3000},
	} {
		p := Value{Rules: DefaultRules()}
		p.FirstOrder = c.order
		s := NewState(1, seen, p.Rules)
		s.LastVisit, s.Created, s.LastUpdate = c.visit, c.created, c.updated
		require.Equal(t, c.want, p.firstRef(s), name)
	}
}

func TestFirstVisitsAndOthersHaveTheirSharesOfEachBatch(t *testing.T) {
	t.Parallel()
	p := Value{Rules: DefaultRules()}
	p.FirstShare, p.KnownShare = 0.2, 0.1
	split := func(n int, served int64) (got []int) {
		shares, refill := p.Shares(n, Counts{Served: served})
		require.Equal(t, []Share{{Pools: everywhere}}, refill)
		require.Equal(t, [][]Pool{{PoolFirst}, visited, everywhere}, [][]Pool{shares[0].Pools, shares[1].Pools, shares[2].Pools})
		for _, s := range shares {
			got = append(got, s.N)
		}
		return got
	}
	require.Equal(t, []int{20, 10, 70}, split(100, 0))
	require.Equal(t, []int{0, 0, 1}, split(1, 0))
	sum := make([]int, 3)
	for served := range int64(100) { // one at a time
		for i, n := range split(1, served) {
			sum[i] += n
		}
	}
	require.Equal(t, 20, sum[0])
	require.GreaterOrEqual(t, sum[1], 10)
	require.Equal(t, 100, sum[0]+sum[1]+sum[2])
	p.FirstShare, p.KnownShare = 0.8, 0.5
	require.Equal(t, []int{80, 20, 0}, split(100, 0), "both together are at most all")
	require.NotContains(t, visited, PoolFirst)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(everywhere))), 6)
}
