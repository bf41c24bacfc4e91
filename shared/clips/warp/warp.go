// Package warp plays short sounds a little faster or slower, pitch and all, as a tape
// would.
//
// Speeds are in thousandths: +30 is 3 % faster, so the sound is shorter and higher.
// Each sample is a sum of 16 around its instant, under a Hann-windowed sinc tabled for
// each thousandth of a sample; nothing is delayed. It is for sounds in memory and small
// changes (at most ±50); for sample rates there is package resample.
package warp

import (
	"math"
	"sync"
)

const (
	taps   = 16
	phases = 1000 // one for each thousandth
	// cutoff lies a little below half of the sample rate, because content rises with the speed.
	cutoff = .96
	// MaxSpeed bounds the speeds, either way.
	MaxSpeed = 50
)

// table has the weights of each phase, which sum to 1.
var table = sync.OnceValue(func() *[phases][taps]float32 {
	var t [phases][taps]float32
	for p := range t {
		var w [taps]float64
		sum := 0.0
		for i := range w {
			x := float64(i-taps/2+1) - float64(p)/phases
			w[i] = .5 + float64(.5*math.Cos(math.Pi*x/(taps/2)))
			if x != 0 {
				w[i] *= math.Sin(math.Pi*cutoff*x) / (math.Pi * cutoff * x)
			}
			sum += w[i]
		}
		for i := range w {
			t[p][i] = float32(w[i] / sum)
		}
	}
	return &t
})

// Len is how many samples Play returns of a sound of n.
func Len(n, speed int) int {
	speed = clamp(speed)
	return (n*1000 + 999 + speed) / (1000 + speed)
}

// Play returns the sound at a speed; at 0 it is the sound itself. Beyond the ends of the sound is
// silence. A speed, in thousandths above the own one, outside ±MaxSpeed is held there. Each
// sample is interpolated from taps samples around its place.
func Play(sound []float32, speed int) []float32 {
	return Part(sound, speed, 0, Len(len(sound), speed))
}

// clamp holds a speed within ±MaxSpeed.
func clamp(speed int) int { return max(-MaxSpeed, min(speed, MaxSpeed)) }

// Part returns the samples of Play(sound, speed) from from to before to, without computing the others. The range
// must lie within it.
func Part(sound []float32, speed, from, to int) []float32 {
	speed = clamp(speed)
	if speed == 0 {
		return sound[from:to]
	}
	first := from * (1000 + speed) / 1000 // the sample of sound at or before the first one
	last := min(len(sound), to*(1000+speed)/1000+taps)
	padded := make([]float32, last-first+2*taps)
	copy(padded[max(0, taps-first):], sound[max(0, first-taps):last])
	weights, out := table(), make([]float32, to-from)
	for n := range out {
		at := (from + n) * (1000 + speed)
		w := &weights[at%1000]
		x := padded[at/1000-first+taps-taps/2+1:][:taps]
		sum := float32(0)
		for i, v := range x {
			sum += float32(v * w[i])
		}
		out[n] = sum
	}
	return out
}
