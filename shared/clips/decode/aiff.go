package decode

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
)

// newAIFF reads the header of an AIFF or AIFF-C file. It returns errNeedsFFmpeg for the
// compressed kinds of AIFF-C. Other errors: those of readHeader, fault.ErrCorrupt for less sound
// than declared, and fault.ErrTooLarge beyond maxDuration. With an error f stays open.
func newAIFF(f io.ReadCloser) (*wavSource, error) {
	a := &aiff{w: &wavSource{r: bufio.NewReaderSize(f, blockBytes), closer: f}}
	if err := a.readHeader(); err != nil {
		return nil, err
	}
	w, frame := a.w, int64(a.w.frameSize())
	declared := a.frames * frame
	switch {
	case a.frames == 0 && a.length == 0 && a.file <= a.pos: // the program that wrote it was cut off
		declared = -1
	case declared > a.length:
		return nil, truncated(span(a.length/frame, w.rate), span(a.frames, w.rate))
	case span(a.frames, w.rate) > maxDuration:
		return nil, tooLarge("lasts %v: expected at most %v", span(a.frames, w.rate), maxDuration)
	}
	w.left, w.total = declared, declared
	return w, nil
}

// aiff holds the state of a header being read.
type aiff struct {
	w      *wavSource
	pos    int64 // bytes read so far
	file   int64 // bytes of the whole file, as declared
	frames int64 // declared
	length int64 // of the sound, in bytes
}

// readHeader reads up to the first byte of sound.
func (a *aiff) readHeader() error {
	var b [12]byte
	if err := a.fill(b[:]); err != nil {
		return err
	}
	compressed := string(b[8:]) == "AIFC"
	if !compressed && string(b[8:]) != "AIFF" {
		return invalid("a FORM of type %q: expected AIFF or AIFC", b[8:])
	}
	a.file = 8 + int64(binary.BigEndian.Uint32(b[4:]))
	for range maxChunks + 1 { // the last may be the sound
		if err := a.fill(b[:8]); err != nil {
			return err
		}
		id, n := string(b[:4]), int64(binary.BigEndian.Uint32(b[4:8]))
		switch id {
		case "SSND":
			return a.readSound(n)
		case "COMM":
			if err := a.readCommon(n, compressed); err != nil {
				return err
			}
		default:
			if err := a.skip(n + n&1); err != nil {
				return err
			}
		}
	}
	return invalid("an AIFF with more than %d chunks before its sound", maxChunks)
}

// readSound reads the start of the sound chunk, of n bytes, and leaves a.w.r at the first byte of
// sound.
func (a *aiff) readSound(n int64) error {
	if a.w.channels == 0 {
		return invalid("an AIFF whose sound comes before its format")
	}
	var b [8]byte
	if err := a.fill(b[:]); err != nil {
		return err
	}
	offset := int64(binary.BigEndian.Uint32(b[:]))
	a.length = max(0, n-8-offset)
	return a.skip(offset)
}

// readCommon reads the format, a chunk of n bytes. It returns errNeedsFFmpeg for a compressed
// sound, and fault.ErrInvalid for channels, a rate or samples out of range.
func (a *aiff) readCommon(n int64, compressed bool) error {
	if n < 18 || n > maxFormatBytes || compressed && n < 22 {
		return invalid("an AIFF format of %d bytes: expected 18 to %d", n, maxFormatBytes)
	}
	b := make([]byte, n+n&1)
	if err := a.fill(b); err != nil {
		return err
	}
	be := binary.BigEndian
	channels, bits, rate := int(be.Uint16(b)), int(be.Uint16(b[6:])), extended(b[8:18])
	a.frames = int64(be.Uint32(b[2:]))
	w := wavFormat{channels: channels, sampleSize: (bits + 7) / 8, bigEndian: true, signed: true}
	if compressed && !w.codec(string(b[18:22])) {
		return errNeedsFFmpeg
	}
	switch {
	case channels < 1 || channels > maxChannels:
		return invalid("%d channels: expected 1 to %d", channels, maxChannels)
	case !(rate >= minRateHz && rate <= maxRateHz) || rate != math.Trunc(rate):
		return invalid("%v Hz: expected a whole number from %d to %d", rate, minRateHz, maxRateHz)
	case w.sampleSize < 1 || w.sampleSize > 4 && !w.float || w.float && w.sampleSize != 4 && w.sampleSize != 8:
		return invalid("samples of %d bits: expected PCM of 8, 16, 24 or 32, or float of 32 or 64", bits)
	}
	w.rate = int(rate)
	a.w.wavFormat = w
	return nil
}

// codec applies the AIFF-C compression type kind to w. It reports whether the type is
// uncompressed and known; "raw " is only accepted with samples of one byte.
func (w *wavFormat) codec(kind string) bool {
	switch kind {
	case "NONE", "twos":
	case "in24":
		w.sampleSize = 3
	case "in32":
		w.sampleSize = 4
	case "sowt":
		w.bigEndian = false
	case "raw ":
		w.signed = false
		return w.sampleSize == 1
	case "fl32", "FL32":
		w.float, w.sampleSize = true, 4
	case "fl64", "FL64":
		w.float, w.sampleSize = true, 8
	default:
		return false
	}
	return true
}

// extended reads an 80-bit float of IEEE 754. It returns NaN if the float is negative,
// infinite or NaN.
func extended(b []byte) float64 {
	exponent, mantissa := int(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint64(b[2:])
	if exponent >= 0x7fff { // negative, infinite or NaN
		return math.NaN()
	}
	return math.Ldexp(float64(mantissa), exponent-16383-63)
}

// fill reads exactly len(b) bytes.
func (a *aiff) fill(b []byte) error {
	n, err := io.ReadFull(a.w.r, b)
	a.pos += int64(n)
	return cut("AIFF", err)
}

// skip passes over n bytes.
func (a *aiff) skip(n int64) error {
	n, err := io.CopyN(io.Discard, a.w.r, n)
	a.pos += n
	return cut("AIFF", err)
}
