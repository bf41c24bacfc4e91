package index

import (
	"os"
	"runtime"

	"leasehold/shared/clips/landmark"
)

const (
	// RateHz is the sample rate of clips.
	RateHz = 8000
	// MaxSamples is the length of the longest clip: two minutes.
	MaxSamples = 120 * RateHz
	maxID      = 4096 // bytes
)

// Index is the inverted index of all clips.
type Index struct {
	image    []byte
	clips    []clip
	variants []Variant
	own      []int           // by clip, the number of its first variant
	owners   []uint32        // the variant of each unit of positions
	occupied landmark.Hashes // the hashes that have postings
	buckets  []byte          // hashes+1 numbers of postings
	postings []byte
	waves    []byte
	plain    func() (*PlainClips, error)

	file      *os.File // the file of the mapped image; nil if the image is in memory
	forgotten runtime.Cleanup
}

// Variant is a clip played at one speed.
type Variant struct {
	Clip     int // its number, in the order of Add
	Speed    int // offset from normal speed, in thousandths
	Base     int // the position of its first frame
	Frames   int // at least 1
	Postings int // the number of its postings
}

// Clips returns the number of clips.
func (x *Index) Clips() int { return len(x.clips) }

// ID returns the id of clip i.
func (x *Index) ID(i int) string { return x.clips[i].id }

// Samples returns the length of clip i in samples.
func (x *Index) Samples(i int) int { return x.clips[i].samples }

// Plain reports whether a search must use plain correlation for clip i, because the clip has
// too few landmarks or consists of a few tones.
func (x *Index) Plain(i int) bool { return x.clips[i].plain }

// Wave returns the samples of clip i, in a new slice.
func (x *Index) Wave(i int) []float32 {
	c := x.clips[i]
	raw, wave := x.waves[2*c.offset:2*(c.offset+c.samples)], make([]float32, c.samples)
	for k := range wave {
		wave[k] = float32(int16(le.Uint16(raw[2*k:]))) / 32767
	}
	runtime.KeepAlive(x)
	return wave
}

// Variants returns all variants in the order of Base, with those of a clip next to each
// other. The caller must not change the slice.
func (x *Index) Variants() []Variant { return x.variants }

// Own returns the number of the variant of a clip at normal speed.
func (x *Index) Own(clip int) int { return x.own[clip] }

// Owner returns the number of the variant that owns the position of a posting.
func (x *Index) Owner(position uint32) int { return int(x.owners[position/unit]) }

// Units returns the number of units of positions. A unit belongs to one variant. Unit returns
// the unit of a position.
func (x *Index) Units() int { return len(x.owners) }

// Unit returns the number of the unit that contains a position.
func Unit(position int) int { return position / unit }

// Hashes returns the set of hashes that have postings. The caller must not change it.
func (x *Index) Hashes() landmark.Hashes { return x.occupied }

// Postings returns the postings of a hash, in the order of variants.
func (x *Index) Postings(hash uint32) Postings {
	b := x.buckets[4*hash:][:8]
	from, to := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
	return Postings(x.postings[4*from : 4*to])
}

// lookups is how many landmarks Lookup looks up before it uses the first.
const lookups = 32

// Lookup calls use with each landmark and the postings of its hash, in the order of landmarks. Postings lie
// anywhere in the image, so the processor would wait for memory at each landmark. Therefore the first postings of
// a group of landmarks are read together, before any is used.
func (x *Index) Lookup(landmarks []landmark.Landmark, use func(landmark.Landmark, Postings)) {
	var lists [lookups]Postings
	for len(landmarks) > 0 {
		group := landmarks[:min(len(landmarks), lookups)]
		for i, l := range group {
			lists[i] = x.Postings(l.Hash)
		}
		readFirsts(lists[:len(group)])
		for i, l := range group {
			use(l, lists[i])
		}
		landmarks = landmarks[len(group):]
	}
}

// readFirsts reads the first posting of each list. It returns their sum, so that the reads are not optimised away.
//
//go:noinline
func readFirsts(lists []Postings) (sum uint32) {
	for _, p := range lists {
		if len(p) > 0 {
			sum += p.At(0)
		}
	}
	return sum
}

// Postings are the positions of one hash. They are valid while the Index is open and
// reachable, because they point into its image.
type Postings []byte

// Len returns the number of postings.
func (p Postings) Len() int { return len(p) / 4 }

// At returns the position of posting i.
func (p Postings) At(i int) uint32 { return le.Uint32(p[4*i:]) }

// From returns the postings from i on.
func (p Postings) From(i int) Postings { return p[4*i:] }
