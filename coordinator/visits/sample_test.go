package visits

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

// Of more origins than the sample takes, the quantiles are near those of all.
func TestTheSampleIsBoundedAndFair(t *testing.T) {
	t.Parallel()
	const n = 10_000
	p := newSample()
	for i := range n {
		p.put(fmt.Sprint("origin", i), policy.State{LastUpdate: int64(i + 1)})
	}
	require.LessOrEqual(t, len(p.states), sampleMost)
	s := p.summarize(func(x policy.State) (float64, bool) { return float64(x.LastUpdate), true })
	require.Greater(t, s.Count, int64(1500))
	for i, level := range Levels {
		require.InDelta(t, n*level, s.At[i], n*0.06, "over four standard errors")
	}
	none := p.summarize(func(policy.State) (float64, bool) { return 1, false })
	require.Zero(t, none)
}

func TestTheQuantilesOfASampleAreNumbersOfIt(t *testing.T) {
	t.Parallel()
	p := newSample()
	for i := range 200 {
		p.put(fmt.Sprint("origin", i), policy.State{LastUpdate: int64(i + 1)})
	}
	even := p.summarize(func(x policy.State) (float64, bool) { return float64(x.LastUpdate), x.LastUpdate%2 == 0 })
	require.Equal(t, Summary{At: [3]float64{100, 180, 198}, Count: 100, Sum: 10_100}, even)
	one := p.summarize(func(x policy.State) (float64, bool) { return float64(x.LastUpdate), x.LastUpdate == 7 })
	require.Equal(t, Summary{At: [3]float64{7, 7, 7}, Count: 1, Sum: 7}, one)
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

func TestASketchHasBucketsThatGrowByATenth(t *testing.T) {
	t.Parallel()
	var k sketch
	require.Zero(t, k.summary())
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		k.add(x)
	}
	require.Zero(t, k.summary(), "they are left out")
	k.add(0)
	k.add(0.001)
	require.Equal(t, Summary{Count: 2, Sum: 0.001}, k.summary(), "the first bucket counts as 0")
	for x, want := range map[float64]float64{0.0010001: 0.001 * math.Pow(1.1, 0.5), 0.00105: 0.001 * math.Pow(1.1, 0.5), 0.00115: 0.001 * math.Pow(1.1, 1.5), 1e300: 0.001 * math.Pow(1.1, 386.5)} {
		var one sketch
		one.add(x)
		got := one.summary()
		require.EqualValues(t, 1, got.Count)
		require.Equal(t, x, got.Sum)
		for _, at := range got.At {
			require.InEpsilon(t, want, at, 1e-9, x)
		}
	}
	var ten sketch
	for range 9 {
		ten.add(1)
	}
	ten.add(1000)
	require.InEpsilon(t, 1, ten.summary().At[1], 0.05, "nine of ten")
	require.InEpsilon(t, 1000, ten.summary().At[2], 0.05)
}
