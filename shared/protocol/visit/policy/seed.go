package policy

import "slices"

// seed is the policy of the specification: four pools, slots by the share of dated
// origins, targets that move by fixed intervals.
type seed struct{ Rules }

func (seed) Name() string { return "seed" }

func (seed) Place(s State) Place { return placeInGroup(s) }

// Worth depends on the ref only, because each pool has one queue.
func (seed) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares divides the slots by the share of dated origins (splitSlots). A part of PoolB2's,
// MixShare, is for the smallest lag, from the other end of the queue.
func (p seed) Shares(n int, c Counts) (shares, refill []Share) {
	slots := splitSlots(n, c)
	for i, pool := range seedPools {
		left := slots[i]
		if pool == PoolB2 {
			smallestLag := int(float64(left) * p.MixShare)
			shares = append(shares, Share{Pools: []Pool{pool}, N: smallestLag, Back: true})
			left -= smallestLag
		}
		shares = append(shares, Share{Pools: []Pool{pool}, N: left})
	}
	return shares, sharePerPool(seedRefill...)
}

// seedPools are the pools in the order that decides ties of splitSlots.
var seedPools = []Pool{PoolA, PoolB1, PoolB2, PoolB3}

// seedRefill is the order in which pools get the slots that another pool left:
// origins with a known change first, those without any sign of one last.
var seedRefill = []Pool{PoolB2, PoolB1, PoolA, PoolB3}

// splitSlots divides n slots among seedPools: with r = B/(A+B), A gets (1-r)n and each other pool
// rn/3. The slots that rounding down leaves go to the pools with the largest remainders, of equal
// ones the first. Without origins no pool gets one.
func splitSlots(n int, c Counts) [4]int {
	var slots [4]int
	sum := 3 * (c.A + c.B)
	if n <= 0 || sum <= 0 {
		return slots
	}
	weights := [4]int{3 * c.A, c.B, c.B, c.B} // in thirds, so that all are whole numbers
	order, left := []int{0, 1, 2, 3}, n
	for i, w := range weights {
		slots[i] = n * w / sum
		left -= slots[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return n*weights[j]%sum - n*weights[i]%sum })
	for _, i := range order[:left] {
		slots[i]++
	}
	return slots
}
