package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/warp"
	"leasehold/shared/fault"
)

// speeds are the offsets from normal speed, in thousandths, at which every clip is indexed.
// shortSpeeds adds the offsets half way between them for short clips. Half way between two
// indexed speeds a clip keeps half of its landmarks. That is enough if the clip has many:
// of 400 clips at any speed within 3 %, clips of 2 s or more were
// found as often as at normal speed, clips of 1 to 2 s 98 % as often, and clips below 1 s
// 84 % as often.
var (
	speeds      = []int{0, -10, 10, -20, 20, -30, 30, -40, 40}
	shortSpeeds = append(slices.Clone(speeds), -5, 5, -15, 15, -25, 25, -35, 35)
)

// speedsOf returns the speeds at which a clip of that many samples is indexed.
func speedsOf(samples int) []int {
	if samples < shortClip {
		return shortSpeeds
	}
	return speeds
}

const (
	// shortClip is the length in samples below which a clip is indexed at two
	// alignments.
	shortClip = 2 * RateHz
	// unit is the granularity in which positions are allocated to variants. No two variants share a
	// unit, so a table maps a position to its variant. A variant of 8 s or less has one unit, so that
	// such a table for 10,000 clips fits the processor's cache: 400 KB.
	unit = 1024
	// maxPositions keeps positions in 32 bits: 100,000 clips of 5 s.
	maxPositions = math.MaxUint32 - 1<<20
)

// spillBytes is the size of the buffers of a Builder at which it moves them to files:
// about 170 clips of 5 s.
const spillBytes = 16 << 20

// Builder collects clips and builds an Index of them. It buffers at most some 16 MB of samples
// and postings; the rest goes to files in Dir. The files have no names, so they disappear with
// the Builder or the process.
type Builder struct {
	Dir string // folder of the files, "" for the system's folder of temporary files

	clips    []clip
	variants []Variant
	// postings are those not yet spilled: each has a hash in the upper half and a position
	// in the lower.
	postings  []uint64
	waves     []int16 // samples not yet spilled
	positions int
	samples   int // of all clips
	counts    []uint32
	spilled   *spill // nil until the first spill
	most      int    // bytes buffered before a spill; 0 means spillBytes
}

// clip is the entry of one clip in the image.
type clip struct {
	id      string
	offset  int // in waves
	samples int
	plain   bool
}

// Add indexes a clip of mono samples at RateHz, and keeps a copy in 16 bits a sample. The
// id is the caller's own; ids are not compared, so they may repeat. Add fails with
// fault.ErrTooLarge if the clip exceeds MaxSamples, if the id is too long, or if the index is
// full. Any other error comes from writing a file, and the Builder must not be used afterwards.
func (b *Builder) Add(id string, samples []float32) error {
	if len(samples) > MaxSamples || len(id) > maxID {
		return fmt.Errorf("index.Add %.80s: %d samples, at most %d are accepted: %w", id, len(samples), MaxSamples, fault.ErrTooLarge)
	}
	if b.positions+len(shortSpeeds)*(len(samples)/spectrum.Hop+2*unit) > maxPositions {
		return fmt.Errorf("index.Add %.80s: the index is full with %d clips: %w", id, len(b.clips), fault.ErrTooLarge)
	}
	if b.counts == nil {
		b.counts = make([]uint32, hashes)
	}
	c := clip{id: id, offset: b.samples, samples: len(samples)}
	b.samples += len(samples)
	b.waves = appendPCM(b.waves, samples)
	for i, speed := range speedsOf(len(samples)) {
		wave := warp.Play(samples, speed)
		own := changing(landmark.PairsOf(wave))
		other := late(wave, own)
		if i == 0 {
			c.plain = isPlain(samples, own, len(own)+len(other))
		}
		// A held note is equally loud for many frames, so its strong landmarks do not remain beside another sound.
		// A clip of such notes needs all of its landmarks.
		if !c.plain {
			own, other = strongest(own, len(wave)), strongest(other, len(wave))
		}
		b.addVariant(speed, len(wave), slices.Concat(own, other))
	}
	b.clips = append(b.clips, c)
	if most := cmp.Or(b.most, spillBytes); 8*len(b.postings)+2*len(b.waves) < most {
		return nil
	}
	if err := b.spill(); err != nil {
		return fmt.Errorf("index.Add %.80s: %w", id, err)
	}
	return nil
}

// addVariant indexes one variant of the clip that Add is about to append: its speed, its length in samples, and its
// pairs. It gets the next free positions, rounded up to units.
func (b *Builder) addVariant(speed, samples int, pairs []landmark.Pair) {
	v := Variant{Clip: len(b.clips), Speed: speed, Base: b.positions, Frames: samples/spectrum.Hop + 1, Postings: len(pairs)}
	for _, p := range pairs {
		l := p.Landmark()
		b.counts[l.Hash]++
		b.postings = append(b.postings, uint64(l.Hash)<<32|uint64(v.Base+min(l.Frame, v.Frames-1)))
	}
	b.variants = append(b.variants, v)
	b.positions += (v.Frames + unit - 1) / unit * unit
}

// appendPCM appends samples in 16 bits. Samples beyond full scale are clipped.
func appendPCM(dst []int16, samples []float32) []int16 {
	for _, v := range samples {
		dst = append(dst, int16(math.RoundToEven(float64(max(-1, min(v, 1)))*math.MaxInt16)))
	}
	return dst
}
