package fingerprint

import (
	"errors"
	"hash/crc32"
	"os"

	"leasehold/shared/clips/landmark"
)

// Write writes an entry to path, with the landmarks that fill adds in the order of time.
func Write(path string, samples int, fill func(add func(landmark.Landmark))) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	e := newEncoder(f)
	fill(e.add)
	_, err = e.finish(samples, "")
	return errors.Join(err, f.Close())
}

// Head returns the head of an entry of that many samples; rest is the bytes after the head, with a
// reason at their end if broken is true.
func Head(broken bool, samples int, rest []byte) []byte {
	version := uint32(Version)
	if broken {
		version = brokenVersion
	}
	return head(version, samples, crc32.Checksum(rest, castagnoli))
}

// SetSegmentBytes sets the size of the entries that make a segment.
func (s *Store) SetSegmentBytes(n int64) { s.archive.limit = n }
