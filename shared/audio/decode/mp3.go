package decode

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"

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

// mp3Source decodes MP3 with go-mp3, a frame at a time.
type mp3Source struct {
	feed   *mp3Feed
	info   mp3Info
	closer io.Closer
	dec    *mp3.Decoder // nil before the first frame, and after a damaged one

	bad  int64
	skip int       // samples still to leave out at the start
	hold int       // samples to keep back, since they may be the encoder's padding
	raw  []byte    // a frame as go-mp3 gives it: 16 bits, two channels
	buf  []float32 // decoded, not yet given away
	rest []float32 // the part of buf that may be
	end  error
}

// newMP3 leaves the decoding to ffmpeg when there is one, which is five times
// faster, and knows all versions and layers.
func (d Decoder) newMP3(ctx context.Context, f io.ReadCloser, size int64) (source, error) {
	feed, info, err := newMP3Feed(f)
	if err != nil {
		return nil, err
	}
	if float64(info.frames)*float64(feed.first.samples) > MaxDuration.Seconds()*float64(feed.first.rate) {
		return nil, tooLarge("declares %d frames at %d Hz: expected at most %v", info.frames, feed.first.rate, MaxDuration)
	}
	if _, ok := d.findFFmpeg(); ok {
		return d.newPipedMP3(ctx, feed, info, size, f)
	}
	if h := feed.first; h.layer != 3 || h.version == 25 || h.mismatch {
		return nil, &Error{fault.ErrNotFound, fmt.Sprintf("%s needs ffmpeg, which is not installed", h)}
	}
	return newGoMP3(feed, info, f), nil
}

// newGoMP3 decodes with go-mp3.
func newGoMP3(feed *mp3Feed, info mp3Info, closer io.Closer) *mp3Source {
	s := &mp3Source{feed: feed, info: info, closer: closer, raw: make([]byte, 4*feed.first.samples)}
	if info.delay > 0 || info.padding > 0 {
		s.skip = info.delay + mp3DecoderDelay
		s.hold = max(0, info.padding-mp3DecoderDelay)
	}
	return s
}

func (s *mp3Source) rateHz() int  { return s.feed.first.rate }
func (s *mp3Source) close() error { return s.closer.Close() }

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

// next decodes one frame into buf, and lets go of all but the last hold samples.
func (s *mp3Source) next() error {
	err := s.feed.next()
	if errors.Is(err, errCutFrame) || errors.Is(err, io.EOF) {
		return s.ended(err)
	}
	if err != nil {
		return err
	}
	ok := s.decode() && !s.feed.orphan
	if !ok {
		clear(s.raw)
		if s.bad++; tooBad(s.bad, s.feed.frames) {
			return corrupt("damaged: %d of the first %d MP3 frames cannot be decoded", s.bad, s.feed.frames)
		}
	}
	s.buf = append(s.buf[:0], s.buf[len(s.buf)-s.held():]...)
	for raw := s.raw; len(raw) > 0; raw = raw[4:] {
		l, r := int16(binary.LittleEndian.Uint16(raw)), int16(binary.LittleEndian.Uint16(raw[2:]))
		s.buf = append(s.buf, float32(int(l)+int(r))/(2*32768))
	}
	drop := min(s.skip, len(s.buf))
	s.skip -= drop
	s.buf = s.buf[drop:]
	s.rest = s.buf[:len(s.buf)-s.held()]
	return nil
}

// held is how many samples at the end of buf are kept back.
func (s *mp3Source) held() int { return min(s.hold, len(s.buf)) }

// decode has go-mp3 decode the current frame into raw. After a failure it starts
// anew with the next one, which then has nothing to refer back to.
func (s *mp3Source) decode() (ok bool) {
	defer func() {
		if p := recover(); p != nil || !ok {
			s.dec, s.feed.reservoir, ok = nil, 0, false
		}
	}()
	if s.dec == nil {
		dec, err := mp3.NewDecoder(s.feed)
		if err != nil {
			return false
		}
		s.dec = dec
	}
	_, err := io.ReadFull(s.dec, s.raw)
	return err == nil
}

// tooBad reports whether so many frames are damaged that the rest says nothing.
func tooBad(bad, frames int64) bool { return bad > minBadFrames && bad*maxBadShare > frames }

// ended judges the end of the file: io.EOF if nothing is missing.
func (s *mp3Source) ended(err error) error {
	if s.feed.frames > 0 && s.bad == s.feed.frames {
		return corrupt("damaged: none of the %d MP3 frames can be decoded", s.bad)
	}
	return s.feed.ended(s.info, err)
}

// finish lets go of what was held back, unless it is the padding that the header
// announced: the file must have as many frames as it says.
func (s *mp3Source) finish() {
	if errors.Is(s.end, io.EOF) && s.info.frames != s.feed.frames {
		s.rest = s.buf[len(s.buf)-s.held():]
	}
}
