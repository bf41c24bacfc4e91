package landmark

import (
	"math"

	"leasehold/shared/audio/spectrum"
)

const (
	// binsAround and framesAround: a peak is the loudest in ± so many.
	binsAround   = 10
	framesAround = 8
	// lowestBin leaves out what hums: below 62 Hz.
	lowestBin = 4
	rows      = 2*framesAround + 1
	padded    = spectrum.Bins + 2*binsAround + 1
)

// floor is the power below which nothing is a peak: a sine at -90 dB of full scale,
// the dither of 16-bit recordings.
const floor = (3.2e-5 * spectrum.Window / 4) * (3.2e-5 * spectrum.Window / 4)

// Peak is a loudest point of a spectrogram.
type Peak struct {
	Frame int   // since the start of the stream
	Bin   uint8 // 4 to 255
}

// Peaks finds the peaks of a stream. The zero value is not ready: see NewPeaks.
type Peaks struct {
	frames *spectrum.Frames
	next   int // frame to come
	// ring holds the last rows frames, each at its number modulo rows.
	ring [rows]row
}

// row is one frame: its power, silence on either side, and the bins that are the
// loudest of ± binsAround in it.
type row struct {
	power  [padded]float32
	maxima []uint8
}

// NewPeaks returns Peaks at the start of a stream.
func NewPeaks() *Peaks { return &Peaks{frames: spectrum.NewFrames()} }

// Push takes the next samples, of which it keeps none, and calls emit with each peak
// that they decide, in the order of frames and in a frame of bins.
func (p *Peaks) Push(samples []float32, emit func(Peak)) {
	p.frames.Push(samples, func(power []float32) {
		p.ring[p.next%rows].fill(power)
		p.next++
		p.decide(p.next-1-framesAround, emit)
	})
}

// Flush calls emit with the peaks of the last frames, and goes back to the start.
func (p *Peaks) Flush(emit func(Peak)) {
	last := p.next
	for range framesAround {
		p.ring[p.next%rows].clear()
		p.next++
		if at := p.next - 1 - framesAround; at < last {
			p.decide(at, emit)
		}
	}
	p.next = 0
	for i := range p.ring {
		p.ring[i].clear()
	}
	p.frames.Reset()
}

// Decided is the number of frames whose peaks are all out.
func (p *Peaks) Decided() int { return max(0, p.next-framesAround) }

// decide emits the peaks of a frame, whose later ones are there. Of equals the first
// is a peak.
func (p *Peaks) decide(frame int, emit func(Peak)) {
	if frame < 0 {
		return
	}
	own := &p.ring[frame%rows]
	for _, bin := range own.maxima {
		if p.stands(frame, int(bin), own.power[int(bin)+binsAround]) {
			emit(Peak{frame, bin})
		}
	}
}

// stands reports whether no bin around is louder, the nearest frames first, since
// they decide most.
func (p *Peaks) stands(frame, bin int, power float32) bool {
	for d := 1; d <= framesAround; d++ {
		for _, v := range p.ring[(frame+d)%rows].power[bin : bin+2*binsAround+1] {
			if v > power {
				return false
			}
		}
		if frame < d {
			continue
		}
		for _, v := range p.ring[(frame-d)%rows].power[bin : bin+2*binsAround+1] {
			if v >= power {
				return false
			}
		}
	}
	return true
}

func (r *row) clear() {
	clear(r.power[:])
	r.maxima = r.maxima[:0]
}

// fill takes a frame's power. The loudest of ± binsAround is the loudest of the
// stretch of binsAround that it lies in, so there is one candidate in each.
func (r *row) fill(power []float32) {
	x := r.power[:]
	copy(x[binsAround:], power[:spectrum.Bins])
	r.maxima = r.maxima[:0]
	for from := lowestBin; from < spectrum.Bins; from += binsAround {
		i := loudestOf(power[from:min(from+binsAround, spectrum.Bins)]) + from
		if v := power[i]; v > floor && loudest(x[i:][:2*binsAround+1], v) {
			r.maxima = append(r.maxima, uint8(i))
		}
	}
}

// loudestOf returns the index of the first of the largest. Power is never negative,
// so its bits are ordered as it is, and the comparison needs no branch.
func loudestOf(power []float32) int {
	best := uint64(0)
	for i, v := range power {
		best = max(best, uint64(math.Float32bits(v))<<8|uint64(255-i))
	}
	return 255 - int(best&255)
}

func loudest(around []float32, power float32) bool {
	for _, v := range around {
		if v > power {
			return false
		}
	}
	return true
}
