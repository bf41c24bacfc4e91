package clips

import (
	"context"
	"errors"
	"fmt"
	"io"

	gobuf "github.com/go-audio/audio"

	"leasehold/shared/clips/decode"
	"leasehold/shared/clips/resample"
)

// blockFrames is the number of frames that are decoded at a time.
const blockFrames = 1 << 14

// Stream decodes a recording while it is read: mono, at RateHz. It is for one goroutine.
type Stream struct {
	source *decode.Stream
	rate   *resample.Resampler
	in     *gobuf.Float32Buffer
	block  []float32
	rest   []float32 // the part of block that was not read yet
	ended  bool
}

// Open begins to decode the file at path. The caller closes the Stream. Decoding also stops when
// ctx ends.
func Open(ctx context.Context, path string) (*Stream, error) { return openAt(ctx, path, RateHz) }

// OpenReader begins to decode a stream that can be read only once, such as standard input. The
// stream may last up to a day. Close of the Stream closes r.
func OpenReader(ctx context.Context, r io.ReadCloser) (*Stream, error) {
	s, err := decode.Decoder{}.OpenReader(ctx, r)
	if err != nil {
		return nil, err
	}
	return newStream(s, RateHz)
}

// openAt is Open for another rate.
func openAt(ctx context.Context, path string, rateHz int) (*Stream, error) {
	s, err := decode.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return newStream(s, rateHz)
}

// newStream resamples what s decodes. If the resampler does not accept the rate of s, it closes s
// and returns the error.
func newStream(s *decode.Stream, rateHz int) (*Stream, error) {
	r, err := resample.New(s.RateHz(), rateHz)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Stream{source: s, rate: r, in: &gobuf.Float32Buffer{Data: make([]float32, blockFrames)}}, nil
}

// next returns the next block, or io.EOF after the last one. The next call reuses the block. The
// last block has what the resampler kept back.
func (s *Stream) next() ([]float32, error) {
	if s.ended {
		return nil, io.EOF
	}
	n, err := s.source.Read(s.in)
	switch {
	case errors.Is(err, io.EOF):
		s.ended = true
		s.block = s.rate.Flush(s.block[:0])
	case err != nil:
		return nil, err
	default:
		s.block = s.rate.Push(s.block[:0], s.in.Data[:n])
	}
	return s.block, nil
}

// Read fills dst with the next samples, as match.Reader wants it. It returns io.EOF after the
// last one, or the error of decoding.
func (s *Stream) Read(dst []float32) (n int, err error) {
	for len(s.rest) == 0 {
		if s.rest, err = s.next(); err != nil {
			return 0, err
		}
	}
	n = copy(dst, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Note returns what of the recording is not decoded, in words for people: other tracks than the first one. It is
// empty if all is.
func (s *Stream) Note() string {
	if n := s.source.Tracks(); n > 1 {
		return fmt.Sprintf("it has %d audio tracks; only the first is searched", n)
	}
	return ""
}

// Share returns which share of the file was read so far; 0 if unknown.
func (s *Stream) Share() float64 { return s.source.Share() }

// Close stops the decoding.
func (s *Stream) Close() error { return s.source.Close() }
