package decode

import (
	"context"
	"errors"
	"io"

	"leasehold/shared/fault"
)

// pipedMP3 has ffmpeg decode the frames that the feed finds. Both decoders of MP3
// so see the same frames, without tags and junk, and the same is said of a file
// that breaks off. Through a pipe, ffmpeg takes off the encoder's delay, and leaves
// its padding.
type pipedMP3 struct {
	child  *ffmpegSource
	frames *mp3Frames
	block  []float32
}

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

func (p *pipedMP3) decode(dst []float32) ([]float32, error) {
	n, err := p.child.read(p.block)
	dst = append(dst, p.block[:n]...)
	if err == nil {
		return dst, nil
	}
	if bad, all := p.child.damages(), p.frames.feed.frames; errors.Is(err, io.EOF) && tooBad(bad, all) {
		return dst, corrupt("damaged: %d of the %d MP3 frames cannot be decoded", bad, all)
	}
	return dst, p.frames.blame(err)
}

// mp3Frames reads the frames of a feed, the one with the stream's info first.
type mp3Frames struct {
	feed *mp3Feed
	err  error // what ended the frames: io.EOF, or what is wrong with the file
}

func newMP3Frames(feed *mp3Feed) *mp3Frames {
	if feed.again {
		feed.unread = nil
	}
	return &mp3Frames{feed: feed}
}

// Read is part of io.Reader. It ends in io.EOF whatever is wrong: ffmpeg shall
// decode what came before.
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
