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
