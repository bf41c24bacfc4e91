package decode

import (
	"encoding/binary"
	"math"
	"slices"
)

// blockBytes is how much a decoder reads at a time: large enough that calls cost
// little, small enough for a CPU cache.
const blockBytes = 1 << 16

// mix converts len(dst) frames in raw to mono. It may change raw. Of two channels, stereo.choose
// takes the middle or the side; of more, all are added.
func (w *wavSource) mix(dst []float32, raw []byte) {
	if w.bigEndian {
		for sample := range slices.Chunk(raw[:len(dst)*w.frameSize()], w.sampleSize) {
			slices.Reverse(sample)
		}
	}
	sample, scale := w.sampler()
	scale /= float64(w.channels)
	if w.channels == 2 {
		side := w.stereo.sideBuffer(len(dst))
		for i := range dst {
			left, right := sample(raw), sample(raw[w.sampleSize:])
			dst[i], side[i] = float32((left+right)*scale), float32((left-right)*scale)
			raw = raw[2*w.sampleSize:]
		}
		w.stereo.choose(dst, side)
		return
	}
	for i := range dst {
		sum := 0.0
		for range w.channels {
			sum += sample(raw)
			raw = raw[w.sampleSize:]
		}
		dst[i] = float32(sum * scale)
	}
}

const (
	// stereoChunk is how many samples a stereo decides on at a time: 12 ms at 44.1 kHz. Powers
	// are smoothed over about four.
	stereoChunk = 512
	// weakMiddle is how many times the power of the middle the side must have to replace it: 6 dB,
	// because wide music reaches 3 dB.
	weakMiddle = 4
	// sideFloor is the mean power, -80 dB, below which the side is noise.
	sideFloor = 1e-8
)

// stereo makes mono of two channels. The result is the middle, which is their mean; while the
// middle is weak, it is the side, which is half of their difference. So sound in antiphase, which
// cancels out in the middle, is heard. The change takes one chunk, and the chunks before decide it.
type stereo struct {
	side     []float32
	done     int     // samples of the current chunk so far
	from, to float32 // share of the side at the chunk's begin and end
	// mid2 and sd2 are energies of the current chunk; mid and sd are powers smoothed over
	// chunks. All are of the differences of neighbouring samples, because low notes alone would
	// reveal too little in 12 ms.
	mid2, sd2, mid, sd float64
	lastMid, lastSide  float32
}

// sideBuffer returns a buffer of n samples for the side.
func (s *stereo) sideBuffer(n int) []float32 {
	if cap(s.side) < n {
		s.side = make([]float32, n)
	}
	return s.side[:n]
}

// choose replaces the middle by the side where the middle is weak. The result depends on the
// samples alone, and not on how many of them each call gets. In each chunk it moves from the
// share of the side (s.from) to the one that the chunk before decided (s.to), so that nothing
// clicks.
func (s *stereo) choose(mid, side []float32) {
	for len(mid) > 0 {
		n := min(stereoChunk-s.done, len(mid))
		for i, m := range mid[:n] {
			d := side[i]
			a, b := float64(m-s.lastMid), float64(d-s.lastSide)
			s.mid2 += float64(a * a)
			s.sd2 += float64(b * b)
			s.lastMid, s.lastSide = m, d
			if s.from > 0 || s.to > 0 {
				share := s.from + float32((s.to-s.from)*float32(s.done+i)/stereoChunk)
				mid[i] = m + float32(share*(d-m))
			}
		}
		mid, side = mid[n:], side[n:]
		s.done += n
		if s.done == stereoChunk {
			s.turn()
		}
	}
}

// turn ends a chunk and decides the next one: the side if it is much stronger than the middle, the
// middle if it is stronger; between these limits the choice stays, so that it does not alternate.
func (s *stereo) turn() {
	s.mid += float64((float64(s.mid2/stereoChunk) - s.mid) / 4)
	s.sd += float64((float64(s.sd2/stereoChunk) - s.sd) / 4)
	s.done, s.mid2, s.sd2, s.from = 0, 0, 0, s.to
	switch {
	case s.sd > max(sideFloor, weakMiddle*s.mid):
		s.to = 1
	case s.sd < s.mid:
		s.to = 0
	}
}

// sampler returns a function that reads one little-endian sample, and the factor that scales it
// to ±1. The format has been checked, so its sample size is one of these.
func (w wavFormat) sampler() (sample func([]byte) float64, scale float64) {
	le := binary.LittleEndian
	switch {
	case w.float && w.sampleSize == 8:
		return func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }, 1
	case w.float:
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }, 1
	case w.sampleSize == 1 && w.signed:
		return func(b []byte) float64 { return float64(int8(b[0])) }, toUnit(8)
	case w.sampleSize == 1:
		return func(b []byte) float64 { return float64(b[0]) - 128 }, toUnit(8)
	case w.sampleSize == 2:
		return func(b []byte) float64 { return float64(int16(le.Uint16(b))) }, toUnit(16)
	case w.sampleSize == 3:
		return func(b []byte) float64 {
			return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24) >> 8)
		}, toUnit(24)
	}
	return func(b []byte) float64 { return float64(int32(le.Uint32(b))) }, toUnit(32)
}
