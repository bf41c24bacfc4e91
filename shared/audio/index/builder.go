package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/warp"
	"leasehold/shared/fault"
)

// speeds at which every clip is indexed, in thousandths; and those at which a short one is, too.
// Half way between two of the first a clip keeps half of its landmarks, which are enough if
// they are many: of 400 clips at any speed within 3 % as many were found as at their own if
// they lasted 2 s or more, 98 % between 1 and 2 s, and 84 % below 1 s.
var (
	speeds      = []int{0, -10, 10, -20, 20, -30, 30}
	shortSpeeds = append(slices.Clone(speeds), -5, 5, -15, 15, -25, 25)
)

// speedsOf are those of a clip of so many samples.
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
	// unit is the stretch of positions that one variant has to itself, so that a
	// small table tells whose a position is.
	unit = 64
	// maxPositions keeps positions in 32 bits: 100,000 clips of 5 s.
	maxPositions = math.MaxUint32 - 1<<20
)

// spillBytes is how much a Builder holds in memory before it moves it to files: about
// 110 clips of 5 s.
const spillBytes = 16 << 20

// Builder gathers clips. Memory does not grow with them: what is beyond some 16 MB goes to
// files in Dir, which have no names and are gone with the Builder, or with the process.
type Builder struct {
	Dir string // folder of the files, "" for the system's own

	clips    []clip
	variants []Variant
	// postings are the run in hand: each a hash in the upper half, and a position.
	postings  []uint64
	waves     []int16 // of the clips in hand
	positions int
	samples   int // of all clips
	counts    []uint32
	spilled   *spill // nil as long as all is in memory
	most      int    // bytes in memory; 0 is spillBytes
}

// clip is what the image holds of one.
type clip struct {
	id      string
	offset  int // in waves
	samples int
	plain   bool
}

// Add takes a clip: mono at RateHz, of which it keeps a copy of 16 bits a sample. The
// id is for the caller to know it again; none is compared. A clip beyond MaxSamples is
// fault.ErrTooLarge, and so is one more than the index can hold. Any other error is that of
// writing a file; the Builder is of no more use then.
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
		n := b.addVariant(warp.Play(samples, speed), speed)
		if i == 0 {
			c.plain = isPlain(samples, n)
		}
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

// addVariant indexes a variant of the clip to come, and returns how many landmarks it
// has.
func (b *Builder) addVariant(wave []float32, speed int) int {
	v := Variant{Clip: len(b.clips), Speed: speed, Base: b.positions, Frames: len(wave)/spectrum.Hop + 1}
	first := len(b.postings)
	add := func(frame int, hash uint32) {
		b.counts[hash]++
		b.postings = append(b.postings, uint64(hash)<<32|uint64(v.Base+min(frame, v.Frames-1)))
	}
	own := landmark.Of(wave)
	for _, l := range own {
		add(l.Frame, l.Hash)
	}
	if len(wave) < shortClip {
		there := map[landmark.Landmark]bool{}
		for _, l := range own {
			there[l] = true
		}
		const late = spectrum.Hop / 2
		for _, l := range landmark.Of(append(make([]float32, late), wave...)) {
			if !there[l] && !there[landmark.Landmark{Hash: l.Hash, Frame: l.Frame - 1}] {
				add(l.Frame, l.Hash)
			}
		}
	}
	v.Postings = len(b.postings) - first
	b.variants = append(b.variants, v)
	b.positions += (v.Frames + unit - 1) / unit * unit
	return v.Postings
}

// appendPCM appends samples as 16-bit ones; what is beyond full scale is clipped.
func appendPCM(dst []int16, samples []float32) []int16 {
	for _, v := range samples {
		dst = append(dst, int16(math.RoundToEven(float64(max(-1, min(v, 1)))*math.MaxInt16)))
	}
	return dst
}
