package decode

import (
	"encoding/binary"
	"math"
	"slices"
)

// blockBytes is how much a decoder reads at a time: large enough that calls cost
// nothing, small enough for a cache.
const blockBytes = 1 << 16

// mix converts the frames in raw, which it may change, to mono: the mean of the
// channels.
func (w wavFormat) mix(dst []float32, raw []byte) {
	if w.bigEndian {
		for sample := range slices.Chunk(raw[:len(dst)*w.frameSize()], w.sampleSize) {
			slices.Reverse(sample)
		}
	}
	sample, scale := w.sampler()
	scale /= float64(w.channels)
	for i := range dst {
		sum := 0.0
		for range w.channels {
			sum += sample(raw)
			raw = raw[w.sampleSize:]
		}
		dst[i] = float32(sum * scale)
	}
}

// sampler returns what reads one little-endian sample, and what brings it into ±1.
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
