package decode

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
)

// flacSource decodes FLAC with mewkiz/flac, frame by frame, and the FLAC files that are joined to
// the first one. Each frame has its own rate and channels.
type flacSource struct {
	r      *bufio.Reader
	s      *flac.Stream // of the current file
	closer io.Closer
	rate   int           // of rest
	done   int64         // samples of the current file
	played time.Duration // of all frames
	mono   []float32
	rest   []float32 // of mono, not yet returned
	stereo stereo
}

// newFLAC reads the header of f. A header out of range is an *Error; with an error f stays open.
// The length may be 0, which is unknown.
func newFLAC(f io.ReadCloser) (*flacSource, error) {
	s := &flacSource{r: bufio.NewReaderSize(f, blockBytes), closer: f}
	return s, s.header()
}

// header reads the header of the file that r is at.
func (f *flacSource) header() error {
	s, err := flac.New(f.r) // reads from r itself, because its buffer is large enough
	if err != nil {
		return corrupt("a FLAC with a damaged header: %v", err)
	}
	i := s.Info
	switch {
	case i.NChannels < 1 || i.NChannels > maxChannels:
		return invalid("%d channels: expected 1 to %d", i.NChannels, maxChannels)
	case i.SampleRate < minRateHz || i.SampleRate > maxRateHz:
		return invalid("%d Hz: expected %d to %d Hz", i.SampleRate, minRateHz, maxRateHz)
	case float64(i.NSamples) > maxDuration.Seconds()*float64(i.SampleRate):
		return tooLarge("declares %d samples at %d Hz: expected at most %v", i.NSamples, i.SampleRate, maxDuration)
	}
	f.s, f.rate, f.done = s, int(i.SampleRate), 0
	return nil
}

// another reports whether another FLAC file follows, and leaves r at its start, behind its tags.
func (f *flacSource) another() bool {
	if err := skipTags(f.r); err != nil {
		return false
	}
	b, _ := f.r.Peek(len(flacMagic)) // an error is found again by the next read
	return string(b) == flacMagic
}

// atFrame reports whether r is at bytes with which a frame begins.
func (f *flacSource) atFrame() bool {
	b, _ := f.r.Peek(2) // an error is found again by the next read
	return len(b) == 2 && b[0] == 0xff && b[1]&0xfe == 0xf8
}

// declared is how long everything until the end of the current file should play, or 0 if unknown.
func (f *flacSource) declared() time.Duration {
	total := int64(f.s.Info.NSamples)
	if total == 0 {
		return 0
	}
	return f.played + span(total-f.done, int(f.s.Info.SampleRate))
}

const flacMagic = "fLaC"

func (f *flacSource) rateHz() int  { return f.rate }
func (f *flacSource) close() error { return f.closer.Close() }

// read returns the rest of the current frame, and decodes the next one when it is used up.
func (f *flacSource) read(dst []float32) (int, error) {
	if len(f.rest) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(dst, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next decodes one frame into rest. After the declared end it goes on while another FLAC or another frame follows, because
// adverts are joined to a recording in both ways. It ignores other data there, such as a tag, and returns io.EOF;
// without a declared end, it does so at the file's end.
func (f *flacSource) next() error {
	if f.another() {
		if err := f.header(); err != nil {
			return err
		}
	}
	info := f.s.Info
	total, at := int64(info.NSamples), f.played
	ended := total > 0 && f.done >= total
	if ended && !f.atFrame() {
		return io.EOF
	}
	fr, err := f.s.ParseNext()
	switch {
	case err != nil && ended: // other data that begins as a frame does
		return io.EOF
	case errors.Is(err, io.EOF) && total == 0:
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return truncated(at, f.declared())
	case err != nil:
		return corrupt("a damaged FLAC frame at %s: %v", clock(at), err)
	}
	f.rate = int(cmp.Or(fr.SampleRate, info.SampleRate))
	if f.rate < minRateHz || f.rate > maxRateHz {
		return invalid("%d Hz at %s: expected %d to %d Hz", f.rate, clock(at), minRateHz, maxRateHz)
	}
	f.done += int64(fr.BlockSize)
	f.played += span(int64(fr.BlockSize), f.rate)
	return f.mix(fr, cmp.Or(int(fr.BitsPerSample), int(info.BitsPerSample)))
}

// mix sets rest to a frame as mono. Of stereo, stereo.choose takes the middle or the side.
func (f *flacSource) mix(fr *frame.Frame, bits int) error {
	n := int(fr.BlockSize)
	f.mono = append(f.mono[:0], make([]float32, n)...)
	scale := toUnit(bits) / float64(len(fr.Subframes))
	for _, sub := range fr.Subframes {
		if len(sub.Samples) != n {
			return corrupt("a damaged FLAC frame until %s: %d samples instead of %d", clock(f.played), len(sub.Samples), n)
		}
		for i, v := range sub.Samples {
			f.mono[i] += float32(float64(v) * scale)
		}
	}
	if len(fr.Subframes) == 2 {
		side := f.stereo.sideBuffer(n)
		for i, v := range fr.Subframes[0].Samples {
			side[i] = float32(float64(v-fr.Subframes[1].Samples[i]) * scale)
		}
		f.stereo.choose(f.mono, side)
	}
	f.rest = f.mono
	return nil
}
