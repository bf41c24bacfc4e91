package decode

import (
	"context"
	"errors"
	"io"

	"leasehold/shared/fault"
)

// pipedMP3 has ffmpeg decode the frames that the feed finds. Both decoders of MP3
// so see the same frames, without tags and junk, and the same is said of a file
// that breaks off.
type pipedMP3 struct {
	*ffmpegSource
	frames *mp3Frames
}

func (d Decoder) newPipedMP3(ctx context.Context, feed *mp3Feed, info mp3Info, size int64, closer io.Closer) (*pipedMP3, error) {
	p := &pipedMP3{frames: newMP3Frames(feed, info)}
	var err error
	p.ffmpegSource, err = d.ffmpeg(ctx, ffmpegInput{demuxer: "mp3", stdin: p.frames, size: size, closer: closer, filter: fillGaps})
	if err != nil {
		return nil, p.frames.blame(err)
	}
	return p, nil
}

func (p *pipedMP3) read(dst []float32) (int, error) {
	n, err := p.ffmpegSource.read(dst)
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) && tooBad(p.child.stderr.bad, p.frames.feed.frames) {
		return n, corrupt("damaged: %d of the %d MP3 frames cannot be decoded", p.child.stderr.bad, p.frames.feed.frames)
	}
	return n, p.frames.blame(err)
}

// mp3Frames reads the frames of a feed, the one with the stream's info first.
type mp3Frames struct {
	feed *mp3Feed
	info mp3Info
	err  error // what ended the frames: io.EOF, or what is wrong with the file
}

func newMP3Frames(feed *mp3Feed, info mp3Info) *mp3Frames {
	if !info.present {
		feed.unread = nil // it comes again
	}
	return &mp3Frames{feed: feed, info: info}
}

// Read is part of io.Reader. It ends in io.EOF whatever is wrong: ffmpeg shall
// decode what came before.
func (f *mp3Frames) Read(p []byte) (int, error) {
	for len(f.feed.unread) == 0 {
		if f.err == nil {
			f.err = f.feed.next()
			if errors.Is(f.err, errCutFrame) || errors.Is(f.err, io.EOF) {
				f.feed.unread = nil
				f.err = f.feed.ended(f.info, f.err)
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

// blame returns what is wrong with the frames, if the child ended by itself and
// something is; else err. The child has been waited for, and with it whoever read
// the frames.
func (f *mp3Frames) blame(err error) error {
	ended := errors.Is(err, io.EOF) || errors.Is(err, fault.ErrCorrupt)
	if ended && f.err != nil && !errors.Is(f.err, io.EOF) {
		return f.err
	}
	if errors.Is(err, fault.ErrCorrupt) {
		return corrupt("damaged MP3 frames: %v", err)
	}
	return err
}
