package simulate

import "math"

// rng is a splitmix64 generator, because its state takes only eight bytes per origin.
type rng uint64

// next returns 64 random bits.
func (g *rng) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number in (0, 1).
func (g *rng) uniform() float64 { return (float64(g.next()>>11) + 0.5) / (1 << 53) }

// between returns a number between two others: if both are positive, its logarithm is
// uniform.
func (g *rng) between(low, high float64) float64 {
	u := g.uniform()
	if low > 0 {
		return low * math.Pow(high/low, u)
	}
	return low + (high-low)*u
}

func (g *rng) exponential() float64 { return -math.Log(g.uniform()) }

// normal returns a standard normal number (Box-Muller).
func (g *rng) normal() float64 {
	return math.Sqrt(2*g.exponential()) * math.Cos(2*math.Pi*g.uniform())
}

// poisson draws a Poisson number; for a mean above 50 from the normal distribution, because the
// exact method multiplies as many uniform numbers as the result.
func (g *rng) poisson(mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*g.normal())))
	}
	n, p := 0, g.uniform()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= g.uniform()
	}
	return n
}
