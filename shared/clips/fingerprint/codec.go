package fingerprint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"os"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/fault"
)

// Version is the version of the format and of the landmarks in it. An entry of a recording that
// breaks off has version brokenVersion: the reason and its length, two bytes, are at the end.
const (
	Version       = 1
	brokenVersion = 2
	maxReason     = 4096 // bytes
)

const (
	magic     = "lh marks"
	headBytes = 24
	// groupBytes is the maximum size of a group.
	groupBytes = binary.MaxVarintLen64 + 2 + 2*math.MaxUint8
	// pieceBytes is the size of the part of an entry in memory at a time.
	pieceBytes = 1 << 16
	// restBits is the number of low bits of a hash, which follow the bin of its first peak.
	restBits = landmark.HashBits - 8
	// maxSamples bounds the number of samples in the head of an entry: four weeks.
	maxSamples = 28 * 24 * 3600 * 8000
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// encoder writes landmarks. Consecutive landmarks with the same first peak form one group.
type encoder struct {
	to    *os.File
	out   *bufio.Writer // keeps the first error for finish
	sum   hash.Hash32
	last  int // frame of the group before
	group []landmark.Landmark
	code  []byte
}

// newEncoder begins an entry in an empty file.
func newEncoder(to *os.File) *encoder {
	e := &encoder{to: to, out: bufio.NewWriterSize(to, pieceBytes), sum: crc32.New(castagnoli)}
	_, _ = e.out.Write(make([]byte, headBytes)) // placeholder; finish writes the head
	return e
}

// add adds a landmark; they must come in the order of time. finish returns errors.
func (e *encoder) add(l landmark.Landmark) {
	if len(e.group) > 0 && (l.Frame != e.group[0].Frame || l.Hash>>restBits != e.group[0].Hash>>restBits || len(e.group) == math.MaxUint8) {
		e.flush()
	}
	e.group = append(e.group, l)
}

// flush writes the group, unless it is empty: the frames since the group before, the number of
// landmarks, the bin of their first peak, and the low restBits of the hash of each landmark.
// Errors wait for finish.
func (e *encoder) flush() {
	if len(e.group) == 0 {
		return
	}
	first := e.group[0]
	e.code = binary.AppendUvarint(e.code[:0], uint64(first.Frame-e.last))
	e.code = append(e.code, byte(len(e.group)), byte(first.Hash>>restBits))
	for _, l := range e.group {
		e.code = le.AppendUint16(e.code, uint16(l.Hash&(1<<restBits-1)))
	}
	_, _ = e.out.Write(e.code)
	_, _ = e.sum.Write(e.code)
	e.last, e.group = first.Frame, e.group[:0]
}

// finish writes the last group, the reason why the recording breaks off, unless it is "", and the
// head, for an episode of that many samples. It returns the number of bytes before the reason. The
// head comes last, so that a file without it is not an entry.
func (e *encoder) finish(samples int, broken string) (size int64, err error) {
	e.flush()
	if err := e.out.Flush(); err != nil {
		return 0, err
	}
	if size, err = e.to.Seek(0, io.SeekCurrent); err != nil {
		return 0, err
	}
	version := uint32(Version)
	if broken != "" {
		version = brokenVersion
		end := le.AppendUint16([]byte(broken), uint16(len(broken)))
		_, _ = e.sum.Write(end)
		if _, err := e.to.Write(end); err != nil {
			return 0, err
		}
	}
	_, err = e.to.WriteAt(head(version, samples, e.sum.Sum32()), 0)
	return size, err
}

// head returns the head of an entry; sum is the check sum of the bytes after the head.
func head(version uint32, samples int, sum uint32) []byte {
	h := make([]byte, headBytes)
	copy(h, magic)
	le.PutUint32(h[8:], version)
	le.PutUint32(h[12:], sum)
	le.PutUint64(h[16:], uint64(samples))
	return h
}

// Landmarks reads the landmarks of an episode from an encoded entry, whose check sum was right
// when Decode read it. At most 64 KB of the entry are in memory for each iteration.
type Landmarks struct {
	Samples int    // length of the episode
	Broken  string // why the recording breaks off or is damaged; "" if it is whole
	code    io.ReaderAt
	size    int64
}

// Decode reads a whole entry and checks it. It fails with fault.ErrCorrupt if another version
// wrote the entry or if the entry was cut or changed; it wraps any error of the reader.
// It keeps the reader, because Landmarks.Of reads the entry again.
func Decode(entry io.ReaderAt, size int64) (Landmarks, error) {
	var h [headBytes]byte
	n, err := entry.ReadAt(h[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Landmarks{}, fmt.Errorf("fingerprint: %w", err)
	}
	if n < headBytes || string(h[:8]) != magic {
		return Landmarks{}, fmt.Errorf("fingerprint: not an entry: %w", fault.ErrCorrupt)
	}
	v := le.Uint32(h[8:])
	if v != Version && v != brokenVersion {
		return Landmarks{}, fmt.Errorf("fingerprint: an entry of version %d; this program reads version %d: %w", v, Version, fault.ErrCorrupt)
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(sum, io.NewSectionReader(entry, headBytes, size-headBytes), make([]byte, pieceBytes)); err != nil {
		return Landmarks{}, fmt.Errorf("fingerprint: %w", err)
	}
	samples := le.Uint64(h[16:])
	if sum.Sum32() != le.Uint32(h[12:]) || samples > maxSamples {
		return Landmarks{}, fmt.Errorf("fingerprint: the entry was cut or changed: %w", fault.ErrCorrupt)
	}
	l := Landmarks{Samples: int(samples), code: entry, size: size}
	if v == brokenVersion {
		if err := l.readReason(); err != nil {
			return Landmarks{}, fmt.Errorf("fingerprint: %w", err)
		}
	}
	return l, nil
}

// readReason reads why the recording breaks off from the end of an entry, and leaves the landmarks
// before it: l.size then excludes the reason.
func (l *Landmarks) readReason() error {
	var n [2]byte
	l.size -= int64(len(n))
	if _, err := l.code.ReadAt(n[:], l.size); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	reason := make([]byte, le.Uint16(n[:]))
	l.size -= int64(len(reason))
	if l.size < headBytes || len(reason) == 0 || len(reason) > maxReason {
		return fmt.Errorf("a reason of %d bytes: %w", len(reason), fault.ErrCorrupt)
	}
	_, err := l.code.ReadAt(reason, l.size)
	l.Broken = string(reason)
	return err
}

// Of iterates over the landmarks whose hash is in some, in the order of time. An error ends the
// iteration: Of yields it once, as the last element. It fails with fault.ErrCorrupt for a malformed
// entry.
func (l Landmarks) Of(some landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
	return func(yield func(landmark.Landmark, error) bool) {
		p := pieces{from: l.code, at: headBytes, end: l.size}
		frame := 0
		for {
			b, err := p.group()
			if err != nil {
				yield(landmark.Landmark{}, fmt.Errorf("fingerprint: %w", err))
				return
			}
			if len(b) == 0 {
				return
			}
			d, n := binary.Uvarint(b)
			if n <= 0 || d > maxSamples || n+2 > len(b) || n+2+2*int(b[n]) > len(b) || frame+int(d) > l.Samples/spectrum.Hop {
				yield(landmark.Landmark{}, fmt.Errorf("fingerprint: the entry is damaged: %w", fault.ErrCorrupt))
				return
			}
			frame += int(d)
			first, rests := uint32(b[n+1])<<restBits, b[n+2:][:2*int(b[n])]
			for i := 0; i < len(rests); i += 2 {
				hash := first | uint32(le.Uint16(rests[i:]))&(1<<restBits-1)
				if some.Has(hash) && !yield(landmark.Landmark{Hash: hash, Frame: frame}, nil) {
					return
				}
			}
			p.done(n + 2 + len(rests))
		}
	}
}

// pieces reads an entry in pieces of at most pieceBytes.
type pieces struct {
	from    io.ReaderAt
	at, end int64 // bounds of the part that is not yet in buf
	buf     []byte
	rest    []byte // the unread part of buf
}

// group returns the unread bytes, with at least one whole group unless the entry ends before. It
// returns an empty slice at the end of the entry. The bytes are valid until the next call.
func (p *pieces) group() ([]byte, error) {
	if len(p.rest) >= groupBytes || p.at == p.end {
		return p.rest, nil
	}
	if p.buf == nil {
		p.buf = make([]byte, pieceBytes)
	}
	n := copy(p.buf, p.rest)
	more := min(int64(pieceBytes-n), p.end-p.at)
	read, err := p.from.ReadAt(p.buf[n:n+int(more)], p.at)
	if int64(read) < more {
		return nil, err
	}
	p.at += more
	p.rest = p.buf[:n+int(more)]
	return p.rest, nil
}

// done advances past the n bytes that the caller has read.
func (p *pieces) done(n int) { p.rest = p.rest[n:] }
