package decode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-audio/audio"

	"leasehold/shared/fault"
)

// Limits of a file. Beyond these it is an *Error.
const (
	// maxChannels allows any surround format; a header that declares more channels is
	// wrong.
	maxChannels = 32
	// minRateHz and maxRateHz include telephone sound at one end and the output of
	// converters for instruments at the other.
	minRateHz = 2000
	maxRateHz = 768000
	// maxDuration is a day, because the longest broadcasts are shorter, and a longer
	// file comes from a recorder that was not stopped.
	maxDuration = 24 * time.Hour
	// maxAmplitude bounds samples of float formats; full scale is 1. It is 36 dB above full scale,
	// because mixing overshoots by less, and noise read as floats exceeds it.
	maxAmplitude = 64
)

// A source decodes one format to mono. Sample values are checked by Stream.
type source interface {
	// read fills at most dst, and returns io.EOF without samples at the end. All samples of one
	// call have the same rate.
	read(dst []float32) (int, error)
	// rateHz is the rate of the samples of the last read, or of the first ones before it.
	rateHz() int
	close() error
}

// Stream is the sound of one file. Only one goroutine may use it.
type Stream struct {
	ctx    context.Context
	src    source
	in     *input
	format string
	rate   int
	tracks int
	frames int64
	err    error // the error that ended the stream; Read repeats it
}

// Decoder opens files. If ffmpeg is in the PATH, the zero value uses it for formats that
// it decodes faster, or that this package cannot decode.
type Decoder struct {
	WithoutFFmpeg bool // treat ffmpeg as not installed

	stall time.Duration // how long a child may print nothing; 0 is defaultStall
}

// Open calls Open of the zero Decoder, and returns its error.
func Open(ctx context.Context, path string) (*Stream, error) { return Decoder{}.Open(ctx, path) }

// Open detects the format of the file at path and starts to decode it. A failure to decode is an
// *Error (see the package); a failure to read is the system's error. It fails with
// fault.ErrNotFound if the file does not exist, and with fault.ErrInvalid if it is not regular.
// When ctx ends, the stream and its child process end too.
func (d Decoder) Open(ctx context.Context, path string) (s *Stream, err error) {
	info, err := os.Stat(path) // before Open, which would wait for a pipe's writer
	if errors.Is(err, os.ErrNotExist) {
		return nil, &Error{fault.ErrNotFound, "no such file"}
	}
	if err != nil {
		return nil, fmt.Errorf("decode.Open: %w", err)
	}
	if info.IsDir() {
		return nil, invalid("a folder: expected a recording, such as one of its files")
	}
	if !info.Mode().IsRegular() {
		return nil, invalid("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("decode.Open: %w", err)
	}
	return d.start(ctx, &input{r: bufio.NewReaderSize(f, maxSync), closer: f, file: f, size: info.Size()})
}

// OpenReader starts to decode a stream, such as standard input, as Open does a file. It fails for
// files that must be read with seeking, such as some MP4. The Stream closes r.
func (d Decoder) OpenReader(ctx context.Context, r io.ReadCloser) (*Stream, error) {
	return d.start(ctx, &input{r: bufio.NewReaderSize(r, maxSync), closer: r, size: math.MaxInt64})
}

// input is a file, or a stream that can be read once.
type input struct {
	r      *bufio.Reader
	closer io.Closer
	file   *os.File // nil for a stream
	size   int64    // of the file
	read   atomic.Int64

	skipped bool // zeros before the sound, so that ffmpeg must not read the file itself
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.read.Add(int64(n))
	return n, err
}

func (in *input) Close() error { return in.closer.Close() }

// start opens the decoder of an input and checks its rate. It closes the input if it fails.
func (d Decoder) start(ctx context.Context, in *input) (*Stream, error) {
	src, format, err := d.open(ctx, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	rate := src.rateHz()
	if rate < minRateHz || rate > maxRateHz {
		_ = src.close() // the rate is the error to report
		return nil, invalid("%s of %d Hz: expected %d to %d Hz", format, rate, minRateHz, maxRateHz)
	}
	s := &Stream{ctx: ctx, src: newOneRate(src), in: in, format: format, rate: rate}
	if ogg, ok := src.(*oggSource); ok {
		s.tracks = ogg.tracks
	} else {
		s.tracks = d.tracks(ctx, in, format)
	}
	return s, nil
}

// open detects the format of the input and chooses its decoder; what this package does not decode
// goes to ffmpeg. The source that it returns owns the input; with an error, which a panic of a
// decoder becomes too, the caller closes the input.
func (d Decoder) open(ctx context.Context, in *input) (src source, format string, err error) {
	defer rescue(&err)
	kind, err := detect(in)
	if err != nil {
		return nil, "", err
	}
	switch kind {
	case "wav":
		head, _ := in.r.Peek(sniffBytes) // a stream is read once, so ffmpeg must get its header too
		ahead := wavSource{r: bufio.NewReader(bytes.NewReader(head))}
		if _, err = ahead.readHeader(); !errors.Is(err, errNeedsFFmpeg) {
			src, err = newWAV(in, in.size)
		}
	case "mp3":
		src, err = d.newMP3(ctx, in, in.size)
	case "flac":
		src, err = newFLAC(in)
	case "aiff":
		src, err = newAIFF(in)
	case "ogg":
		src, err = d.newOgg(ctx, in)
	default:
		err = errNeedsFFmpeg
	}
	if errors.Is(err, errNeedsFFmpeg) {
		src, err = d.newFFmpeg(ctx, in, kind)
	}
	return src, kind, err
}

// errNeedsFFmpeg reports that this package does not decode the format, or this variety
// of it.
var errNeedsFFmpeg = errors.New("needs ffmpeg")

// rescue turns a panic of a decoder library into an error of the file.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = corrupt("damaged: the decoder gave up (%v)", p)
	}
}

