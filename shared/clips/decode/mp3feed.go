package decode

import (
	"bufio"
	"errors"
	"io"
	"time"
)

var (
	// errCutFrame reports that the file ends within a frame.
	errCutFrame = errors.New("cut frame")
	// errOtherKind reports that frames of another rate, version or layer follow.
	errOtherKind = errors.New("frames of another kind")
)

// mp3Feed finds the frames of an MP3 and passes them to go-mp3 one at a time, so
// that go-mp3 never reads a tag, the Xing frame, or damage between frames.
type mp3Feed struct {
	r      *bufio.Reader
	first  mp3Header // of the current run of frames, which are all of one kind
	info   mp3Info   // of the file; zero after the first run
	frames int64     // of the run so far, without the one that holds the stream's info

	declared time.Duration // by the headers so far, and of runs before them without one
	past     time.Duration // of the runs before
	all      int64         // frames of the runs before
	bad      int64         // frames that could not be decoded

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

// maxRunFrames bounds the frames that the header of a later run may declare: a day at 24 kHz has fewer. A header that
// declares more is wrong, and ignored.
const maxRunFrames = 1 << 22

// surelyFrames is how many frames alike must follow each other to be taken for sound of another kind
// after damage, where two could be chance.
const surelyFrames = 4

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
	f.declared = span(f.info.frames*int64(f.first.samples), f.first.rate)
	f.again = !f.info.present
	return f, nil
}

// nextRun moves to the frames of the other kind that next found, and returns how many samples of
// silence are before their sound: a frame that holds info takes its time when a player plays it.
func (f *mp3Feed) nextRun() (silent int, err error) {
	f.past, f.all = f.played(), f.all+f.frames
	f.frames, f.reservoir, f.info, f.unread = 0, 0, mp3Info{}, nil
	b, err := f.r.Peek(mp3HeaderBytes)
	if err != nil {
		return 0, err
	}
	f.first, _ = parseMP3Header(b)
	b, err = f.r.Peek(f.first.bytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	f.frame = f.frame[:0] // belongs to the run before
	if len(b) < f.first.bytes {
		return 0, nil
	}
	if info := parseMP3Info(b, f.first); info.present {
		_, _ = f.r.Discard(len(b)) // it was peeked
		f.frames, silent = 1, f.first.samples
		if info.frames > 0 && info.frames < maxRunFrames {
			f.declared = max(f.declared, f.past) + span(info.frames*int64(f.first.samples), f.first.rate)
		}
	}
	return silent, nil
}

// played returns how long the frames so far play.
func (f *mp3Feed) played() time.Duration {
	return f.past + span(f.frames*int64(f.first.samples), f.first.rate)
}

// next moves to the next frame. It returns io.EOF at the normal end, errCutFrame if the file ends
// within a frame, errOtherKind before frames of another kind, and an *Error if it finds data that cannot be skipped. After again is set, it
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
	if f.declared-f.played() > mp3Slack || f.declared == 0 && errors.Is(err, errCutFrame) {
		return truncated(f.played(), f.declared)
	}
	return io.EOF
}

// damage returns the error of a file with so many frames that could not be decoded and became
// silence. It is nil if they are too few to report.
func (f *mp3Feed) damage() error {
	all := f.all + f.frames
	if f.bad > minBadFrames && f.bad*maxBadShare > all || all > 0 && f.bad == all {
		return corrupt("damaged: %d of the %d MP3 frames cannot be decoded, and are silence", f.bad, all)
	}
	return nil
}

// header finds the header of the next frame, and skips tags and damage before it. io.EOF is the
// normal end. With errOtherKind the reader is at a frame of another kind.
func (f *mp3Feed) header() (mp3Header, error) {
	if err := skipTags(f.r); err != nil { // the reservoir stays: frames may refer to those before a tag
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
	if ok && mp3Run(b, 2) {
		return h, errOtherKind
	}
	return f.resync(b)
}

// resync finds the next frame after damage, as players do, and leaves f.r at it; b is peeked. It
// skips at most maxLost bytes at a time, and counts them in lost, except those of the first search,
// which are usually the end of a damaged frame. Tags and zeros at the end are io.EOF. More than
// maxLost bytes without a frame give fault.ErrCorrupt. It steps by half of the peeked bytes, so
// that two frames on both sides of a step are found. If at least surelyFrames frames of another
// kind are nearer, it returns errOtherKind.
func (f *mp3Feed) resync(b []byte) (h mp3Header, err error) {
	f.reservoir = 0
	for skipped := 0; ; {
		at := f.sync(b)
		switch {
		case at >= 0:
			_, _ = f.r.Discard(at) // it was peeked
			h, _ = parseMP3Header(b[at:])
			if skipped > 0 {
				f.lost += int64(at)
			}
			if !h.like(f.first) {
				return h, errOtherKind
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

// sync returns the position in b of the next frames of this kind, or of surelyFrames of another
// kind if these are nearer. It returns -1 if there are none.
func (f *mp3Feed) sync(b []byte) int {
	at := syncMP3(b, &f.first)
	before := b
	if at >= 0 {
		before = b[:at]
	}
	for i := range before {
		if b[i] == 0xff && mp3Run(b[i:], surelyFrames) {
			return i
		}
	}
	return at
}

// skipTags skips ID3 tags between frames, which joined files have. It returns io.EOF if the file ends
// within one.
func skipTags(r *bufio.Reader) error {
	for range maxTags {
		b, err := r.Peek(id3v2Header)
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
		if _, err := r.Discard(int(n)); err != nil {
			return err
		}
	}
	return nil
}

func (f *mp3Feed) clock() string {
	return clock(f.played())
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
