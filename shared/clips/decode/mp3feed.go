package decode

import (
	"bufio"
	"errors"
	"io"
)

// errCutFrame reports that the file ends within a frame.
var errCutFrame = errors.New("cut frame")

// mp3Feed finds the frames of an MP3 and passes them to go-mp3 one at a time, so
// that go-mp3 never reads a tag, the Xing frame, or damage between frames.
type mp3Feed struct {
	r      *bufio.Reader
	first  mp3Header
	info   mp3Info
	frames int64 // found so far, without the one that holds the stream's info

	frame  []byte // the current one
	unread []byte // the part of frame that the decoder has not read yet
	again  bool   // the next one is the current one

	lost   int64  // bytes without a frame that were skipped; less than maxSync at a time are not counted
	lostAt string // the position of the first of them, as a clock shows it

	reservoir int  // bytes of main data before the current frame, for it to refer to
	orphan    bool // the current frame refers to more than that, so it cannot be decoded
}

const (
	id3v2Header = 10
	id3v1Bytes  = 128
)

// maxLost is how many bytes are skipped to find the next frame, so that a stream without an end
// is given up: a minute at 320 kbit/s is 2.4 MB.
const maxLost = 16 << 20

// maxReservoir is how many bytes back a frame can refer: the greatest number of nine bits.
const maxReservoir = 511

// newMP3Feed finds the first frame and, if it holds info instead of sound, reads the info. A
// frame with sound is passed again by the first next. Without a frame it returns
// fault.ErrInvalid, for a cut one fault.ErrCorrupt.
func newMP3Feed(r io.Reader) (*mp3Feed, error) {
	f := &mp3Feed{r: bufio.NewReaderSize(r, maxSync+blockBytes)}
	b, err := f.r.Peek(maxSync)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	at := 0
	if h, ok := parseMP3Header(b); !ok || h.bytes < len(b) { // a lone frame is accepted at the start
		at = syncMP3(b, nil)
	}
	if at < 0 {
		return nil, invalid("looks like MP3, but no two frames follow each other")
	}
	_, _ = f.r.Discard(at) // it was peeked
	f.first, _ = parseMP3Header(b[at:])
	if err := f.next(); err != nil {
		if errors.Is(err, errCutFrame) {
			err = truncated(0, 0)
		}
		return nil, err
	}
	f.info = parseMP3Info(f.frame, f.first)
	if f.info.present {
		f.frames, f.reservoir = 0, 0
	}
	f.again = !f.info.present
	return f, nil
}

// next moves to the next frame. It returns io.EOF at the normal end, errCutFrame if the file ends
// within a frame, and an *Error if it finds data that cannot be skipped. After again is set, it
// returns the same frame once more. A frame is an orphan if it refers to data from before the
// part that was read.
func (f *mp3Feed) next() error {
	if f.again {
		f.again = false
		f.unread = f.frame
		return nil
	}
	h, err := f.header()
	if err != nil {
		return err
	}
	f.keepReservoir()
	f.frame = append(f.frame[:0], make([]byte, h.bytes)...)
	if _, err := io.ReadFull(f.r, f.frame); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errCutFrame
		}
		return err
	}
	f.frames++
	f.unread = f.frame
	f.orphan = mainDataBegin(f.frame, h) > f.reservoir
	return nil
}

// ended returns the error for the end of the frames. It is io.EOF unless bytes were skipped,
// more than mp3Slack seconds of the declared frames are missing, or none are declared and the
// last one is cut.
func (f *mp3Feed) ended(err error) error {
	if f.lost > 0 {
		return corrupt("damaged: no MP3 frame in %d bytes after %s, which were skipped", f.lost, f.lostAt)
	}
	info := f.info
	per, rate := int64(f.first.samples), f.first.rate
	missing := info.frames - f.frames
	if missing*per > mp3Slack*int64(rate) || info.frames == 0 && errors.Is(err, errCutFrame) {
		return truncated(span(f.frames*per, rate), span(info.frames*per, rate))
	}
	return io.EOF
}

// damage returns the error of a file with so many frames that could not be decoded and became
// silence. It is nil if they are too few to report.
func (f *mp3Feed) damage(bad int64) error {
	if bad > minBadFrames && bad*maxBadShare > f.frames || f.frames > 0 && bad == f.frames {
		return corrupt("damaged: %d of the %d MP3 frames cannot be decoded, and are silence", bad, f.frames)
	}
	return nil
}