// Format returns the format that was detected: wav, mp3, flac, aiff, or ffmpeg's name of a container.
func (s *Stream) Format() string { return s.format }

// Tracks returns how many tracks with sound the file has. Only the first one is decoded. It is 1 if the number is
// unknown, as for a stream.
func (s *Stream) Tracks() int { return s.tracks }

// RateHz is the sample rate, within minRateHz and maxRateHz.
func (s *Stream) RateHz() int { return s.rate }

// Frames returns how many frames Read has returned so far.
func (s *Stream) Frames() int64 { return s.frames }

// Share returns which share of the file was read so far, for displays. It is 0 if unknown, as for a
// stream and a file that ffmpeg reads itself.
func (s *Stream) Share() float64 {
	if s.in.file == nil || s.in.size <= 0 {
		return 0
	}
	return min(1, float64(s.in.read.Load())/float64(s.in.size))
}

// Read decodes at most len(buf.Data) mono frames into buf.Data, sets buf.Format,
// and returns how many there were: at least one, or an error. io.EOF is the
// orderly end of a stream that held some sound; see the package for the others.
func (s *Stream) Read(buf *audio.Float32Buffer) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	buf.Format = &audio.Format{NumChannels: 1, SampleRate: s.rate}
	n, err := s.read(buf.Data)
	s.frames += int64(n)
	s.err = err
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// read is Read for samples alone. It returns the samples before one out of range together with the
// error, and turns a panic of the decoder into an error.
func (s *Stream) read(dst []float32) (n int, err error) {
	defer rescue(&err)
	if err := s.ctx.Err(); err != nil {
		return 0, fmt.Errorf("decode at %s: %w", s.at(0), context.Cause(s.ctx))
	}
	n, err = s.src.read(dst)
	if errors.Is(err, io.EOF) && s.frames == 0 && n == 0 {
		return 0, invalid("empty: no sound in it")
	}
	for i, v := range dst[:n] {
		if !(v >= -maxAmplitude && v <= maxAmplitude) {
			return i, invalid("sample %v at %s: expected -1 to 1", v, s.at(i))
		}
	}
	if span(s.frames+int64(n), s.rate) > maxDuration {
		return 0, tooLarge("longer than %v", maxDuration)
	}
	return n, err
}

func (s *Stream) at(i int) string { return clock(span(s.frames+int64(i), s.rate)) }

// Close ends the stream and its child process, and waits for the process. Reads fail with
// fault.ErrClosed then.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = fault.ErrClosed
	}
	return s.src.close()
}

// toUnit is 1/2^(bits-1), which brings integers of that many bits into ±1.
func toUnit(bits int) float64 { return math.Ldexp(1, 1-bits) }
