package fingerprint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"math"

	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/spectrum"
	"leasehold/shared/fault"
)

// Version of the format and of the landmarks in it.
const Version = 1

const (
	magic     = "lh marks"
	headBytes = 24
	// restBits of a hash are not the bin of its first peak.
	restBits = landmark.HashBits - 8
	// maxSamples bounds what an entry may say of its length: four weeks.
	maxSamples = 28 * 24 * 3600 * 8000
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// encoder gathers landmarks: those that have their first peak in common, which follow
// each other, are one group.
type encoder struct {
	body  []byte
	last  int // frame
	group []landmark.Landmark
}

func (e *encoder) add(l landmark.Landmark) {
	if len(e.group) > 0 && (l.Frame != e.group[0].Frame || l.Hash>>restBits != e.group[0].Hash>>restBits || len(e.group) == math.MaxUint8) {
		e.flush()
	}
	e.group = append(e.group, l)
}

// flush writes a group: the frames since the one before, how many landmarks, the bin of
// their first peak, and of each the rest of its hash.
func (e *encoder) flush() {
	if len(e.group) == 0 {
		return
	}
	first := e.group[0]
	e.body = binary.AppendUvarint(e.body, uint64(first.Frame-e.last))
	e.body = append(e.body, byte(len(e.group)), byte(first.Hash>>restBits))
	for _, l := range e.group {
		e.body = le.AppendUint16(e.body, uint16(l.Hash&(1<<restBits-1)))
	}
	e.last, e.group = first.Frame, e.group[:0]
}

// entry returns the whole, for an episode of so many samples.
func (e *encoder) entry(samples int) []byte {
	e.flush()
	head := make([]byte, headBytes, headBytes+len(e.body))
	copy(head, magic)
	le.PutUint32(head[8:], Version)
	le.PutUint32(head[12:], crc32.Checksum(e.body, castagnoli))
	le.PutUint64(head[16:], uint64(samples))
	return append(head, e.body...)
}

// Landmarks are those of an episode, still in their code, which is known to be whole.
type Landmarks struct {
	Samples int // length of the episode
	body    []byte
}

// Decode checks an entry. Any that another version wrote, or that was cut or changed, is
// fault.ErrCorrupt. It keeps the slice.
func Decode(entry []byte) (Landmarks, error) {
	if len(entry) < headBytes || string(entry[:8]) != magic {
		return Landmarks{}, fmt.Errorf("fingerprint: not an entry: %w", fault.ErrCorrupt)
	}
	if v := le.Uint32(entry[8:]); v != Version {
		return Landmarks{}, fmt.Errorf("fingerprint: an entry of version %d, want %d: %w", v, Version, fault.ErrCorrupt)
	}
	samples, body := le.Uint64(entry[16:]), entry[headBytes:]
	if crc32.Checksum(body, castagnoli) != le.Uint32(entry[12:]) || samples > maxSamples {
		return Landmarks{}, fmt.Errorf("fingerprint: the entry was cut or changed: %w", fault.ErrCorrupt)
	}
	return Landmarks{int(samples), body}, nil
}

// All are the landmarks, in the order of time. What makes no sense ends them.
func (l Landmarks) All() iter.Seq[landmark.Landmark] {
	return func(yield func(landmark.Landmark) bool) {
		frame := 0
		for b := l.body; len(b) > 0; {
			d, n := uint64(b[0]), 1
			if d >= 0x80 {
				d, n = binary.Uvarint(b)
			}
			if n <= 0 || d > maxSamples || n+2 > len(b) {
				return
			}
			frame += int(d)
			count, first := int(b[n]), uint32(b[n+1])<<restBits
			b = b[n+2:]
			if 2*count > len(b) || frame > l.Samples/spectrum.Hop {
				return
			}
			for i := range count {
				rest := uint32(le.Uint16(b[2*i:])) & (1<<restBits - 1)
				if !yield(landmark.Landmark{Hash: first | rest, Frame: frame}) {
					return
				}
			}
			b = b[2*count:]
		}
	}
}
