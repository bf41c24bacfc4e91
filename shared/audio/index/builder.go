package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/warp"
	"leasehold/shared/fault"
)

// Speeds at which clips are indexed, in thousandths.
var Speeds = [...]int{0, -10, 10, -20, 20, -30, 30}

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

// posting is a landmark of a variant.
type posting struct{ hash, position uint32 }

// Builder gathers clips.
type Builder struct {
	clips     []clip
	variants  []Variant
	postings  []posting
	waves     []int16
	positions int
}

// clip is what the image holds of one.
type clip struct {
	id        string
	offset    int // in waves
	samples   int
	landmarks int
}

// Add takes a clip: mono at RateHz, of which it keeps a copy of 16 bits a sample. The
// id is for the caller to know it again; none is compared. A clip beyond MaxSamples is
// fault.ErrTooLarge, and so is one more than the index can hold.
func (b *Builder) Add(id string, samples []float32) error {
	if len(samples) > MaxSamples || len(id) > maxID {
		return fmt.Errorf("index.Add %.80s: %d samples, at most %d are accepted: %w", id, len(samples), MaxSamples, fault.ErrTooLarge)
	}
	if b.positions+len(Speeds)*(len(samples)/spectrum.Hop+2*unit) > maxPositions {
		return fmt.Errorf("index.Add %.80s: the index is full with %d clips: %w", id, len(b.clips), fault.ErrTooLarge)
	}
	c := clip{id: id, offset: len(b.waves), samples: len(samples)}
	b.waves = appendPCM(b.waves, samples)
	for i, speed := range Speeds {
		n := b.addVariant(warp.Play(samples, speed), speed)
		if i == 0 {
			c.landmarks = n
		}
	}
	b.clips = append(b.clips, c)
	return nil
}

// addVariant indexes a variant of the clip to come, and returns how many landmarks it
// has.
func (b *Builder) addVariant(wave []float32, speed int) int {
	v := Variant{Clip: len(b.clips), Speed: speed, Base: b.positions, Frames: len(wave)/spectrum.Hop + 1}
	first := len(b.postings)
	add := func(frame int, hash uint32) {
		b.postings = append(b.postings, posting{hash, uint32(v.Base + min(frame, v.Frames-1))})
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

// Build makes the index of what was added so far. The Builder may go on.
func (b *Builder) Build() (*Index, error) {
	l := layout{clips: len(b.clips), variants: len(b.variants), positions: b.positions, postings: len(b.postings), samples: len(b.waves)}
	for _, c := range b.clips {
		l.names += len(c.id)
	}
	image := make([]byte, l.size())
	b.putTables(image, l)
	b.putPostings(image[l.buckets():])
	for i, v := range b.waves {
		le.PutUint16(image[l.wave()+2*i:], uint16(v))
	}
	l.putHeader(image, crc32.Checksum(image[headerBytes:], castagnoli))
	return open(image)
}

func (b *Builder) putTables(image []byte, l layout) {
	names := image[l.names0():]
	for i, c := range b.clips {
		r := image[headerBytes+i*clipBytes:]
		le.PutUint64(r, uint64(c.offset))
		le.PutUint32(r[8:], uint32(c.samples))
		le.PutUint32(r[12:], uint32(c.landmarks))
		le.PutUint32(r[16:], uint32(len(c.id)))
		names = names[copy(names, c.id):]
	}
	for i, v := range b.variants {
		r := image[l.variant0()+i*variantBytes:]
		le.PutUint32(r, uint32(v.Clip))
		le.PutUint32(r[4:], uint32(int32(v.Speed)))
		le.PutUint32(r[8:], uint32(v.Base))
		le.PutUint32(r[12:], uint32(v.Frames))
		le.PutUint32(r[16:], uint32(v.Postings))
	}
}

// putPostings sorts the postings by hash, by counting, so that those of a hash stay in
// the order of variants.
func (b *Builder) putPostings(image []byte) {
	next := make([]uint32, hashes+1)
	for _, p := range b.postings {
		next[p.hash+1]++
	}
	for h := range hashes {
		next[h+1] += next[h]
		le.PutUint32(image[4*(h+1):], next[h+1])
	}
	lists := image[4*(hashes+1):]
	for _, p := range b.postings {
		le.PutUint32(lists[4*next[p.hash]:], p.position)
		next[p.hash]++
	}
}

// appendPCM appends samples as 16-bit ones; what is beyond full scale is clipped.
func appendPCM(dst []int16, samples []float32) []int16 {
	for _, v := range samples {
		dst = append(dst, int16(math.RoundToEven(float64(max(-1, min(v, 1)))*math.MaxInt16)))
	}
	return dst
}

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)
