package clips

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"leasehold/shared/process/platform"
	"math"
	"os"
	"time"
)

const sampleBytes = 4

// Recording is an episode at RateHz in an unnamed file. The file takes 115 MB of disk
// for each hour of sound. The system removes it when the Recording is closed or the
// process ends. Methods may be called concurrently.
type Recording struct {
	f   *os.File
	len int
}

// Spool decodes the file at path into a file in dir. If dir is "", it uses the system's temporary
// folder. The caller closes the Recording. It fails with a *decode.Error if the file itself is the
// cause.
func Spool(ctx context.Context, path, dir string) (r *Recording, err error) {
	f, err := platform.CreateUnnamed(dir, "spool-*")
	if err != nil {
		return nil, fmt.Errorf("clips.Spool: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	r = &Recording{f: f}
	var raw []byte
	err = convert(ctx, path, RateHz, nil, func(block []float32) error {
		raw = raw[:0]
		for _, v := range block {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		r.len += len(block)
		_, err := f.Write(raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Len returns the number of samples.
func (r *Recording) Len() int { return r.len }

// Duration returns the length of the recording.
func (r *Recording) Duration() time.Duration {
	return time.Duration(r.len) * (time.Second / RateHz)
}

// ReadAt fills dst with the samples from offset on. It fills the part of dst that lies before the
// start or after the end of the recording with zeros.
func (r *Recording) ReadAt(dst []float32, offset int) error {
	clear(dst)
	from, to := max(0, offset), min(r.len, offset+len(dst))
	if from >= to {
		return nil
	}
	raw := make([]byte, (to-from)*sampleBytes)
	if _, err := r.f.ReadAt(raw, int64(from)*sampleBytes); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("audio: read spool: %w", err)
	}
	for i := range dst[from-offset : to-offset] {
		dst[from-offset+i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[i*sampleBytes:]))
	}
	return nil
}

// Close frees the disk space.
func (r *Recording) Close() error { return r.f.Close() }
