package policy

import (
	"math"
	"slices"
)

// splitSlots divides n slots by weights, none of them negative, when served slots were divided before. Over any
// number of batches each weight gets its part, to within a slot for each weight, because each batch gets the differences of
// totals. The smallest weight, of equal ones the last, gets its part of a total rounded down; the others divide
// the rest in the same way. So no total falls when more slots are divided, a small batch is for the largest
// weights, and shares of less than a slot get one in some batches. Without weights nothing gets a slot.
func splitSlots(n int, served int64, weights ...float64) []int {
	slots, order, sum := make([]int, len(weights)), make([]int, len(weights)), 0.0
	for i, w := range weights {
		order[len(order)-1-i] = i
		sum += w
	}
	if n <= 0 || !(sum > 0) {
		return slots
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case weights[i] < weights[j]:
			return -1
		case weights[i] > weights[j]:
			return 1
		}
		return 0
	})
	before, after := served, served+int64(n)
	for _, i := range order[:len(order)-1] {
		part := weights[i] / sum
		ofBefore, ofAfter := partOf(before, part), partOf(after, part)
		slots[i] = int(ofAfter - ofBefore)
		before, after, sum = before-ofBefore, after-ofAfter, sum-weights[i]
	}
	slots[order[len(order)-1]] = int(after - before)
	return slots
}

// partOf returns a part of a total, rounded down. A product that is a whole number but for an error of
// rounding counts as that number.
func partOf(total int64, part float64) int64 {
	return min(int64(math.Floor(float64(total)*part+1e-6)), total)
}
