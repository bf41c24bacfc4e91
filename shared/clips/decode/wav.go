package decode

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

const (
	// maxChunks bounds the RIFF chunks before the sound; editors write a dozen.
	maxChunks = 1000
	// maxFormatBytes bounds the format chunk; the longest known is 50 bytes.
	maxFormatBytes = 4096

	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xfffe
)

// wavFormat is the layout of samples that a WAV or an AIFF declares, checked.
type wavFormat struct {
	float      bool
	bigEndian  bool
	signed     bool // for samples of one byte; wider ones are always signed
	channels   int
	rate       int
	sampleSize int // bytes of one sample of one channel
}

func (w wavFormat) frameSize() int { return w.channels * w.sampleSize }

// wavSource reads the data chunk of a RIFF file, or the sound of an AIFF.
type wavSource struct {
	wavFormat
	r      *bufio.Reader
	closer io.Closer
	left   int64 // bytes of the data chunk still to read; -1 reads until the end of r
	total  int64 // bytes of it, as declared
	raw    []byte
	stereo stereo
}

// newWAV reads the header of f, which has at most size bytes. If f holds less sound than the data
// chunk declares, read returns an error where the sound breaks off. If the program that wrote f
// could not fill in the length, the sound lasts until the end of f.
func newWAV(f io.ReadCloser, size int64) (*wavSource, error) {
	w := &wavSource{r: bufio.NewReaderSize(f, blockBytes), closer: f}
	lengths, err := w.readHeader()
	if err != nil {
		return nil, err
	}
	length, frame := lengths.sound, int64(w.frameSize())
	switch {
	case lengths.unknown(size, frame):
		length = -1
	case length <= size && span(length/frame, w.rate) > maxDuration:
		return nil, tooLarge("lasts %v: expected at most %v", span(length/frame, w.rate), maxDuration)
	}
	if length > 0 {
		length -= length % frame // players leave out the rest of a frame, too
	}
	w.left, w.total = length, length
	return w, nil
}

// lengths are the numbers of bytes that the header of a WAV declares, and those that it has.
type lengths struct {
	header, file, sound int64 // file: of the whole file
}

// unknown reports whether the lengths were written by a program that does not know them yet and cannot seek back
// later, because it writes to a pipe or is cut off. Then the sound is the largest number (ffmpeg), also without the
// header, or 2 GiB (arecord), as many frames as 2 GiB without 4 KiB holds (sox), or 0 although more than the header is
// there. In the last case the length of the file is wrong too; if it is right, other chunks follow.
func (l lengths) unknown(size, frame int64) bool {
	const most, sox = 1<<32 - 1, 1<<31 - 4096
	if l.sound == 0 {
		return l.file <= l.header || l.file > size || l.file >= most
	}
	return l.header+l.sound >= most || l.sound == 1<<31 || l.sound == sox/frame*frame
}

// readHeader reads up to the first byte of sound, and returns the lengths that are
// declared. It returns errNeedsFFmpeg for another file, such as RF64, or a compressed format,
// fault.ErrInvalid for a format out of range or behind the sound, and fault.ErrCorrupt for a file
// that ends before.
func (w *wavSource) readHeader() (l lengths, err error) {
	var b [12]byte
	if _, err := io.ReadFull(w.r, b[:]); err != nil {
		return l, headerCut(err)
	}
	if string(b[:4]) != "RIFF" || string(b[8:]) != "WAVE" {
		return l, errNeedsFFmpeg
	}
	l.header, l.file = int64(len(b)), 8+int64(binary.LittleEndian.Uint32(b[4:]))
	for range maxChunks + 1 { // the last may be the sound
		if _, err := io.ReadFull(w.r, b[:8]); err != nil {
			return l, headerCut(err)
		}
		id, n := string(b[:4]), int64(binary.LittleEndian.Uint32(b[4:]))
		l.header += 8
		switch id {
		case "data":
			if w.channels == 0 {
				return l, invalid("a WAV whose sound comes before its format")
			}
			l.sound = n
			return l, nil
		case "fmt ":
			err = w.readFormat(n)
		default:
			_, err = io.CopyN(io.Discard, w.r, n+n&1) // chunks are padded to even lengths
		}
		if err != nil {
			return l, headerCut(err)
		}
		l.header += n + n&1
	}
	return l, invalid("a WAV with more than %d chunks before its sound", maxChunks)
}

func headerCut(err error) error { return cut("WAV", err) }

// cut replaces an end of the file within the header by fault.ErrCorrupt, which describes it;
// other errors stay.
func cut(format string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("truncated: a %s that ends before its sound", format)
	}
	return err
}

// readFormat reads the format chunk, of n bytes. It returns errNeedsFFmpeg for a compressed
// format, and fault.ErrInvalid for values out of range or that contradict each other. The samples
// have at least one byte, because bits is at least 1.
func (w *wavSource) readFormat(n int64) error {
	if n < 16 || n > maxFormatBytes {
		return invalid("a WAV format of %d bytes: expected 16 to %d", n, maxFormatBytes)
	}
	b := make([]byte, n+n&1)
	if _, err := io.ReadFull(w.r, b); err != nil {
		return err
	}
	le := binary.LittleEndian
	codec, channels, rate := le.Uint16(b), int(le.Uint16(b[2:])), int64(le.Uint32(b[4:]))
	align, bits := int(le.Uint16(b[12:])), int(le.Uint16(b[14:]))
	if codec == wavExtensible && n >= 26 {
		codec = le.Uint16(b[24:])
	}
	switch {
	case channels < 1 || channels > maxChannels:
		return invalid("%d channels: expected 1 to %d", channels, maxChannels)
	case rate < minRateHz || rate > maxRateHz:
		return invalid("%d Hz: expected %d to %d Hz", rate, minRateHz, maxRateHz)
	case codec != wavPCM && codec != wavFloat:
		return errNeedsFFmpeg
	case bits < 1 || align != channels*((bits+7)/8):
		return invalid("%d bits in frames of %d bytes for %d channels: they contradict each other", bits, align, channels)
	}
	size := align / channels
	if codec == wavFloat && size != 4 && size != 8 || codec == wavPCM && size > 4 {
		return invalid("samples of %d bits: expected PCM of 8, 16, 24 or 32, or float of 32 or 64", bits)
	}
	w.wavFormat = wavFormat{float: codec == wavFloat, channels: channels, rate: int(rate), sampleSize: size}
	return nil
}

func (w *wavSource) rateHz() int  { return w.rate }
func (w *wavSource) close() error { return w.closer.Close() }

// read reads whole frames and mixes them, at most blockBytes at a time. If the file ends before
// the declared length, it returns the frames that are there, and then fault.ErrCorrupt with the
// position.
func (w *wavSource) read(dst []float32) (int, error) {
	frame := w.frameSize()
	want := int64(len(dst)) * int64(frame)
	if w.left >= 0 {
		want = min(want, w.left)
	}
	want = min(want, int64(blockBytes/frame*frame))
	if want == 0 {
		return 0, io.EOF
	}
	if int64(cap(w.raw)) < want {
		w.raw = make([]byte, want)
	}
	n, err := io.ReadFull(w.r, w.raw[:want])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	frames := n / frame
	w.mix(dst[:frames], w.raw)
	if w.left >= 0 {
		w.left -= int64(n)
		if errors.Is(err, io.EOF) && frames == 0 {
			return 0, truncated(span((w.total-w.left)/int64(frame), w.rate), span(w.total/int64(frame), w.rate))
		}
	}
	if frames > 0 {
		return frames, nil
	}
	return 0, err
}
