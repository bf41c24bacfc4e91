package visit

import (
	"math"
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
	for class := range uint8(Classes) {
		origin := Place{Pool: PoolDue, Class: class, Ref: 1_600_000_000}
		fork := origin
		fork.Class += Classes
		want := p.Worth(origin, Quality{}, 1_600_100_000)
		require.Positive(t, want)
		require.InDelta(t, want/4, p.Worth(fork, Quality{}, 1_600_100_000), want/1e9, "class %d", class)
	}
}
