package landmark

import (
	"math/bits"

	"leasehold/shared/clips/spectrum"
)

const (
	// binsAround and framesAround: a peak is the loudest within ±156 Hz and ±64 ms, half a window,
	// within which a window smears a tone. Speech and music have about 50 such peaks a second.
	binsAround   = 10
	framesAround = 8
	// lowestBin excludes hum: frequencies below 62 Hz.
	lowestBin = 4
	rows      = 2*framesAround + 1
)

// floor is the power that a peak must exceed: the power of a sine at -90 dB of full scale, which is
// the dither of 16-bit recordings.
const floor = (3.2e-5 * spectrum.Window / 4) * (3.2e-5 * spectrum.Window / 4)

// Peak is a local maximum of a spectrogram.
type Peak struct {
	Frame int     // since the start of the stream
	Bin   uint8   // 4 to 255
	Power float32 // in the spectrogram, above 0
}

// Peaks finds the peaks of a stream. The zero value is not usable; call NewPeaks.
type Peaks struct {
	frames *spectrum.Frames
	next   int // number of the next frame
	// ring holds the last rows frames. The index of a frame is its number modulo rows.
	ring  [rows]row
	spare around
}

// row is one frame: for each bin the largest power within ± binsAround, and the bins that have it.
type row struct {
	loudest [spectrum.Bins]float32
	maxima  []uint8
}

// NewPeaks returns Peaks at the start of a stream.
func NewPeaks() *Peaks { return &Peaks{frames: spectrum.NewFrames()} }

// Push takes the next samples and does not retain the slice. It calls emit with each peak that
// these samples decide, ordered by frame, and within a frame by bin.
func (p *Peaks) Push(samples []float32, emit func(Peak)) {
	p.frames.Push(samples, func(power []float32) {
		p.ring[p.next%rows].fill(power, &p.spare)
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
		if p.isPeak(frame, int(bin), own.loudest[bin]) {
			emit(Peak{frame, bin, own.loudest[bin]})
		}
	}
}

// isPeak reports whether a bin is a peak: no later frame around it is louder, and no earlier
// one is as loud. It compares the nearest frames first, because they reject most candidates.
func (p *Peaks) isPeak(frame, bin int, power float32) bool {
	for d := 1; d <= framesAround; d++ {
		if p.ring[(frame+d)%rows].loudest[bin] > power || frame >= d && p.ring[(frame-d)%rows].loudest[bin] >= power {
			return false
		}
	}
	return true
}

// clear makes a row one of silence.
func (r *row) clear() {
	clear(r.loudest[:])
	r.maxima = r.maxima[:0]
}

// fill stores the loudest powers of a frame and finds its maxima. Of equally loud bins that are no more
// than binsAround apart, those of each group of binsAround bins have one maximum, the first.
func (r *row) fill(power []float32, spare *around) {
	spare.fill(power, &r.loudest)
	r.maxima = r.maxima[:0]
	group := -1
	for i, some := range spare.maxima {
		for ; some != 0; some &= some - 1 {
			bin := 8*i + bits.TrailingZeros8(some)
			if g := (bin - lowestBin) / binsAround; bin >= lowestBin && g != group {
				r.maxima, group = append(r.maxima, uint8(bin)), g
			}
		}
	}
}
