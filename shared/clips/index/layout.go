package index

import (
	"fmt"
	"sync"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/fault"
)

// Version is the version of the format and of the landmarks in it.
const Version = 7

// VersionError reports a file of another version. It wraps fault.ErrInvalid.
type VersionError struct{ Got, Want uint32 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the clip index is of version %d; this program reads version %d: build it again", e.Got, e.Want)
}

func (e *VersionError) Unwrap() error { return fault.ErrInvalid }

const (
	magic        = "leasehold clips\n"
	headerBytes  = 64
	clipBytes    = 20
	variantBytes = 20
	hashes       = 1 << landmark.HashBits
	// maxFrames bounds the frames of a variant, including the unused rest of its last unit.
	// The slowest variant is longer than its clip.
	maxFrames = MaxSamples/spectrum.Hop*11/10 + unit
)

// layout holds the counts that determine the offsets of an image. An image consists of the
// header, the table of clips, their ids, the table of variants, the buckets (the number of the
// first posting of each hash, and the end of the last), the postings and the samples.
type layout struct {
	clips, names, variants, positions, postings, samples int
}

func (l layout) names0() int   { return headerBytes + l.clips*clipBytes }
func (l layout) variant0() int { return l.names0() + l.names }
func (l layout) buckets() int  { return l.variant0() + l.variants*variantBytes }
func (l layout) posting0() int { return l.buckets() + 4*(hashes+1) }
func (l layout) wave() int     { return l.posting0() + 4*l.postings }
func (l layout) size() int     { return l.wave() + 2*l.samples }

// putHeader writes the header: magic, version, counts, and the check sum of the bytes after
// the header.
func (l layout) putHeader(image []byte, sum uint32) {
	copy(image, magic)
	le.PutUint32(image[16:], Version)
	le.PutUint32(image[20:], sum)
	le.PutUint32(image[24:], uint32(l.clips))
	le.PutUint32(image[28:], uint32(l.names))
	le.PutUint32(image[32:], uint32(l.variants))
	le.PutUint32(image[36:], uint32(l.positions))
	le.PutUint64(image[40:], uint64(l.postings))
	le.PutUint64(image[48:], uint64(l.samples))
}

// readHeader is the inverse of putHeader. It checks the format, the version and the size of the
// file, because these need no byte after the header. Errors: fault.ErrInvalid for another file,
// *VersionError, and fault.ErrCorrupt for counts that do not fit the size.
func readHeader(header []byte, size int64) (l layout, sum uint32, err error) {
	if len(header) < headerBytes || string(header[:16]) != magic {
		return l, 0, fmt.Errorf("not a clip index: %w", fault.ErrInvalid)
	}
	if v := le.Uint32(header[16:]); v != Version {
		return l, 0, &VersionError{v, Version}
	}
	const most = 1 << 40 // far above any real count, far below an overflow
	postings, samples := le.Uint64(header[40:]), le.Uint64(header[48:])
	if postings > most || samples > most {
		return l, 0, fmt.Errorf("the clip index's header is damaged: %w", fault.ErrCorrupt)
	}
	l = layout{
		clips: int(le.Uint32(header[24:])), names: int(le.Uint32(header[28:])), variants: int(le.Uint32(header[32:])),
		positions: int(le.Uint32(header[36:])), postings: int(postings), samples: int(samples),
	}
	if int64(l.size()) != size {
		return l, 0, fmt.Errorf("the clip index has %d bytes instead of %d: %w", size, l.size(), fault.ErrCorrupt)
	}
	return l, le.Uint32(header[20:]), nil
}

