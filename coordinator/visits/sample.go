package visits

import (
	"hash/maphash"
	"maps"
	"math"

	"leasehold/shared/protocol/visit/policy"
)

// sampleMost is how many origins are kept in memory for the metrics that move with
// the clock.
const sampleMost = 4096

// A sample is the states of some origins, which their ids alone choose: those whose hash is below a bound, which
// is halved whenever there are too many. So it is updated with each change, has all origins while they are few,
// and is a fair draw of them afterwards.
type sample struct {
	seed   maphash.Seed
	bound  uint64
	states map[string]policy.State
}

func newSample() sample {
	return sample{seed: maphash.MakeSeed(), bound: math.MaxUint64, states: map[string]policy.State{}}
}

func (p *sample) has(id string) bool { return maphash.String(p.seed, id) <= p.bound }

// put adds or replaces the state of an origin, if its id belongs to the sample. If there are too
// many then, it halves the bound, which removes about half.
func (p *sample) put(id string, s policy.State) {
	if !p.has(id) {
		return
	}
	p.states[id] = s
	for len(p.states) > sampleMost {
		p.bound /= 2
		maps.DeleteFunc(p.states, func(id string, _ policy.State) bool { return !p.has(id) })
	}
}

// distribution returns how a number is distributed that origins of the sample have; number returns false to leave
// one out.
func (p *sample) distribution(bounds []float64, number func(policy.State) (float64, bool)) Distribution {
	d := newDistribution(bounds)
	for _, state := range p.states {
		if x, ok := number(state); ok {
			d.add(x)
		}
	}
	return d
}
