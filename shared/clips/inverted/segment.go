package inverted

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Version is the version of the format and of the landmarks in it.
const Version = 1

const (
	magic        = "lh hours"
	headBytes    = 24
	sumFrom      = 16 // the check sum is of the rest of the file
	episodeBytes = NameBytes + 16
	hashes       = 1 << landmark.HashBits
	// NameBytes is the size of an episode's name: a SHA-256.
	NameBytes = 32
	// maxFrames bounds the frames of a segment, because Build holds them in 32 bits: more than a year.
	maxFrames = 1 << 32
	// broad: a set of hashes that has more than 1/broad of a segment's landmarks is refused.
	broad = 8
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Episode is one episode of a segment.
type Episode struct {
	Name    [NameBytes]byte
	Samples int
	Broken  bool // the recording breaks off or is damaged
	base    int  // its first frame
}

func (e Episode) frames() int { return e.Samples/spectrum.Hop + 1 }

// Segment is an open segment. Its methods may be called concurrently.
type Segment struct {
	Episodes  []Episode
	directory []byte // of the mapped file, as is lists
	lists     []byte
}

// Open checks the whole file at path and maps it. It fails with fault.ErrCorrupt if the file is not a
// segment, was written by another version, or was cut or changed. The file is unmapped once the
// Segment is unreachable, so it may be removed meanwhile.
func Open(path string) (*Segment, error) {
	f, err := platform.OpenShared(path)
	if err != nil {
		return nil, fmt.Errorf("inverted.Open: %w", err)
	}
	s, err := open(f)
	if err = errors.Join(err, f.Close()); err != nil { // a mapping outlives its file
		return nil, fmt.Errorf("inverted.Open %s: %w", path, err)
	}
	return s, nil
}

// open checks a file and maps it. The file may be closed afterwards. The garbage collector unmaps
// it, and ignores the error.
func open(f *os.File) (*Segment, error) {
	size, episodes, err := check(f)
	if err != nil {
		return nil, err
	}
	image, err := platform.MapFile(f, int(size))
	if err != nil {
		return nil, err
	}
	s := &Segment{}
	if err := s.split(image[headBytes:], episodes); err != nil {
		return nil, errors.Join(err, platform.UnmapFile(image))
	}
	runtime.AddCleanup(s, func(image []byte) { _ = platform.UnmapFile(image) }, image)
	return s, nil
}

// check verifies the head and the check sum of a file, and returns its size and its number of
// episodes. It fails with fault.ErrCorrupt for another version or a wrong sum, because a segment
// can be built again.
func check(f *os.File) (size int64, episodes uint64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	var h [headBytes]byte
	if _, err := f.ReadAt(h[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	if string(h[:8]) != magic {
		return 0, 0, fmt.Errorf("not a segment: %w", fault.ErrCorrupt)
	}
	if v := le.Uint32(h[8:]); v != Version {
		return 0, 0, fmt.Errorf("a segment of version %d; this program reads version %d: %w", v, Version, fault.ErrCorrupt)
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(sum, io.NewSectionReader(f, sumFrom, info.Size()-sumFrom), make([]byte, 1<<16)); err != nil {
		return 0, 0, err
	}
	if sum.Sum32() != le.Uint32(h[12:]) {
		return 0, 0, fmt.Errorf("the segment was cut or changed: %w", fault.ErrCorrupt)
	}
	return info.Size(), le.Uint64(h[sumFrom:]), nil
}

// split finds the parts of a file after its head. The check sum was right, so a part that does
// not fit was written so: fault.ErrCorrupt.
func (s *Segment) split(rest []byte, episodes uint64) error {
	if episodes < 1 || episodes > uint64(len(rest)/episodeBytes) || len(rest)-int(episodes)*episodeBytes < 4*(hashes+1) {
		return fmt.Errorf("%d episodes in %d bytes: %w", episodes, len(rest), fault.ErrCorrupt)
	}
	base := 0
	for range episodes {
		e := Episode{Samples: int(le.Uint64(rest[NameBytes:])), Broken: le.Uint64(rest[NameBytes+8:]) != 0, base: base}
		copy(e.Name[:], rest)
		if e.Samples < 0 || e.frames() > maxFrames-base {
			return fmt.Errorf("an episode of %d samples: %w", e.Samples, fault.ErrCorrupt)
		}
		base += e.frames()
		s.Episodes = append(s.Episodes, e)
		rest = rest[episodeBytes:]
	}
	s.directory, s.lists = rest[:4*(hashes+1)], rest[4*(hashes+1):]
	for h, last := 0, uint32(0); h <= hashes; h++ {
		next := le.Uint32(s.directory[4*h:])
		if next < last || int(next) > len(s.lists) {
			return fmt.Errorf("the list of hash %d: %w", h, fault.ErrCorrupt)
		}
		last = next
	}
	return nil
}

// list returns the encoded list of a hash. It is valid while the Segment is reachable.
func (s *Segment) list(hash uint32) []byte {
	d := s.directory[4*hash:]
	return s.lists[le.Uint32(d):le.Uint32(d[4:])]
}
