package visit

import "slices"

// Counts is what slots are shared out by.
type Counts struct {
	A, B int // enabled origins without a date, and with one
	// Served is how many slots were given out so far, so that shares that are less
	// than a slot of a small batch take turns.
	Served int64
}

// groups are the pools of the seed in the order in which ties go.
var groups = []Pool{PoolA, PoolB1, PoolB2, PoolB3}

// refillOrder is to whom slots go that a pool leaves: known changes first, the last
// resort last.
var refillOrder = []Pool{PoolB2, PoolB1, PoolA, PoolB3}

// Split shares n slots among A, B1, B2 and B3: r = B/(A+B), (1-r)n for A and rn/3
// for each other, made whole by largest remainder, ties in that order.
func Split(n int, c Counts) map[Pool]int {
	total := c.A + c.B
	if n <= 0 || total <= 0 {
		return map[Pool]int{}
	}
	// In thirds of total, all whole numbers.
	weights := []int{3 * c.A, c.B, c.B, c.B}
	return apportion(n, groups, weights)
}

// apportion shares n by weights, made whole by largest remainder; ties go to the
// earlier pool.
func apportion(n int, pools []Pool, weights []int) map[Pool]int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	shares, order, left := map[Pool]int{}, make([]int, len(pools)), n
	for i, w := range weights {
		order[i] = i
		shares[pools[i]] = n * w / sum
		left -= shares[pools[i]]
	}
	slices.SortStableFunc(order, func(i, j int) int { return n*weights[j]%sum - n*weights[i]%sum })
	for _, i := range order[:left] {
		shares[pools[i]]++
	}
	return shares
}
