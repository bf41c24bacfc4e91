package landmark

import (
	"math"

	"leasehold/shared/audio/spectrum"
)

const (
	// binsAround and framesAround: a peak is the loudest within ±156 Hz and ±64 ms, half a window,
	// within which a window smears a tone. Speech and music have about 50 such peaks a second.
	binsAround   = 10
	framesAround = 8
	// lowestBin excludes hum: frequencies below 62 Hz.
	lowestBin = 4
	rows      = 2*framesAround + 1
	padded    = spectrum.Bins + 2*binsAround + 1
)

// floor is the power that a peak must exceed: that of a sine at -90 dB of full scale, which
// is the dither of 16-bit recordings.
const floor = (3.2e-5 * spectrum.Window / 4) * (3.2e-5 * spectrum.Window / 4)

// Peak is a local maximum of a spectrogram.
type Peak struct {
	Frame int   // since the start of the stream
	Bin   uint8 // 4 to 255
}

// Peaks finds the peaks of a stream. The zero value is not usable; call NewPeaks.
type Peaks struct {
	frames *spectrum.Frames
	next   int // number of the next frame
	// ring holds the last rows frames. The index of a frame is its number modulo rows.
	ring [rows]row
}

// row is one frame: its power, padded with silence on either side, and the bins that are the
// loudest within ± binsAround of the frame.
type row struct {
	power  [padded]float32
	maxima []uint8
}

// NewPeaks returns Peaks at the start of a stream.
func NewPeaks() *Peaks { return &Peaks{frames: spectrum.NewFrames()} }

// Push takes the next samples and does not retain the slice. It calls emit with each peak that
// these samples decide, ordered by frame, and within a frame by bin.
func (p *Peaks) Push(samples []float32, emit func(Peak)) {
	p.frames.Push(samples, func(power []float32) {
		p.ring[p.next%rows].fill(power)
		p.next++
		p.decide(p.next-1-framesAround, emit)
	})
}

// Flush calls emit with the peaks of the last frames, after which it assumes silence. Peaks is
// then ready for a new stream.
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

// Decided returns the number of frames whose peaks have all been emitted.
func (p *Peaks) Decided() int { return max(0, p.next-framesAround) }

// decide emits the peaks of a frame. The framesAround later frames must be in the ring. Among
// equally loud points of different frames, only the first is a peak.
func (p *Peaks) decide(frame int, emit func(Peak)) {
	if frame < 0 {
		return
	}
	own := &p.ring[frame%rows]
	for _, bin := range own.maxima {
		if p.isPeak(frame, int(bin), own.power[int(bin)+binsAround]) {
			emit(Peak{frame, bin})
		}
	}
}

// isPeak reports whether a bin is a peak: no later frame around it is louder, and no earlier
// one is as loud. It compares the nearest frames first, because they reject most candidates.
func (p *Peaks) isPeak(frame, bin int, power float32) bool {
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

// clear makes a row one of silence.
func (r *row) clear() {
	clear(r.power[:])
	r.maxima = r.maxima[:0]
}

// fill stores the power of a frame and finds its maxima. A bin that is the loudest within
// ± binsAround is also the loudest of any binsAround consecutive bins around it, so each group
// of binsAround bins has one candidate.
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

// loudestOf returns the index of the largest value, and of equal ones the first. Power is never
// negative, so its bits as an integer have the same order, and the comparison needs no branch.
func loudestOf(power []float32) int {
	best := uint64(0)
	for i, v := range power {
		best = max(best, uint64(math.Float32bits(v))<<8|uint64(255-i))
	}
	return 255 - int(best&255)
}

// loudest reports whether no value around is above power.
func loudest(around []float32, power float32) bool {
	for _, v := range around {
		if v > power {
			return false
		}
	}
	return true
}
