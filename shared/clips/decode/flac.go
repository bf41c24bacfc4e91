package decode

import (
	"bufio"
	"errors"
	"io"

	"github.com/mewkiz/flac"
)

// flacSource decodes FLAC with mewkiz/flac, frame by frame.
type flacSource struct {
	s      *flac.Stream
	closer io.Closer
	done   int64 // frames decoded
	mono   []float32
	rest   []float32 // of mono, not yet returned
	stereo stereo
}

// newFLAC reads the header of f. A header out of range is an *Error; with an error f stays open.
// The length may be 0, which is unknown.
func newFLAC(f io.ReadCloser) (*flacSource, error) {
	s, err := flac.New(bufio.NewReaderSize(f, blockBytes))
	if err != nil {
		return nil, corrupt("a FLAC with a damaged header: %v", err)
	}
	i := s.Info
	switch {
	case i.NChannels < 1 || i.NChannels > maxChannels:
		return nil, invalid("%d channels: expected 1 to %d", i.NChannels, maxChannels)
	case i.SampleRate < minRateHz || i.SampleRate > maxRateHz:
		return nil, invalid("%d Hz: expected %d to %d Hz", i.SampleRate, minRateHz, maxRateHz)
	case float64(i.NSamples) > maxDuration.Seconds()*float64(i.SampleRate):
		return nil, tooLarge("declares %d samples at %d Hz: expected at most %v", i.NSamples, i.SampleRate, maxDuration)
	}
	return &flacSource{s: s, closer: f}, nil
}

func (f *flacSource) rateHz() int  { return int(f.s.Info.SampleRate) }
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

// next decodes one frame into rest, as mono. It returns io.EOF at the declared end and ignores data
// after it, such as a tag; without a declared end, the file's end is it. Of stereo, stereo.choose
// takes the middle or the side.
func (f *flacSource) next() error {
	info := f.s.Info
	total, at := int64(info.NSamples), span(f.done, f.rateHz())
	if total > 0 && f.done >= total {
		return io.EOF
	}
	fr, err := f.s.ParseNext()
	switch {
	case errors.Is(err, io.EOF) && total == 0:
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return truncated(at, span(total, f.rateHz()))
	case err != nil:
		return corrupt("a damaged FLAC frame at %s: %v", clock(at), err)
	case fr.SampleRate != 0 && fr.SampleRate != info.SampleRate:
		return invalid("the sample rate changes from %d to %d Hz at %s", info.SampleRate, fr.SampleRate, clock(at))
	case len(fr.Subframes) != int(info.NChannels):
		return invalid("the channels change from %d to %d at %s", info.NChannels, len(fr.Subframes), clock(at))
	}
	bits := int(fr.BitsPerSample)
	if bits == 0 {
		bits = int(info.BitsPerSample)
	}
	n := int(fr.BlockSize)
	f.mono = append(f.mono[:0], make([]float32, n)...)
	scale := toUnit(bits) / float64(len(fr.Subframes))
	for _, sub := range fr.Subframes {
		if len(sub.Samples) != n {
			return corrupt("a damaged FLAC frame at %s: %d samples instead of %d", clock(at), len(sub.Samples), n)
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
	f.done += int64(n)
	return nil
}
