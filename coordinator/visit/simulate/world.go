package simulate

import (
	"math"

	"leasehold/coordinator/visit"
)

const day = 86400 // seconds

// An origin is the true state of a simulated origin, which policies do not see.
type origin struct {
	rate       float64 // changes per day
	born, dies int64
	next       int64 // time of the next change
	lastChange int64
	listed     int64 // the last change that a listing had the chance to date
	changes    uint32
	seen       uint32  // changes at the last successful visit
	unseen     []int32 // times of unseen changes, in seconds after start
	size       float32
	rng        rng
	burstLeft  uint8 // changes left in the present burst
	unlisted   bool  // its lister does not name it once it is dead
}

// maxUnseen limits the times in origin.unseen; later changes are missing in the delays
// only.
const maxUnseen = 1 << 14

// rng is a splitmix64 generator, because its state takes only eight bytes per origin.
type rng uint64

func (g *rng) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number in (0, 1).
func (g *rng) uniform() float64 { return (float64(g.next()>>11) + 0.5) / (1 << 53) }

func (g *rng) exponential() float64 { return -math.Log(g.uniform()) }

func (g *rng) normal() float64 {
	return math.Sqrt(2*g.exponential()) * math.Cos(2*math.Pi*g.uniform())
}

// The simulated time begins at start. Origins that exist then were visited once during
// the history seconds before.
const (
	start   int64 = 1_700_000_000
	history int64 = 30 * day
)

// newOrigins returns n origins; end is the end of the simulated time.
func newOrigins(s Scenario, n int, seed uint64, end int64) []origin {
	origins := make([]origin, n)
	for i := range origins {
		origins[i] = s.newOrigin(rng(seed<<32+uint64(i)), float64(i)/float64(n), end)
	}
	return origins
}

// newOrigin returns one origin. position, 0 to 1, is its place among all; the first ones
// are those that the scenario adds later.
func (s Scenario) newOrigin(g rng, position float64, end int64) origin {
	g.next()
	o := origin{rate: s.MedianRate * math.Exp(s.Spread*g.normal()), born: start - history, dies: math.MaxInt64}
	o.rate = min(max(o.rate, 1e-6), 100)
	if g.uniform() < s.Forks {
		o.rate /= 10
	}
	o.size = float32(min(math.Pow(g.uniform(), -1/s.SizeShape), 1e6))
	switch {
	case position < s.Flood:
		o.born = start + int64(s.FloodDay*day)
	case position < s.Flood+s.New:
		o.born = start + int64(g.uniform()*float64(end-start))
	}
	died := g.exponential() / -math.Log1p(-min(s.Dying, 0.999)) * 365
	if alreadyDead := g.uniform() < s.Dead; alreadyDead {
		o.dies = o.born
	} else if s.Dying > 0 && died < 36500 {
		o.dies = max(o.born, start) + int64(died*day)
	}
	o.unlisted = g.uniform() < s.Unlisted
	o.rng, o.lastChange, o.listed = g, o.born, o.born
	o.next = o.born + s.secondsToChange(&o)
	return o
}

// secondsToChange draws the seconds from one change to the next, at least 1.
func (s Scenario) secondsToChange(o *origin) int64 {
	mean := 1 / o.rate
	switch s.Changes {
	case "regular": // every mean days ± 15 %
		mean *= 0.85 + 0.3*o.rng.uniform()
	case "bursts":
		if o.burstLeft > 0 {
			o.burstLeft--
			mean = 1.0 / 24 * o.rng.exponential()
			break
		}
		o.burstLeft = uint8(min((s.BurstSize-1)*o.rng.exponential(), 255))
		mean *= s.BurstSize * o.rng.exponential()
	default:
		mean *= o.rng.exponential()
	}
	return max(1, int64(min(mean, 1e6)*day))
}

// advance applies the changes of an origin up to now.
func (s Scenario) advance(o *origin, now int64) {
	for o.next <= now && o.next < o.dies {
		o.changes++
		o.lastChange = o.next
		if len(o.unseen) < maxUnseen {
			o.unseen = append(o.unseen, int32(o.next-start))
		}
		o.next += s.secondsToChange(o)
	}
}

// listedDate returns the date that a listing gives now, or visit.Never if it gives no
// new one: the last change with probability Recall, or a false date.
func (s Scenario) listedDate(o *origin, key int, now int64) int64 {
	g := rng(uint64(key)<<24 ^ uint64(now))
	changed := o.lastChange > o.listed
	o.listed = max(o.listed, o.lastChange)
	switch {
	case changed && g.uniform() < s.Recall:
		return o.lastChange
	case g.uniform() < -math.Expm1(-s.FalseRate):
		return now
	}
	return visit.Never
}
