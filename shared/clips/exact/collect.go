package exact

import "math"

const (
	// noiseEvery is the distance in samples at which the spread of a clip's scores is measured: a
	// window of 16 s has 8,000 such values, which give the spread to 1 %.
	noiseEvery = 16
	// significance is how many times that spread a score must be: normal values reach 6 once in 10⁹,
	// and an hour has 3 × 10⁷ scores. maxFloor limits this, because a clip that fills much of an
	// episode raises the spread itself.
	significance = 6
	maxFloor     = 0.8
)

// place is a candidate: its position, its score, and the plain product of the clip and
// the window, which adds up where clips overlap. The product of an inverted clip is negative.
type place struct {
	at      int
	score   float64
	product float64
}

// inverted reports whether the clip is played with the other polarity.
func (p place) inverted() bool { return p.product < 0 }

// invertedMargin is how many times the score of an upright place an inverted one near it must have. Half
// a period from where a tone is played, it correlates nearly as well with the other sign.
const invertedMargin = 1.02

// beats reports whether p is the better of two places of a stretch.
func (p place) beats(other place) bool {
	least := other.score
	switch {
	case p.inverted() && !other.inverted():
		least *= invertedMargin
	case !p.inverted() && other.inverted():
		least /= invertedMargin
	}
	return p.score > least
}

// collector keeps the best place of each stretch of closest samples, of either polarity.
type collector struct {
	closest int
	places  []place
	best    place // of the current stretch, if its score is above 0
	noise   float64
	noises  int
}

// add takes the next place. Places must come in the order of their positions. It keeps the best
// of a stretch; a place more than closest samples after that one begins the next stretch.
func (c *collector) add(p place) {
	if c.best.score > 0 && p.at-c.best.at > c.closest {
		c.flush()
	}
	if p.beats(c.best) {
		c.best = p
	}
}

// measure takes the product of the clip and a window, and the window's energy, which is not 0,
// for floor.
func (c *collector) measure(product, energy float64) {
	c.noise += product * product / energy
	c.noises++
}

// flush ends the current stretch, and keeps its best place if it has one.
func (c *collector) flush() {
	if c.best.score > 0 {
		c.places = append(c.places, c.best)
	}
	c.best = place{}
}

// floor is the score below which a place is not significant, because the clip is about as similar
// to the whole episode; 0 if nothing was measured.
func (c *collector) floor() float64 {
	return min(maxFloor, significance*math.Sqrt(c.noise/float64(max(1, c.noises))))
}
