package decode

import (
	"cmp"
	"context"
	"errors"
	"io"

	"leasehold/shared/fault"
)

// pipedMP3 has ffmpeg decode the frames that the feed finds. So both decoders of MP3
// get the same frames, without tags and junk, and report a truncated file in the same
// way. Through a pipe, ffmpeg removes the encoder's delay, and leaves its padding.
type pipedMP3 struct {
	child  *ffmpegSource
	frames *mp3Frames
	block  []float32
}

// newPipedMP3 starts ffmpeg for the frames of a feed. size is the size of the file. An error of the
// frames comes before one of ffmpeg.
func (d Decoder) newPipedMP3(ctx context.Context, feed *mp3Feed, size int64) (*pipedMP3, error) {
	p := &pipedMP3{frames: newMP3Frames(feed), block: make([]float32, blockBytes/4)}
	var err error
	p.child, err = d.ffmpeg(ctx, ffmpegInput{demuxer: "mp3", stdin: p.frames, size: size, filter: fillGaps})
	if err != nil {
		return nil, p.frames.blame(err)
	}
	return p, nil
}

func (p *pipedMP3) close() error { return p.child.close() }

// decode appends the next block of ffmpeg's output. At the end, an error of the frames comes
// before one of ffmpeg; the end of the run is errOtherKind.
func (p *pipedMP3) decode(dst []float32) ([]float32, error) {
	n, err := p.child.read(p.block)
	dst = append(dst, p.block[:n]...)
	if err == nil {
		return dst, nil
	}
	if errors.Is(err, io.EOF) {
		p.frames.feed.bad += p.child.damages()
	}
	if err = p.frames.blame(err); errors.Is(err, io.EOF) {
		err = cmp.Or(p.frames.feed.damage(), err)
	}
	return dst, err
}

// mp3Frames reads the frames of a feed. The one with the stream's info, if any, is first.
type mp3Frames struct {
	feed *mp3Feed
	err  error // what ended the frames: io.EOF, or the error of the file
}

// newMP3Frames returns the frames of a feed at their start. If the first one is sound, next
// passes it again, so it is not read twice.
func newMP3Frames(feed *mp3Feed) *mp3Frames {
	if feed.again {
		feed.unread = nil
	}
	return &mp3Frames{feed: feed}
}

// Read returns io.EOF at the end of the frames, even if the file is damaged, because ffmpeg shall
// decode the frames before the damage. The field err keeps the error, which the caller reads when
// ffmpeg has ended.
func (f *mp3Frames) Read(p []byte) (int, error) {
	for len(f.feed.unread) == 0 {
		if f.err == nil {
			f.err = f.feed.next()
			if errors.Is(f.err, errCutFrame) || errors.Is(f.err, io.EOF) {
				f.feed.unread = nil
				f.err = f.feed.ended(f.err)
			}
		}
		if f.err != nil {
			return 0, io.EOF
		}
	}
	n := copy(p, f.feed.unread)
	f.feed.unread = f.feed.unread[n:]
	return n, nil
}

// blame returns the error of the frames if there is one and the child ended by itself, else err.
// With errOtherKind, a run that the child could not decode counts as damaged. The child must have been waited for, because then the goroutine that reads
// the frames has ended too.
func (f *mp3Frames) blame(err error) error {
	ended := errors.Is(err, io.EOF) || errors.Is(err, fault.ErrCorrupt)
	if ended && f.err != nil && !errors.Is(f.err, io.EOF) {
		if errors.Is(err, fault.ErrCorrupt) && errors.Is(f.err, errOtherKind) {
			f.feed.bad += f.feed.frames
		}
		return f.err
	}
	if errors.Is(err, fault.ErrCorrupt) {
		return corrupt("damaged MP3 frames: %v", err)
	}
	return err
}
