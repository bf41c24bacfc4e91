package policy

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheIntegralOfADecayIsItsClosedForm(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 7, upTo(7, 0))
	require.EqualValues(t, 7, upTo(7, 1e-12))
	require.InEpsilon(t, (1-math.Exp(-1))/0.5, upTo(2, 0.5), 1e-12)
	require.InEpsilon(t, (math.Exp(-0.5)-math.Exp(-1.5))/0.5, between(1, 3, 0.5), 1e-12)
	require.EqualValues(t, 2, between(1, 3, 0))
}

// The values follow Bayes' rule, written out.
func TestTheBeliefAfterAListingIsThatOfBayes(t *testing.T) {
	t.Parallel()
	g := signals{rate: 0.3, recall: 0.6, wrong: 0.05}
	require.InDelta(t, 0.23, g.dates(), 1e-12)
	require.InDelta(t, 0.12, g.undated(), 1e-12)
	bayes := func(days, listed float64) float64 { // of an origin with a date
		return -math.Log(math.Exp(-g.rate*days) * (1 - math.Exp(-g.wrong*listed)) / (1 - math.Exp(-g.dates()*listed)))
	}
	for name, c := range map[string]struct {
		g            signals
		days, listed float64
		dated        bool
		want         float64
	}{
		"no date":                     {g, 10, 4, false, 0.12*4 + 0.3*6},
		"no date, never listed":       {g, 10, 0, false, 3},
		"a date":                      {g, 10, 4, true, bayes(10, 4)},
		"a date at once":              {g, 0, 0, true, math.Log(0.23 / 0.05)},
		"a date without false ones":   {signals{0.3, 0.6, 0}, 10, 4, true, 3 + mostUnseen},
		"a date with few false ones":  {signals{0.3, 0.6, 1e-30}, 10, 4, true, 3 + mostUnseen},
		"a date where all are false":  {signals{0.3, 0, 0.05}, 10, 4, true, 3},
		"no signals and no date":      {noSignals(0.3), 10, 4, false, 3},
		"a date of an unknown lister": {signals{0.3, math.NaN(), math.NaN()}, 10, 4, true, 3 + mostUnseen},
	} {
		require.InDelta(t, c.want, c.g.unseen(c.days, c.listed, c.dated), 1e-5, name)
	}
}

// The index is computed from its definition: each visit comes after early days if there was a date
// by then, with the first date after that, or else after late days.
func TestTheIndexIsTheFreshDaysLessThePriceOfTheDays(t *testing.T) {
	t.Parallel()
	for _, g := range []signals{noSignals(0.3), {0.3, 0.6, 0}, {0.3, 0.6, 0.05}, {0.3, 0.9, 2}, {0.02, 0.5, 0.01}} {
		for _, x := range []float64{0.05, 0.5, 1.5, 4} {
			for _, forgotten := range []float64{0, 0.01} {
				late := x / g.undated()
				early := late
				if g.recall > 0 {
					for early = 0; early < late && g.unseen(early, early, true) < x; early += late / 20_000 {
					}
				}
				fresh, days := 0.0, 0.0
				const parts = 20_000
				for width, at := late/parts, late/parts/2; at < late; at += width {
					present := math.Exp(-forgotten * at)
					if at < early {
						fresh += width * present * math.Exp(-g.rate*at)
						days += width * present
						continue
					}
					fresh += width * present * math.Exp(-(g.rate+g.wrong)*at)
					days += width * present * math.Exp(-g.dates()*at)
				}
				require.InDelta(t, fresh-math.Exp(-x)*days, g.index(x, forgotten), 2e-3*fresh, "%+v, x %v", g, x)
			}
		}
		require.Zero(t, g.index(0, 0.01), "right after a visit")
		require.Zero(t, g.index(-1, 0.01))
	}
}

func TestAVisitComesEarlyOnlyIfADateCanTellEnough(t *testing.T) {
	t.Parallel()
	g := signals{rate: 0.3, recall: 0.6, wrong: 0.05}
	require.EqualValues(t, 8, noSignals(0.3).early(1, 8), "without dates it is late")
	require.Zero(t, signals{0.3, 0.6, 0}.early(1, 8), "a date is certain")
	atOnce := g.unseen(0, 0, true)
	require.Zero(t, g.early(atOnce, 8), "a date at once suffices")
	early := g.early(atOnce+0.5, 100)
	require.Positive(t, early)
	require.InDelta(t, atOnce+0.5, g.unseen(early, early, true), 1e-6)
	require.InDelta(t, 0.001, g.early(atOnce+0.5, 0.001), 1e-9, "it is at most late")
}
