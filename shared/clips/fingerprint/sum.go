package fingerprint

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"leasehold/shared/fault"
)

// sumBytes is the size of the check sum behind a sound: CRC-32C of all bytes before, the lowest byte first. Sounds of
// earlier versions have none.
const sumBytes = 4

// summedFile sums what is written to it.
type summedFile struct {
	*os.File
	sum uint32
}

func (f *summedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.sum = crc32.Update(f.sum, castagnoli, p[:n])
	return n, err
}

// checkSound reads a sound of so many samples, and returns fault.ErrCorrupt if its check sum is another one. A sound
// without a check sum passes.
func checkSound(sound *os.File, samples int) error {
	size := int64(samples) * sampleBytes
	want := make([]byte, sumBytes)
	if _, err := sound.ReadAt(want, size); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(sound, 0, size)); err != nil {
		return err
	}
	if got := le.AppendUint32(nil, sum.Sum32()); !bytes.Equal(got, want) {
		return fmt.Errorf("%s: its check sum is %x and not %x: %w", sound.Name(), got, want, fault.ErrCorrupt)
	}
	return nil
}
