package visits

import "math"

// Levels are the quantiles that are shown.
var Levels = [3]float64{0.5, 0.9, 0.99}

// A Summary describes the distribution of some numbers.
type Summary struct {
	At    [len(Levels)]float64 // the quantiles of Levels; 0 if there are no numbers
	Count int64
	Sum   float64
}

// A sketch counts numbers in buckets whose bounds grow by 10 %, so that a quantile
// is at most 5 % off. Numbers below the least bound count as 0, those above the
// last (10^13) as that.
type sketch struct {
	buckets [sketchBuckets]int64
	count   int64
	sum     float64
}

const (
	sketchLeast   = 1e-3
	sketchGrowth  = 1.1
	sketchBuckets = 388
)

// add counts a number; NaN and infinities are left out. Bucket 0 has the numbers up to
// sketchLeast, each further one those up to sketchGrowth times more, and the last all that are
// larger.
func (k *sketch) add(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	bucket := 0
	if x > sketchLeast {
		bucket = int(math.Log(x/sketchLeast)/math.Log(sketchGrowth)) + 1
	}
	k.buckets[min(bucket, sketchBuckets-1)]++
	k.count++
	k.sum += x
}

// summary returns the distribution of the numbers. A quantile is the geometric middle of its
// bucket, and 0 in the first. The buckets add up to count, so each rank is found.
func (k *sketch) summary() Summary {
	s := Summary{Count: k.count, Sum: k.sum}
	for i, level := range Levels {
		rank := int64(math.Ceil(level * float64(k.count)))
		for bucket, seen := 0, int64(0); seen < rank; bucket++ {
			seen += k.buckets[bucket]
			if seen >= rank && bucket > 0 {
				s.At[i] = sketchLeast * math.Pow(sketchGrowth, float64(bucket)-0.5)
			}
		}
	}
	return s
}
