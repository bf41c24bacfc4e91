package fingerprint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"

	"leasehold/shared/audio/landmark"
	"leasehold/shared/fault"
)

// Version of the format and of the peaks in it.
const Version = 1

const (
	magic     = "lh peaks"
	headBytes = 32
	// maxSamples bounds what an entry may say of its length: four weeks.
	maxSamples = 28 * 24 * 3600 * 8000
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// encoder gathers peaks.
type encoder struct {
	body  []byte
	last  int // frame
	count int
}

func (e *encoder) add(p landmark.Peak) {
	e.body = binary.AppendUvarint(e.body, uint64(p.Frame-e.last))
	e.body = append(e.body, p.Bin)
	e.last = p.Frame
	e.count++
}

// entry returns the whole, for an episode of so many samples.
func (e *encoder) entry(samples int) []byte {
	head := make([]byte, headBytes, headBytes+len(e.body))
	copy(head, magic)
	le.PutUint32(head[8:], Version)
	le.PutUint32(head[12:], crc32.Checksum(e.body, castagnoli))
	le.PutUint64(head[16:], uint64(samples))
	le.PutUint64(head[24:], uint64(e.count))
	return append(head, e.body...)
}

// Peaks are those of an episode, still in their code, which is known to be right.
type Peaks struct {
	Samples int // length of the episode
	body    []byte
}

// Decode checks an entry. Any that another version wrote, or that was cut or changed, is
// fault.ErrCorrupt. It keeps the slice.
func Decode(entry []byte) (Peaks, error) {
	if len(entry) < headBytes || string(entry[:8]) != magic {
		return Peaks{}, fmt.Errorf("fingerprint: not an entry: %w", fault.ErrCorrupt)
	}
	if v := le.Uint32(entry[8:]); v != Version {
		return Peaks{}, fmt.Errorf("fingerprint: an entry of version %d, want %d: %w", v, Version, fault.ErrCorrupt)
	}
	samples, count, body := le.Uint64(entry[16:]), le.Uint64(entry[24:]), entry[headBytes:]
	if crc32.Checksum(body, castagnoli) != le.Uint32(entry[12:]) || samples > maxSamples {
		return Peaks{}, fmt.Errorf("fingerprint: the entry was cut or changed: %w", fault.ErrCorrupt)
	}
	p, n := Peaks{int(samples), body}, uint64(0)
	for peak := range p.All() {
		if peak.Frame*64 > p.Samples {
			return Peaks{}, fmt.Errorf("fingerprint: a peak after the end: %w", fault.ErrCorrupt)
		}
		n++
	}
	if n != count {
		return Peaks{}, fmt.Errorf("fingerprint: %d peaks instead of %d: %w", n, count, fault.ErrCorrupt)
	}
	return p, nil
}

// All are the peaks, in the order of frames.
func (p Peaks) All() iter.Seq[landmark.Peak] {
	return func(yield func(landmark.Peak) bool) {
		frame := 0
		for b := p.body; len(b) > 0; {
			d, n := uint64(b[0]), 1
			if d >= 0x80 {
				d, n = binary.Uvarint(b)
			}
			if n <= 0 || n >= len(b) || d > maxSamples {
				return
			}
			frame += int(d)
			if !yield(landmark.Peak{Frame: frame, Bin: b[n]}) {
				return
			}
			b = b[n+1:]
		}
	}
}
