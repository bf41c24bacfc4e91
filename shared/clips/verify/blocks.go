package verify

import (
	"container/list"
	"math"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/warp"
)

const (
	// BlockSamples is the length of a block: 0.256 s.
	BlockSamples = 2048
	window       = 2 * BlockSamples // of the episode
	hop          = spectrum.Hop
	bins         = window/2 + 1
	// lowBin and highBin bound the band that counts: 100 to 3,700 Hz.
	lowBin, highBin = 100 * window / index.RateHz, 3700 * window / index.RateHz
	// silent: a block this much below the clip's mean power, 24 dB, has nothing to match, because something is nearly
	// always louder (docs/benchmarks.md, Sure landmarks).
	silent = 4e-3
	// cacheBytes bounds the blocks' spectra that are kept.
	cacheBytes = 12 << 20
	blockBytes = 8 * (highBin - lowBin)
)

// maxBlocks is how many blocks of a clip are compared at most, because each costs two transforms of
// 4,096 samples, and drift compares them in pairs: those of a clip of 6 s. In a longer clip they are spread
// over it.
const maxBlocks = 24

// block is a piece of a variant.
type block struct {
	at       int         // first sample in the variant
	power    float64     // mean, of the clip at its own speed
	spectrum []complex64 // conjugate and whitened, from lowBin to highBin; nil until it is needed
}

// at is a variant of the index, played fine thousandths faster.
type at struct{ number, fine int }

// variant is a variant of a clip and its blocks, without the silent ones.
type variant struct {
	at      at
	clip    []float32 // at its own speed
	speed   int       // thousandths by which the variant is faster
	samples int
	blocks  []block
}

// size is the variant's memory at most, in bytes.
func (v *variant) size() int { return 4*len(v.clip) + len(v.blocks)*blockBytes }

// cache makes variants and keeps those used last.
type cache struct {
	index *index.Index
	fft   spectrum.Transform
	wave  []float32
	bins  []complex64
	known map[at]*list.Element
	used  *list.List // of *variant, the last used first
	size  int
}

// newCache returns an empty cache of the variants of an index.
func newCache(x *index.Index) *cache {
	return &cache{
		index: x, fft: spectrum.NewFFT(window), wave: make([]float32, window), bins: make([]complex64, bins),
		known: map[at]*list.Element{}, used: list.New(),
	}
}

// get returns a variant. It removes others until the rest fits cacheBytes, so the caller must not
// keep the variant: its memory would not be counted.
func (c *cache) get(a at) *variant {
	if e := c.known[a]; e != nil {
		c.used.MoveToFront(e)
		return e.Value.(*variant)
	}
	of := c.index.Variants()[a.number]
	v := cut(a, c.index.Wave(of.Clip), of.Speed+a.fine)
	c.known[a] = c.used.PushFront(v)
	c.size += v.size()
	for c.size > cacheBytes && c.used.Len() > 1 {
		last := c.used.Remove(c.used.Back()).(*variant)
		delete(c.known, last.at)
		c.size -= last.size()
	}
	return v
}

// cut cuts a variant of a clip into at most maxBlocks blocks, evenly spread, and leaves out the
// silent ones. A variant shorter than a block is one block. The blocks' powers come from the clip,
// because most blocks are never compared, and so never played at the variant's speed.
func cut(a at, clip []float32, speed int) *variant {
	v := &variant{at: a, clip: clip, speed: speed, samples: warp.Len(len(clip), speed)}
	mean := power(clip)
	n := min(maxBlocks, max(1, (v.samples+BlockSamples/2)/BlockSamples))
	for i := range n {
		at := 0
		if n > 1 {
			at = i * (v.samples - BlockSamples) / (n - 1)
		}
		from, to := at*(1000+speed)/1000, v.end(at)*(1000+speed)/1000
		if p := power(clip[from:min(to, len(clip))]); p > silent*mean {
			v.blocks = append(v.blocks, block{at: at, power: p})
		}
	}
	return v
}

// end is the end of the block at a sample.
func (v *variant) end(at int) int { return min(at+BlockSamples, v.samples) }

// spectrum returns the spectrum of block k.
func (c *cache) spectrum(v *variant, k int) []complex64 {
	b := &v.blocks[k]
	if b.spectrum == nil {
		b.spectrum = c.whiten(warp.Part(v.clip, v.speed, b.at, v.end(b.at)))
	}
	return b.spectrum
}

// whiten returns the conjugate spectrum of a piece of clip, without its mean, in the band that
// counts. Each bin is divided by the root of its magnitude; correlate does the same to the
// episode, so that the product is divided by one half power of both.
func (c *cache) whiten(piece []float32) []complex64 {
	clear(c.wave)
	mean := float32(0)
	for _, v := range piece {
		mean += v / float32(len(piece))
	}
	for i, v := range piece {
		c.wave[i] = v - mean
	}
	c.fft.Forward(c.bins, c.wave)
	out := make([]complex64, highBin-lowBin)
	for k, v := range c.bins[lowBin:highBin] {
		w := weight(v)
		out[k] = complex(real(v)*w, -imag(v)*w)
	}
	return out
}

// weight returns the magnitude to the power of -1/2; 0 for a bin without energy, which then does
// not count.
func weight(v complex64) float32 {
	m := magnitude2(v)
	if m < 1e-20 {
		return 0
	}
	return 1 / root(root(m))
}

// magnitude2 is the square of the magnitude; the conversions forbid fused multiply-add, so that
// every processor finds the same.
func magnitude2(v complex64) float32 { return float32(real(v)*real(v)) + float32(imag(v)*imag(v)) }

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// power returns the mean square of a sound, 0 of none.
func power(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	return sum / float64(max(1, len(x)))
}