// header finds the header of the next frame, and skips tags and damage before it. io.EOF is the
// normal end; a change of the sample rate gives fault.ErrInvalid, because the stream has one rate.
func (f *mp3Feed) header() (mp3Header, error) {
	if err := f.skipTags(); err != nil {
		return mp3Header{}, err
	}
	b, err := f.r.Peek(mp3HeaderBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return mp3Header{}, err
	}
	h, ok := parseMP3Header(b)
	if ok && h.like(f.first) {
		return h, nil
	}
	b, err = f.r.Peek(maxSync)
	if err != nil && !errors.Is(err, io.EOF) {
		return mp3Header{}, err
	}
	if ok && h.layer == 3 && len(b) > h.bytes {
		if h2, ok := parseMP3Header(b[h.bytes:]); ok && h2.like(h) {
			return h, invalid("the sample rate changes from %d to %d Hz at %s", f.first.rate, h.rate, f.clock())
		}
	}
	return f.resync(b)
}

// resync finds the next frame after damage, as players do, and leaves f.r at it; b is peeked. It
// skips at most maxLost bytes at a time, and counts them in lost, except those of the first search,
// which are usually the end of a damaged frame. Tags and zeros at the end are io.EOF. More than
// maxLost bytes without a frame give fault.ErrCorrupt. It steps by half of the peeked bytes, so
// that two frames on both sides of a step are found.
func (f *mp3Feed) resync(b []byte) (h mp3Header, err error) {
	f.reservoir = 0
	for skipped := 0; ; {
		at := syncMP3(b, &f.first)
		switch {
		case at >= 0:
			_, _ = f.r.Discard(at) // it was peeked
			h, _ = parseMP3Header(b[at:])
			if skipped > 0 {
				f.lost += int64(at)
			}
			return h, nil
		case len(b) < maxSync || string(b[:8]) == "APETAGEX": // tags, or zeros
			return h, io.EOF
		case skipped >= maxLost:
			return h, corrupt("damaged: no MP3 frame in the %d bytes after %s", skipped, f.clock())
		}
		if f.lost == 0 {
			f.lostAt = f.clock()
		}
		const step = maxSync / 2
		_, _ = f.r.Discard(step) // it was peeked
		skipped += step
		f.lost += step
		if b, err = f.r.Peek(maxSync); err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
	}
}

// skipTags skips ID3 tags between frames, which joined files have. The reservoir stays, because the
// frames after a tag may refer to those before it.
func (f *mp3Feed) skipTags() error {
	for range maxTags {
		b, err := f.r.Peek(id3v2Header)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		n := id3Size(b)
		if len(b) >= 3 && string(b[:3]) == "TAG" {
			n = id3v1Bytes
		}
		if n == 0 {
			return nil
		}
		if _, err := f.r.Discard(int(n)); err != nil {
			return err // io.EOF if the file ends within the tag
		}
	}
	return nil
}

func (f *mp3Feed) clock() string {
	return clock(span(f.frames*int64(f.first.samples), f.first.rate))
}

// keepReservoir adds the current frame's main data to the reservoir.
func (f *mp3Feed) keepReservoir() {
	if h, ok := parseMP3Header(f.frame); ok {
		start, length := h.sideInfo()
		f.reservoir = min(maxReservoir, f.reservoir+max(0, len(f.frame)-start-length))
	}
}

// mainDataBegin returns how many bytes before itself a layer III frame refers to. The number has
// 9 bits in MPEG 1 and 8 in MPEG 2, at the start of the side information.
func mainDataBegin(frame []byte, h mp3Header) int {
	start, _ := h.sideInfo()
	if len(frame) < start+2 {
		return 0
	}
	if h.version != 10 {
		return int(frame[start])
	}
	return int(frame[start])<<1 | int(frame[start+1]>>7)
}

// Read returns the current frame and then io.EOF, so that go-mp3 reads no further. It has no
// other error.
func (f *mp3Feed) Read(p []byte) (int, error) {
	if len(f.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.unread)
	f.unread = f.unread[n:]
	return n, nil
}
