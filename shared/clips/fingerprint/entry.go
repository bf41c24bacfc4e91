package fingerprint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"leasehold/shared/clips/landmark"
)

const sampleBytes = 2

// Episode is an open entry of a Store. Its memory does not depend on its length, because it
// reads its files as needed. Its methods may be called concurrently. The caller closes it; it
// stays readable until then, even if the Store evicts it.
type Episode struct {
	Landmarks
	marks *os.File
	sound *os.File // nil if it was evicted
}

// HasSound reports whether the sound is stored, so that ReadAt can read it.
func (e *Episode) HasSound() bool { return e.sound != nil }

// ReadAt fills dst with the samples from offset on, and with silence beyond the ends of the
// episode. It fails with os.ErrNotExist if the sound is not stored, or with the error of reading
// it.
func (e *Episode) ReadAt(dst []float32, offset int) error {
	clear(dst)
	if e.sound == nil {
		return fmt.Errorf("fingerprint: the sound is not kept: %w", os.ErrNotExist)
	}
	from, to := max(0, offset), min(e.Samples, offset+len(dst))
	if from >= to {
		return nil
	}
	raw := make([]byte, (to-from)*sampleBytes)
	if _, err := e.sound.ReadAt(raw, int64(from)*sampleBytes); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("fingerprint: %w", err)
	}
	for i := range dst[from-offset : to-offset] {
		dst[from-offset+i] = float32(int16(le.Uint16(raw[sampleBytes*i:]))) / math.MaxInt16
	}
	return nil
}

// Close closes the files, also those after an error, and returns all errors.
func (e *Episode) Close() error {
	err := e.marks.Close()
	if e.sound != nil {
		err = errors.Join(err, e.sound.Close())
	}
	return err
}

// recorder writes the sound of an episode, and the landmarks of the samples as written.
type recorder struct {
	out     *bufio.Writer // of the sound
	sound   *summedFile   // to which out writes
	peaks   *landmark.Peaks
	pairs   landmark.Pairs
	code    *encoder
	samples int
	rounded []float32
}

// newRecorder returns a recorder that writes to two empty files.
func newRecorder(marks, sound *os.File) *recorder {
	to := &summedFile{File: sound}
	return &recorder{out: bufio.NewWriterSize(to, 1<<16), sound: to, peaks: landmark.NewPeaks(), code: newEncoder(marks)}
}

// push takes the next samples. It rounds them to 16 bits, beyond full scale clipped, and takes the
// landmarks of the rounded ones, because a later search reads those.
func (r *recorder) push(samples []float32) error {
	r.rounded = r.rounded[:0]
	var raw [sampleBytes]byte
	for _, v := range samples {
		n := int16(math.RoundToEven(float64(max(-1, min(v, 1))) * math.MaxInt16))
		le.PutUint16(raw[:], uint16(n))
		if _, err := r.out.Write(raw[:]); err != nil {
			return err
		}
		r.rounded = append(r.rounded, float32(n)/math.MaxInt16)
	}
	r.samples += len(samples)
	r.peaks.Push(r.rounded, r.peak)
	return nil
}

func (r *recorder) peak(p landmark.Peak) { r.pairs.Push(p, r.pair) }

func (r *recorder) pair(p landmark.Pair) { r.code.add(p.Landmark()) }

// close writes the last landmarks and the head, and the rest of the sound with its check sum. broken is why the recording
// breaks off; "" if it is whole. The files stay open.
func (r *recorder) close(broken string) (Landmarks, error) {
	r.peaks.Flush(r.peak)
	r.pairs.Flush(r.pair)
	size, err := r.code.finish(r.samples, broken)
	err = errors.Join(err, r.out.Flush())
	if err == nil {
		_, err = r.sound.File.Write(le.AppendUint32(nil, r.sound.sum))
	}
	return Landmarks{Samples: r.samples, Broken: broken, code: r.code.to, size: size}, err
}
