package landmark

import "leasehold/shared/clips/spectrum"

// around computes the loudest power around each bin, in three passes. Each takes the largest of
// values that the pass before has computed: those of 4 bins, of 16, and of 21, which are two of
// 16 that overlap. If the processor has AVX, it computes eight bins at a time.
type around struct {
	// power begins with silence before the first bin, and ends with silence after the last one, as far
	// as the passes read.
	power [fours + 8]float32
	most  [fours]float32
	// maxima has a bit for each bin as loud as the loudest around, and louder than floor.
	maxima [spectrum.Bins / 8]uint8
}

// sixteen and fours are how many values of 16 and of 4 bins the next pass reads, as multiples of eight.
const (
	sixteen = spectrum.Bins + 8
	fours   = sixteen + 16
)

// fill sets loudest to the largest power within ± binsAround of each bin, and maxima.
func (a *around) fill(power []float32, loudest *[spectrum.Bins]float32) {
	copy(a.power[binsAround:], power[:spectrum.Bins])
	if vector {
		aroundAVX(&loudest[0], &a.most[0], &a.power[0], &a.maxima[0], floor)
		return
	}
	a.fillPlain(loudest)
}

// fillPlain is fill without AVX, with the same result.
func (a *around) fillPlain(loudest *[spectrum.Bins]float32) {
	largest(a.most[:], a.power[:], 1)
	largest(a.most[:sixteen], a.most[:], 4)
	clear(a.maxima[:])
	for i, v := range a.most[:spectrum.Bins] {
		if w := a.most[i+2*binsAround+1-16]; w > v {
			v = w
		}
		loudest[i] = v
		if own := a.power[i+binsAround]; own == v && own > floor {
			a.maxima[i/8] |= 1 << (i % 8)
		}
	}
}

// largest sets the value of dst at each index to the largest of four values of x: the one at that index, and
// three that follow at that distance. dst may be x, because no value is read after it is written.
func largest(dst, x []float32, distance int) {
	for i := range dst {
		v := x[i]
		for k := 1; k < 4; k++ {
			if w := x[i+k*distance]; w > v {
				v = w
			}
		}
		dst[i] = v
	}
}
