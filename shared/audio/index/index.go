package index

import (
	"os"
	"runtime"

	"leasehold/shared/audio/landmark"
)

const (
	// RateHz is the sample rate of clips.
	RateHz = 8000
	// MaxSamples is the length of the longest clip: two minutes.
	MaxSamples = 120 * RateHz
	maxID      = 4096 // bytes
)

// Index is all clips, ready to be looked up.
type Index struct {
	image    []byte
	clips    []clip
	variants []Variant
	own      []int           // by clip, the number of its first variant
	owners   []uint32        // the variant of each unit of positions
	occupied landmark.Hashes // that have postings
	buckets  []byte          // hashes+1 numbers of postings
	postings []byte
	waves    []byte

	file      *os.File // that image is mapped from; nil if it is in memory
	forgotten runtime.Cleanup
}

// Variant is a clip at a speed.
type Variant struct {
	Clip     int // its number, in the order of Add
	Speed    int // in thousandths
	Base     int // the position of its first frame
	Frames   int // at least 1
	Postings int // how many it has
}

// Clips is their number.
func (x *Index) Clips() int { return len(x.clips) }

// ID is that of clip i.
func (x *Index) ID(i int) string { return x.clips[i].id }

// Samples is the length of clip i.
func (x *Index) Samples(i int) int { return x.clips[i].samples }

// Plain reports whether clip i is to be looked for by plain correlation, because it has too few
// landmarks or is made of a few tones.
func (x *Index) Plain(i int) bool { return x.clips[i].plain }

// Wave returns the samples of clip i.
func (x *Index) Wave(i int) []float32 {
	c := x.clips[i]
	raw, wave := x.waves[2*c.offset:2*(c.offset+c.samples)], make([]float32, c.samples)
	for k := range wave {
		wave[k] = float32(int16(le.Uint16(raw[2*k:]))) / 32767
	}
	runtime.KeepAlive(x)
	return wave
}

// Variants are all of them, each clip's together, in the order of Base. They are not
// to be changed.
func (x *Index) Variants() []Variant { return x.variants }

// Own is the number of the variant of a clip at its own speed.
func (x *Index) Own(clip int) int { return x.own[clip] }

// Owner is the number of the variant that a position of a posting belongs to.
func (x *Index) Owner(position uint32) int { return int(x.owners[position/unit]) }

// Units is the number of stretches of positions, each of one variant; Unit is that of a
// position.
func (x *Index) Units() int { return len(x.owners) }

// Unit is the number of the stretch of positions that a position is in.
func Unit(position int) int { return position / unit }

// Hashes are those that have postings. They are not to be changed.
func (x *Index) Hashes() landmark.Hashes { return x.occupied }

// Postings of a hash, in the order of variants.
func (x *Index) Postings(hash uint32) Postings {
	b := x.buckets[4*hash:][:8]
	from, to := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
	return Postings(x.postings[4*from : 4*to])
}

// Postings are positions. They are good as long as the Index is open and referred to.
type Postings []byte

// Len is their number.
func (p Postings) Len() int { return len(p) / 4 }

// At is the i-th.
func (p Postings) At(i int) uint32 { return le.Uint32(p[4*i:]) }
