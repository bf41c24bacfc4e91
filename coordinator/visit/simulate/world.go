package simulate

import (
	"math"

	"leasehold/coordinator/visit"
)

const day = 86400 // seconds

// A thing is an origin as it really is.
type thing struct {
	rate       float64 // changes a day
	born, dies int64
	next       int64 // its next change
	lastChange int64
	listed     int64 // the last change that a listing looked at
	changes    uint32
	seen       uint32
	unseen     []int32 // times of the changes that no visit has seen
	size       float32
	dice       dice
	left       uint8 // changes of the burst under way
	dropped    bool  // its lister does not name it once it is dead
}

// unseenMost bounds the times kept of one origin; later changes are dropped from
// the delays, not from anything else.
const unseenMost = 1 << 14

// dice is a splitmix64 generator: eight bytes an origin.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform is in (0, 1).
func (d *dice) uniform() float64 { return (float64(d.next()>>11) + 0.5) / (1 << 53) }

func (d *dice) exponential() float64 { return -math.Log(d.uniform()) }

func (d *dice) normal() float64 {
	return math.Sqrt(2*d.exponential()) * math.Cos(2*math.Pi*d.uniform())
}

// start is when the simulated clock begins; history is how far before it the
// origins that exist then were visited.
const (
	start   int64 = 1_700_000_000
	history int64 = 30 * day
)

// people makes the origins of a world.
func people(s Scenario, n int, seed uint64, end int64) []thing {
	things := make([]thing, n)
	for i := range things {
		things[i] = s.make(dice(seed<<32+uint64(i)), float64(i)/float64(n), end)
	}
	return things
}

// make is one origin; quantile says where it is in the order of arrival.
func (s Scenario) make(d dice, quantile float64, end int64) thing {
	d.next()
	t := thing{rate: s.MedianRate * math.Exp(s.Spread*d.normal()), born: start - history, dies: math.MaxInt64}
	t.rate = min(max(t.rate, 1e-6), 100)
	if d.uniform() < s.Forks {
		t.rate /= 10
	}
	t.size = float32(min(math.Pow(d.uniform(), -1/s.SizeShape), 1e6))
	switch {
	case quantile < s.Flood:
		t.born = start + int64(s.FloodDay*day)
	case quantile < s.Flood+s.New:
		t.born = start + int64(d.uniform()*float64(end-start))
	}
	died := d.exponential() / -math.Log1p(-min(s.Dying, 0.999)) * 365
	if alreadyDead := d.uniform() < s.Dead; alreadyDead {
		t.dies = t.born
	} else if s.Dying > 0 && died < 36500 {
		t.dies = max(t.born, start) + int64(died*day)
	}
	t.dropped = d.uniform() < s.Unlisted
	t.dice, t.lastChange, t.listed = d, t.born, t.born
	t.next = t.born + s.wait(&t)
	return t
}

// wait draws the seconds to the next change.
func (s Scenario) wait(t *thing) int64 {
	mean := 1 / t.rate
	switch s.Changes {
	case "regular": // every mean days, more or less
		mean *= 0.85 + 0.3*t.dice.uniform()
	case "bursts":
		if t.left > 0 {
			t.left--
			mean = 1.0 / 24 * t.dice.exponential()
			break
		}
		t.left = uint8(min((s.BurstSize-1)*t.dice.exponential(), 255))
		mean *= s.BurstSize * t.dice.exponential()
	default:
		mean *= t.dice.exponential()
	}
	return max(1, int64(min(mean, 1e6)*day))
}

// advance lets an origin change until now.
func (s Scenario) advance(t *thing, now int64) {
	for t.next <= now && t.next < t.dies {
		t.changes++
		t.lastChange = t.next
		if len(t.unseen) < unseenMost {
			t.unseen = append(t.unseen, int32(t.next-start))
		}
		t.next += s.wait(t)
	}
}

// listing is the date that a lister gives on a day, if it gives a new one.
func (s Scenario) listing(t *thing, key int, now int64) int64 {
	d := dice(uint64(key)<<24 ^ uint64(now))
	changed := t.lastChange > t.listed
	t.listed = max(t.listed, t.lastChange)
	switch {
	case changed && d.uniform() < s.Recall:
		return t.lastChange
	case d.uniform() < -math.Expm1(-s.FalseRate):
		return now
	}
	return visit.Never
}
