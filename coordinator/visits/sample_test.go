package visits

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

// Of more origins than the sample takes, the distribution is near that of all.
func TestTheSampleIsBoundedAndFair(t *testing.T) {
	t.Parallel()
	const n = 10_000
	p := newSample()
	for i := range n {
		p.put(fmt.Sprint("origin", i), policy.State{LastUpdate: int64(i + 1)})
	}
	require.LessOrEqual(t, len(p.states), sampleMost)
	shares := []float64{0.5, 0.9, 0.99}
	d := p.distribution([]float64{n * shares[0], n * shares[1], n * shares[2]}, func(x policy.State) (float64, bool) { return float64(x.LastUpdate), true })
	require.Greater(t, d.Count, uint64(1500))
	for i, share := range shares {
		require.InDelta(t, share, float64(d.UpTo[i])/float64(d.Count), 0.06, "over four standard errors")
	}
	none := p.distribution([]float64{2}, func(policy.State) (float64, bool) { return 1, false })
	require.Equal(t, newDistribution([]float64{2}), none)
}

func TestADistributionOfASampleHasTheNumbersThatAreGiven(t *testing.T) {
	t.Parallel()
	p := newSample()
	for i := range 200 {
		p.put(fmt.Sprint("origin", i), policy.State{LastUpdate: int64(i + 1)})
	}
	bounds := []float64{7, 100, 180}
	even := p.distribution(bounds, func(x policy.State) (float64, bool) { return float64(x.LastUpdate), x.LastUpdate%2 == 0 })
	require.Equal(t, Distribution{Bounds: bounds, UpTo: []uint64{3, 50, 90}, Count: 100, Sum: 10_100}, even)
	p.put("origin0", policy.State{LastUpdate: 9})
	require.Len(t, p.states, 200, "it is replaced")
}

func TestASampleOfTooManyIsHalved(t *testing.T) {
	t.Parallel()
	p := newSample()
	for i := range sampleMost {
		p.put(fmt.Sprint("origin", i), policy.State{})
	}
	require.Len(t, p.states, sampleMost, "as many as there may be")
	p.put("another", policy.State{})
	require.InDelta(t, sampleMost/2, len(p.states), sampleMost/8)
	for id := range p.states {
		require.True(t, p.has(id))
	}
}

func TestADistributionCountsNumbersUpToEachBound(t *testing.T) {
	t.Parallel()
	d := newDistribution([]float64{1, 2})
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		d.add(x)
	}
	require.Zero(t, d.Count, "they are left out")
	for _, x := range []float64{0, 1, 1.5, 3} {
		d.add(x)
	}
	want := Distribution{Bounds: []float64{1, 2}, UpTo: []uint64{2, 3}, Count: 4, Sum: 5.5}
	require.Equal(t, want, d)
	c := d.clone()
	c.add(0)
	require.Equal(t, want, d, "a clone has counts of its own")
}
