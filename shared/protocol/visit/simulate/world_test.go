package simulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

func setupOf(s Scenario, name string, seed uint64) Setup {
	return Setup{Scenario: s, Policy: name, Rules: policy.DefaultRules(), Origins: 200, Days: 90, Seed: seed}
}

// finished returns a run after its last tick.
func finished(t *testing.T, s Setup) *run {
	t.Helper()
	r, err := newRun(s)
	require.NoError(t, err)
	for now := start; now < r.end; now += tick {
		r.step(now)
	}
	for key := range r.origins {
		r.advance(&r.origins[key], r.end)
	}
	return r
}

func TestTheWorldDoesNotDependOnThePolicy(t *testing.T) {
	t.Parallel()
	for _, s := range Scenarios {
		a, b := finished(t, setupOf(s, "value", 3)), finished(t, setupOf(s, "roundrobin", 3))
		for key := range a.origins {
			x, y := a.origins[key], b.origins[key]
			require.Equal(t, x.changes, y.changes, "%s origin %d", s.Name, key)
			require.Equal(t, x.lastChange, y.lastChange, "%s origin %d", s.Name, key)
			if x.dies > b.end { // a dead one that was disabled is dated no more
				require.Equal(t, a.states[key].LastUpdate, b.states[key].LastUpdate, "%s origin %d", s.Name, key)
			}
		}
	}
}

func TestTheSeedDrivesAllNoise(t *testing.T) {
	t.Parallel()
	s := Scenarios[9]
	require.Equal(t, "S10", s.Name)
	s.Ranges, s.FalseRate, s.Recall = nil, 0.2, 0.5
	a, b := newWorld(s, 50, 50, 1, start+day), newWorld(s, 50, 50, 2, start+day)
	differ := 0
	for key := range a.origins {
		for at := start; at < start+20*day; at += day {
			x := a.dateOf(&origin{}, key, &lister{falseRate: 0.5, listed: at - day}, at)
			y := b.dateOf(&origin{}, key, &lister{falseRate: 0.5, listed: at - day}, at)
			if x != y {
				differ++
			}
		}
	}
	require.Greater(t, differ, 100)
}

func TestParametersAreDrawnFromTheirRanges(t *testing.T) {
	t.Parallel()
	s := Scenarios[9]
	seen := map[float64]bool{}
	for seed := range uint64(20) {
		w := newWorld(s, 1, 1, seed, start+day)
		require.True(t, w.FalseRate >= 0.01 && w.FalseRate <= 1, "%v", w.FalseRate)
		require.Equal(t, w.FalseRate, newWorld(s, 1, 1, seed, start+day).FalseRate)
		seen[w.FalseRate] = true
	}
	require.Len(t, seen, 20)
}

func TestTheClosedFormHasTheOptimumOfOneRate(t *testing.T) {
	t.Parallel()
	// One change a day and a visit every two days: (1-e^-2)/2 of the time is fresh.
	require.InDelta(t, 0.4323, optimalFreshness(map[int]float64{0: 1000 * day}, 500*day), 1e-3)
	// With a hundredth of the visits, the slow origins alone are visited.
	mixed := optimalFreshness(map[int]float64{0: 500 * day, -5 * ratesPerE: 500 * day}, 5*day)
	require.Less(t, mixed, 0.51)
	require.Greater(t, mixed, 0.3)
}

func TestKnownRatesReachTheOptimumAndNobodyBeatsAClairvoyant(t *testing.T) {
	t.Parallel()
	for _, s := range []Scenario{Scenarios[0], Scenarios[5]} {
		setup := setupOf(s, KnownRates, 5)
		setup.Origins, setup.Days = 1000, 300
		setup.Rules.WeightLag = 0
		r, err := Run(t.Context(), setup)
		require.NoError(t, err)
		l, err := setup.limits()
		require.NoError(t, err)
		require.InEpsilon(t, l.optimum, r.Steady, 0.05, s.Name)
		require.Greater(t, l.clairvoyant, r.Freshness, s.Name)
	}
}

