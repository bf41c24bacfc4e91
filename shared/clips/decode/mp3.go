package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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
	// mp3Slack is how much of the time that the Xing header declares may be missing,
	// because encoders count differently, and some editors do not update the header.
	mp3Slack = time.Second
	// maxRuns bounds how often the kind of the frames may change, because each run has a decoder.
	maxRuns = 1000
)

// An mp3Decoder decodes the frames of a feed.
type mp3Decoder interface {
	// decode appends some more mono sound to dst. It returns io.EOF at the normal end, and
	// errOtherKind before frames that need a decoder of their own.
	decode(dst []float32) ([]float32, error)
	close() error
}

// mp3Source removes the encoder's delay and padding from the output of a decoder. Each run of frames
// of one kind has a decoder of its own.
type mp3Source struct {
	mp3Decoder
	ctx    context.Context
	d      Decoder
	size   int64 // of the file
	feed   *mp3Feed
	closer io.Closer

	runs   int   // before the current one
	rate   int   // of the samples of the current run
	delay  int   // samples that the encoder put before the sound of the run and states
	made   int64 // samples of the run that read may have returned
	silent int64 // samples of silence still to return

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
	s := &mp3Source{ctx: ctx, d: d, size: size, feed: feed, closer: f, rate: first.rate}
	if info.delay > 0 || info.padding > 0 {
		s.hold, s.delay = max(0, info.padding-mp3DecoderDelay), info.delay+mp3DecoderDelay
	}
	return s, s.startDecoder()
}

// startDecoder starts the decoder of the current run. It returns fault.ErrNotFound if that needs
// ffmpeg and there is none. A run that ffmpeg cannot decode becomes silence if another one follows.
func (s *mp3Source) startDecoder() error {
	s.mp3Decoder = noDecoder{errOtherKind}
	if _, there := s.d.findFFmpeg(); there { // it skips the delay itself
		p, err := s.d.newPipedMP3(s.ctx, s.feed, s.size)
		if err == nil {
			s.mp3Decoder = p
		} else if !errors.Is(err, errOtherKind) {
			return err
		}
		return nil
	}
	if first := s.feed.first; !goMP3Decodes(first) {
		return &Error{fault.ErrNotFound, fmt.Sprintf("%s needs ffmpeg, which is not installed", first)}
	}
	s.mp3Decoder, s.skip = newGoMP3(s.feed), s.delay
	return nil
}

// nextRun replaces the decoder by one for the frames of another kind that follow.
func (s *mp3Source) nextRun() error {
	if s.runs++; s.runs > maxRuns {
		return invalid("the kind of the frames changes more than %d times until %s", maxRuns, s.feed.clock())
	}
	if err := s.mp3Decoder.close(); err != nil {
		return err
	}
	s.mp3Decoder = noDecoder{io.EOF} // in case that no other one can be started
	silent, err := s.feed.nextRun()
	if err != nil {
		return err
	}
	s.rate, s.delay, s.skip, s.hold, s.buf = s.feed.first.rate, 0, 0, 0, s.buf[:0]
	s.silent, s.made = int64(silent), int64(silent)
	return s.startDecoder()
}

// noDecoder is the decoder of a run without sound. It only returns an error.
type noDecoder struct{ err error }

func (n noDecoder) decode(dst []float32) ([]float32, error) { return dst, n.err }
func (noDecoder) close() error                              { return nil }

func (s *mp3Source) rateHz() int { return s.rate }

func (s *mp3Source) close() error { return errors.Join(s.mp3Decoder.close(), s.closer.Close()) }

// read returns sound that next has released. After the end of the decoder it returns the rest,
// and then the error that ended it.
func (s *mp3Source) read(dst []float32) (int, error) {
	for len(s.rest) == 0 {
		switch {
		case s.silent > 0:
			n := min(s.silent, int64(len(dst)))
			clear(dst[:n])
			s.silent -= n
			return int(n), nil
		case errors.Is(s.end, errOtherKind):
			s.end = s.nextRun()
			continue
		case s.end != nil:
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
	s.made += int64(len(s.rest))
	return nil
}

// held returns how many samples at the end of buf are kept back.
func (s *mp3Source) held() int { return min(s.hold, len(s.buf)) }

// finish releases the samples that were kept back if the file ended normally and has not
// as many frames as the header declares: then they are not the padding of the header. A run before
// frames of another kind is filled up with silence, so that it takes the time of its frames.
func (s *mp3Source) finish() {
	other := errors.Is(s.end, errOtherKind)
	if other || errors.Is(s.end, io.EOF) && s.feed.info.frames != s.feed.frames {
		s.rest = s.buf[len(s.buf)-s.held():]
	}
	if other {
		whole := s.feed.frames*int64(s.feed.first.samples) - int64(s.delay)
		s.silent = max(0, whole-s.made-int64(len(s.rest)))
	}
}
