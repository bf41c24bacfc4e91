package fingerprint

import (
	"errors"
	"hash/crc32"
	"os"

	"leasehold/shared/audio/landmark"
)

// Write puts an entry of any landmarks, in the order of time, at path.
func Write(path string, samples int, fill func(add func(landmark.Landmark))) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	e := newEncoder(f)
	fill(e.add)
	return errors.Join(e.finish(samples), f.Close())
}

// Head is that of an entry of so many samples, for what follows it.
func Head(samples int, rest []byte) []byte { return head(samples, crc32.Checksum(rest, castagnoli)) }