func TestOnlyUndatedOriginsMoveTheQueuePosition(t *testing.T) {
	t.Parallel()
	swh, err := policy.New("swh2026", policy.DefaultRules())
	require.NoError(t, err)
	seed, err := policy.New("seed", policy.DefaultRules())
	require.NoError(t, err)
	s := policy.NewState(1, 0, policy.DefaultRules())
	require.EqualValues(t, 5, swh.Position(5, s), "no target")
	s.Target = 9
	require.EqualValues(t, 9, swh.Position(5, s))
	require.EqualValues(t, 20, swh.Position(20, s), "it never falls")
	s.LastUpdate = 7
	require.EqualValues(t, 5, swh.Position(5, s))
	require.EqualValues(t, 5, seed.Position(5, s))
}

func TestARecordedWorldChangesWhenItsOriginsDid(t *testing.T) {
	t.Parallel()
	at := func(days float64) time.Time {
		return time.Unix(1_800_000_000, 0).Add(time.Duration(days * 24 * float64(time.Hour)))
	}
	s := WorldOf([]models.Outcome{
		{Origin: "b", Status: models.Failed, At: at(4)},
		{Origin: "a", Status: models.Eventful, At: at(0), Digest: "x"},
		{Origin: "a", Status: models.Uneventful, At: at(2), Digest: "x"},
		{Origin: "a", Status: models.Eventful, At: at(4), Digest: "y"},
		{Origin: "b", Status: models.Eventful, At: at(10), ChangedAt: []time.Time{at(8), at(-5), at(9)}},
	})
	require.Equal(t, []Recorded{{Changes: []int64{3 * day}}, {Changes: []int64{8 * day, 9 * day}}}, s.Recorded)
	require.InDelta(t, 0.2, s.FailedRate, 1e-9)
	require.InDelta(t, 0.25, s.Capacity, 1e-9)
	require.True(t, s.Counts)
	require.NoError(t, s.Check())
	setup := setupOf(s, "roundrobin", 1)
	setup.Days = 10
	r := finished(t, setup)
	require.Len(t, r.origins, 2)
	require.EqualValues(t, 1, r.origins[0].changes)
	require.EqualValues(t, 2, r.origins[1].changes)
	require.Empty(t, WorldOf(nil).Recorded)
}

func TestAHostIsLeftAloneAfterTwoRefusals(t *testing.T) {
	t.Parallel()
	var h host
	h.noteRefusal(3, 100)
	h.noteRefusal(3, 100)
	require.Zero(t, h.closed)
	h.noteRefusal(4, 90)
	require.EqualValues(t, 90, h.closed)
}

func TestPhasesNightsAndWeekendsHaveFewerChanges(t *testing.T) {
	t.Parallel()
	s := defaults
	s.MedianRate, s.Spread, s.Dead, s.Dying, s.New, s.Forks = 2, 0, 0, 0, 0, 0
	count := func(s Scenario) (day5, all int) {
		w := newWorld(s, 20, 20, 4, start+200*day)
		for i := range w.origins {
			o := &w.origins[i]
			for o.next < w.end {
				if at := o.next; at/day%7 >= 5 {
					day5++
				}
				all++
				w.advance(o, o.next)
			}
		}
		return day5, all
	}
	_, all := count(s)
	s.Weekend = 1
	weekend, fewer := count(s)
	require.Zero(t, weekend)
	require.Less(t, fewer, all*4/5)
	s.Weekend, s.OnDays, s.OffDays = 0, 5, 20
	_, phases := count(s)
	require.Less(t, phases, all/2)
	require.Positive(t, phases)
}

func TestAListingEnablesAgainWhatFailuresDisabled(t *testing.T) {
	t.Parallel()
	s := Scenarios[0]
	s.Dead, s.Unlisted, s.FailedRate, s.Cadence = 0.5, 0, 0, 365
	setup := setupOf(s, "swh2026", 1) // whose third failure disables
	setup.Rules.DisableAfter = 1
	r := finished(t, setup)
	require.Positive(t, len(r.disabled))
	r.listers[0].cadence = tick
	r.listDue(r.end)
	require.Empty(t, r.disabled)
	for key := range r.states {
		require.True(t, r.states[key].Enabled(), "all are still listed")
	}
}
