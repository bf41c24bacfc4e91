package fingerprint

import (
	"errors"
	"hash/crc32"
	"os"

	"leasehold/shared/audio/landmark"
)

// Write writes an entry to path, with the landmarks that fill adds in the order of time.
func Write(path string, samples int, fill func(add func(landmark.Landmark))) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	e := newEncoder(f)
	fill(e.add)
	return errors.Join(e.finish(samples), f.Close())
}

// Head returns the head of an entry of that many samples; rest is the bytes after the head.
func Head(samples int, rest []byte) []byte { return head(samples, crc32.Checksum(rest, castagnoli)) }