// open makes an Index of an image. It validates every table and posting, so that no method of the
// Index reads out of bounds.
func open(image []byte) (*Index, error) {
	l, _, err := readHeader(image, int64(len(image)))
	if err != nil {
		return nil, err
	}
	if l.positions > l.variants*maxFrames {
		return nil, fmt.Errorf("the clip index has %d variants of %d clips, %d frames: %w", l.variants, l.clips, l.positions, fault.ErrCorrupt)
	}
	x := &Index{
		image:   image,
		buckets: image[l.buckets():l.posting0()], postings: image[l.posting0():l.wave()],
		waves: image[l.wave():], owners: make([]uint32, (l.positions+unit-1)/unit),
	}
	x.plain = sync.OnceValues(x.preparePlain)
	if err := x.readClips(l); err != nil {
		return nil, err
	}
	if err := x.readVariants(l); err != nil {
		return nil, err
	}
	for i := range Postings(x.postings).Len() {
		if p := Postings(x.postings).At(i); int(p) >= l.positions || !x.owns(p) {
			return nil, fmt.Errorf("posting %d of the clip index: %w", i, fault.ErrCorrupt)
		}
	}
	return x, x.occupy(l.postings)
}

// owns reports whether a position below the number of all lies within its variant, not in the unused rest of the
// variant's last unit.
func (x *Index) owns(position uint32) bool {
	v := x.variants[x.Owner(position)]
	return int(position) < v.Base+v.Frames
}

// readClips reads the table of clips, and computes the number of the first variant of each.
func (x *Index) readClips(l layout) error {
	variants := 0
	names := x.image[l.names0():l.variant0()]
	for i := range l.clips {
		r := x.image[headerBytes+i*clipBytes:]
		n := int(le.Uint32(r[16:]))
		c := clip{offset: int(le.Uint64(r)), samples: int(le.Uint32(r[8:])), plain: r[12] != 0}
		if n > len(names) || c.offset < 0 || c.offset > l.samples-c.samples || c.samples > MaxSamples {
			return fmt.Errorf("clip %d of the clip index: %w", i, fault.ErrCorrupt)
		}
		c.id, names = string(names[:n]), names[n:]
		x.clips, x.own = append(x.clips, c), append(x.own, variants)
		variants += len(speedsOf(c.samples))
	}
	if variants != l.variants {
		return fmt.Errorf("the clip index has %d variants instead of %d: %w", l.variants, variants, fault.ErrCorrupt)
	}
	return nil
}

// readVariants reads the table of variants, which lie in the order of their clips and speeds and
// fill all frames without a gap, and fills owners with the variant of each unit. It fails with
// fault.ErrCorrupt for anything else, so that Owner is right for every position.
func (x *Index) readVariants(l layout) error {
	base, clip := 0, 0
	for i := range l.variants {
		for clip+1 < len(x.own) && x.own[clip+1] <= i {
			clip++
		}
		r := x.image[l.variant0()+i*variantBytes:]
		v := Variant{
			Clip: int(le.Uint32(r)), Speed: int(int32(le.Uint32(r[4:]))), Base: int(le.Uint32(r[8:])),
			Frames: int(le.Uint32(r[12:])), Postings: int(le.Uint32(r[16:])),
		}
		if v.Clip != clip || v.Speed != speedsOf(x.Samples(clip))[i-x.own[clip]] || v.Base != base || v.Frames < 1 || v.Frames > min(maxFrames, l.positions-base) {
			return fmt.Errorf("variant %d of the clip index: %w", i, fault.ErrCorrupt)
		}
		for ; base < v.Base+v.Frames; base += unit {
			x.owners[base/unit] = uint32(i)
		}
		x.variants = append(x.variants, v)
	}
	if base != l.positions {
		return fmt.Errorf("the clip index has %d frames instead of %d: %w", l.positions, base, fault.ErrCorrupt)
	}
	return nil
}

// occupy collects the hashes that have postings. It fails with fault.ErrCorrupt unless the
// buckets ascend and stay within the postings, so that Postings cannot read out of bounds.
func (x *Index) occupy(postings int) error {
	x.occupied = landmark.NewHashes()
	last := le.Uint32(x.buckets)
	for h := range hashes {
		next := le.Uint32(x.buckets[4*(h+1):])
		if next < last || int(next) > postings {
			return fmt.Errorf("hash %d of the clip index: %w", h, fault.ErrCorrupt)
		}
		if next > last {
			x.occupied.Add(uint32(h))
		}
		last = next
	}
	return nil
}
