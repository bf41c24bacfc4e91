package policy

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheOptimumMakesAllVisitsWhereOneMoreGainsTheSame(t *testing.T) {
	t.Parallel()
	groups := []RateGroup{{Rate: 0.1, Origins: 30}, {Rate: 1, Origins: 10}, {Rate: 50, Origins: 5, Interval: 9}}
	fresh := Optimum(groups, 8)
	visits, want := 0.0, 0.0
	for _, g := range groups[:2] {
		x := g.Rate * g.Interval
		visits += g.Origins / g.Interval
		want += g.Origins * (1 - math.Exp(-x)) / x / 45
		require.InEpsilon(t, (1-math.Exp(-groups[0].Rate*groups[0].Interval)*(1+groups[0].Rate*groups[0].Interval))/0.1, (1-math.Exp(-x)*(1+x))/g.Rate, 1e-6)
	}
	require.InEpsilon(t, 8, visits, 1e-6)
	require.InEpsilon(t, want, fresh, 1e-6)
	require.Zero(t, groups[2].Interval, "they change too often to be worth a visit")
	require.Zero(t, Optimum([]RateGroup{{Rate: 1, Origins: 10}}, 0))
	require.Zero(t, Optimum(nil, 10))
	require.Greater(t, Optimum(groups, 1e6), 0.99)
	require.InEpsilon(t, 0.5, 1-math.Exp(-changesAtGain(0.5))*(1+changesAtGain(0.5)), 1e-9)
}

func TestAGainOfOneOrMoreIsNoVisit(t *testing.T) {
	t.Parallel()
	groups := []RateGroup{{Rate: 2, Origins: 1}, {Rate: 1, Origins: 3}}
	visits, fresh := visitsAt(groups, 0.5)
	require.Zero(t, groups[0].Interval)
	x := groups[1].Interval
	require.InEpsilon(t, 0.5, 1-math.Exp(-x)*(1+x), 1e-9)
	require.InEpsilon(t, 3/x, visits, 1e-9)
	require.InEpsilon(t, (1-math.Exp(-x))/x*3/4, fresh, 1e-9)
	visits, fresh = visitsAt(nil, 0.5)
	require.Zero(t, visits)
	require.Zero(t, fresh)
}
