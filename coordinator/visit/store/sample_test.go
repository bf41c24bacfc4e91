package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
)

// Of more origins than the sample takes, the quantiles are near those of all.
func TestTheSampleIsBoundedAndFair(t *testing.T) {
	t.Parallel()
	const n = 10_000
	p := newSample()
	for i := range n {
		p.put(fmt.Sprint("origin", i), visit.State{LastUpdate: int64(i + 1)})
	}
	require.LessOrEqual(t, len(p.states), sampleMost)
	s := p.summarize(func(x visit.State) (float64, bool) { return float64(x.LastUpdate), true })
	require.Greater(t, s.Count, int64(1500))
	for i, level := range Levels {
		require.InDelta(t, n*level, s.At[i], n*0.06, "over four standard errors")
	}
	none := p.summarize(func(visit.State) (float64, bool) { return 1, false })
	require.Zero(t, none)
}
