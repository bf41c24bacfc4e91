package decode

import (
	"context"
	"errors"
	"fmt"
	"io"

	"leasehold/shared/fault"
)

const (
	// mp3DecoderDelay is what every layer III decoder adds before the sound: the
	// 528 samples of the filter bank, and one by convention.
	mp3DecoderDelay = 528 + 1
	// maxBadShare is the part of the frames that may be damaged (they become
	// silence): one in fifty, but never fewer than minBadFrames.
	maxBadShare  = 50
	minBadFrames = 10
	// mp3Slack is how many seconds may be missing of what the Xing header
	// declares: encoders count differently, and some editors leave it as it was.
	mp3Slack = 1
)

// An mp3Decoder decodes the frames of a feed.
type mp3Decoder interface {
	// decode appends some more mono sound to dst; io.EOF is the orderly end.
	decode(dst []float32) ([]float32, error)
	close() error
}

// mp3Source takes the encoder's delay and padding off what a decoder gives.
type mp3Source struct {
	mp3Decoder
	feed   *mp3Feed
	closer io.Closer

	skip int       // samples still to leave out at the start
	hold int       // samples to keep back, since they may be the encoder's padding
	buf  []float32 // decoded, not yet given away
	rest []float32 // the part of buf that may be
	end  error
}

// newMP3 leaves the decoding to ffmpeg when there is one, which is five times
// faster, and knows all versions and layers.
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
	told := info.delay > 0 || info.padding > 0
	if told {
		s.hold = max(0, info.padding-mp3DecoderDelay)
	}
	_, there := d.findFFmpeg()
	switch {
	case there: // it skips the delay itself
		s.mp3Decoder, err = d.newPipedMP3(ctx, feed, size)
	case !goMP3Decodes(first):
		err = &Error{fault.ErrNotFound, fmt.Sprintf("%s needs ffmpeg, which is not installed", first)}
	default:
		s.mp3Decoder = newGoMP3(feed)
		if told {
			s.skip = info.delay + mp3DecoderDelay
		}
	}
	return s, err
}

func (s *mp3Source) rateHz() int { return s.feed.first.rate }

func (s *mp3Source) close() error { return errors.Join(s.mp3Decoder.close(), s.closer.Close()) }

func (s *mp3Source) read(dst []float32) (int, error) {
	for len(s.rest) == 0 {
		if s.end != nil {
			return 0, s.end
		}
		if s.end = s.next(); s.end != nil {
			s.finish()
		}
	}
	n := copy(dst, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next decodes some more, and lets go of all but the last hold samples.
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

// held is how many samples at the end of buf are kept back.
func (s *mp3Source) held() int { return min(s.hold, len(s.buf)) }

// finish lets go of what was held back, unless it is the padding that the header
// announced: the file must have as many frames as it says.
func (s *mp3Source) finish() {
	if errors.Is(s.end, io.EOF) && s.feed.info.frames != s.feed.frames {
		s.rest = s.buf[len(s.buf)-s.held():]
	}
}

// tooBad reports whether so many frames are damaged that the rest says nothing.
func tooBad(bad, frames int64) bool { return bad > minBadFrames && bad*maxBadShare > frames }
