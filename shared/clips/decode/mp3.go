package decode

import (
	"context"
	"errors"
	"fmt"
	"io"

	"leasehold/shared/fault"
)

const (
	// mp3DecoderDelay is how many samples every layer III decoder adds before the sound:
	// 528 of the filter bank, and one by convention.
	mp3DecoderDelay = 528 + 1
	// maxBadShare and minBadFrames bound the damaged frames, which become silence, that are
	// not reported at the end: one frame in maxBadShare may be damaged, and minBadFrames, a
	// quarter of a second, always may.
	maxBadShare  = 50
	minBadFrames = 10
	// mp3Slack is how many of the seconds that the Xing header declares may be missing,
	// because encoders count differently, and some editors do not update the header.
	mp3Slack = 1
)

// An mp3Decoder decodes the frames of a feed.
type mp3Decoder interface {
	// decode appends some more mono sound to dst. It returns io.EOF at the normal end.
	decode(dst []float32) ([]float32, error)
	close() error
}

// mp3Source removes the encoder's delay and padding from the output of a decoder.
type mp3Source struct {
	mp3Decoder
	feed   *mp3Feed
	closer io.Closer

	skip int       // samples still to drop at the start
	hold int       // samples to keep back, since they may be the encoder's padding
	buf  []float32 // decoded, not yet returned
	rest []float32 // the part of buf that read may return
	end  error
}

// newMP3 decodes with ffmpeg if it is installed, because ffmpeg is five times faster and knows all
// versions and layers. The source owns f; after an error the caller closes f.
func (d Decoder) newMP3(ctx context.Context, f io.ReadCloser, size int64) (*mp3Source, error) {
	feed, err := newMP3Feed(f)
	if err != nil {
		return nil, err
	}
	first, info := feed.first, feed.info
	if float64(info.frames)*float64(first.samples) > maxDuration.Seconds()*float64(first.rate) {
		return nil, tooLarge("declares %d frames at %d Hz: expected at most %v", info.frames, first.rate, maxDuration)
	}
	s := &mp3Source{feed: feed, closer: f}
	statesDelay := info.delay > 0 || info.padding > 0
	if statesDelay {
		s.hold = max(0, info.padding-mp3DecoderDelay)
	}
	_, there := d.findFFmpeg()
	switch {
	case there: // ffmpeg skips the delay itself
		s.mp3Decoder, err = d.newPipedMP3(ctx, feed, size)
	case !goMP3Decodes(first):
		err = &Error{fault.ErrNotFound, fmt.Sprintf("%s needs ffmpeg, which is not installed", first)}
	default:
		s.mp3Decoder = newGoMP3(feed)
		if statesDelay {
			s.skip = info.delay + mp3DecoderDelay
		}
	}
	return s, err
}

func (s *mp3Source) rateHz() int { return s.feed.first.rate }

func (s *mp3Source) close() error { return errors.Join(s.mp3Decoder.close(), s.closer.Close()) }

// read returns sound that next has released. After the end of the decoder it returns the rest,
// and then the error that ended it.
func (s *mp3Source) read(dst []float32) (int, error) {
	for len(s.rest) == 0 {
		if s.end != nil {
			return 0, s.end
		}
		s.end = s.next()
		if s.end != nil {
			s.finish()
		}
	}
	n := copy(dst, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next decodes some more, and releases all but the last hold samples to read, after it has dropped
// the first skip samples.
func (s *mp3Source) next() error {
	var err error
	s.buf = append(s.buf[:0], s.buf[len(s.buf)-s.held():]...)
	if s.buf, err = s.decode(s.buf); err != nil {
		return err
	}
	drop := min(s.skip, len(s.buf))
	s.skip -= drop
	s.buf = s.buf[drop:]
	s.rest = s.buf[:len(s.buf)-s.held()]
	return nil
}

// held returns how many samples at the end of buf are kept back.
func (s *mp3Source) held() int { return min(s.hold, len(s.buf)) }

// finish releases the samples that were kept back if the file ended normally and has not
// as many frames as the header declares: then they are not the padding of the header.
func (s *mp3Source) finish() {
	if errors.Is(s.end, io.EOF) && s.feed.info.frames != s.feed.frames {
		s.rest = s.buf[len(s.buf)-s.held():]
	}
}
