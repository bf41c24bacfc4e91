package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSlotsAreSplitByTheirWeightsOverBatchesOfAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0, 5000), 1, 5).Draw(t, "weights")
		sum, served, got := 0.0, int64(0), make([]int, len(weights))
		for _, w := range weights {
			sum += w
		}
		for range rapid.IntRange(1, 60).Draw(t, "batches") {
			n := rapid.SampledFrom([]int{1, 2, 3, 16, 1000}).Draw(t, "n")
			batch := splitSlots(n, served, weights...)
			all := 0
			for i, slots := range batch {
				require.GreaterOrEqual(t, slots, 0)
				got[i] += slots
				all += slots
			}
			if sum == 0 {
				require.Zero(t, all)
				continue
			}
			require.Equal(t, n, all)
			served += int64(n)
		}
		for i, w := range weights {
			if sum > 0 {
				require.InDelta(t, float64(served)*w/sum, got[i], float64(len(weights)))
			}
		}
	})
}

func TestEachPolicyGivesEachPoolItsPartWhateverTheSizeOfClaims(t *testing.T) {
	t.Parallel()
	counts := Counts{A: 300, B: 700}
	for _, name := range Names {
		p, err := New(name, DefaultRules())
		require.NoError(t, err)
		large, _ := p.Shares(12_000, counts)
		for _, n := range []int{1, 2, 3, 16, 1000} {
			got := make([]int, len(large))
			for served := 0; served < 12_000; served += n {
				c := counts
				c.Served = int64(served)
				shares, _ := p.Shares(n, c)
				for i, s := range shares {
					got[i] += s.N
				}
			}
			for i, s := range large {
				require.InDelta(t, s.N, got[i], 0.001*12_000, "%s in claims of %d: %v", name, n, s.Pools)
			}
		}
	}
}

func TestFixedIntervalsAndKindsGetTheirPartOfClaimsOfOneSlot(t *testing.T) {
	t.Parallel()
	p, err := ParsePlan("value,git=seed", "first-share=0.2,known-share=0.1")
	require.NoError(t, err)
	c := Counts{ServedBy: map[Pool]int64{}, Types: map[string]TypeCounts{"git": {A: 50, B: 50}}}
	for range 8000 {
		shares, _ := p.Shares(1, c)
		for _, s := range shares {
			if s.N > 0 { // every pool has origins, so the first share gets the slot
				c.ServedBy[s.Pools[0]]++
				break
			}
		}
	}
	git := int64(0)
	for _, pool := range seedPools {
		git += c.ServedBy[pool+perGroup]
	}
	require.InDelta(t, 6000, c.ServedBy[PoolFixed], 2)
	require.InDelta(t, 1000, git, 2)
	require.InDelta(t, 500, c.ServedBy[PoolA+perGroup], 2)
	require.InDelta(t, 1000/6.0, c.ServedBy[PoolB3+perGroup], 2)
	require.InDelta(t, 200+700, c.ServedBy[PoolFirst], 2, "20 % and the best of all, which is listed by this pool")
	require.InDelta(t, 100, c.ServedBy[PoolKnown], 2)
}
