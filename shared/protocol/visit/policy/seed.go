package policy

// seed is the policy of the specification: four pools, slots by the share of dated
// origins, targets that move by fixed intervals.
type seed struct{ Rules }

func (seed) Name() string { return "seed" }

func (seed) Place(s State) Place { return placeInGroup(s) }

// Worth depends on the ref only, because each pool has one queue.
func (seed) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Position moves only with origins of PoolA (positionInGroup).
func (p seed) Position(position int64, s State) int64 { return p.positionInGroup(position, s) }

// Shares divides the slots by the share of dated origins: with r = B/(A+B), PoolA gets 1-r of
// them and each other pool r/3. A part of PoolB2's, MixShare, is for the smallest lag, from the
// other end of the queue.
func (p seed) Shares(n int, c Counts) (shares, refill []Share) {
	slots := splitSlots(n, c.Served, 3*float64(c.A), float64(c.B), float64(c.B), float64(c.B))
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

// seedPools are the pools in the order of splitSlots.
var seedPools = []Pool{PoolA, PoolB1, PoolB2, PoolB3}

// seedRefill is the order in which pools get the slots that another pool left:
// origins with a known change first, those without any sign of one last.
var seedRefill = []Pool{PoolB2, PoolB1, PoolA, PoolB3}
