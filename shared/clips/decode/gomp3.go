package decode

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// goMP3 decodes with go-mp3, a frame at a time.
type goMP3 struct {
	feed   *mp3Feed
	alone  mp3Alone
	dec    *mp3.Decoder // nil before the first frame, and after a damaged one
	raw    []byte       // a frame as go-mp3 gives it: 16 bits, two channels
	stereo stereo
}

func newGoMP3(feed *mp3Feed) *goMP3 {
	return &goMP3{feed: feed, raw: make([]byte, 4*feed.first.samples)}
}

func (*goMP3) close() error { return nil }

// decode decodes one frame. A damaged one becomes silence of the same length and is counted. It
// returns errOtherKind at the end of the run, io.EOF at the end of the file, or the error of the whole file if too much was damaged. An orphan, a
// frame whose data began before the part that is read, counts as damaged.
func (g *goMP3) decode(dst []float32) ([]float32, error) {
	err := g.feed.next()
	if errors.Is(err, errCutFrame) || errors.Is(err, io.EOF) {
		if err = g.feed.ended(err); errors.Is(err, io.EOF) {
			err = cmp.Or(g.feed.damage(), err)
		}
		return dst, err
	}
	if err != nil {
		return dst, err
	}
	ok := g.frame() && !g.feed.orphan
	if !ok {
		clear(g.raw)
		g.feed.bad++
	}
	side, begin := g.stereo.sideBuffer(len(g.raw)/4), len(dst)
	for i := range side {
		raw := g.raw[4*i:]
		l, r := int(int16(binary.LittleEndian.Uint16(raw))), int(int16(binary.LittleEndian.Uint16(raw[2:])))
		dst, side[i] = append(dst, float32(l+r)/(2*32768)), float32(l-r)/(2*32768)
	}
	g.stereo.choose(dst[begin:], side)
	return dst, nil
}

// frame has go-mp3 decode the current frame into raw, and reports whether it could. After a
// failure, also a panic, it drops the decoder and the reservoir, because the next frame then has
// no data to refer back to.
func (g *goMP3) frame() (ok bool) {
	defer func() {
		if p := recover(); p != nil || !ok {
			g.dec, g.feed.reservoir, ok = nil, 0, false
		}
	}()
	if h, _ := parseMP3Header(g.feed.frame); h.wantsRewriting() {
		g.feed.unread = g.alone.rewrite(g.feed.frame, h)
		if g.feed.unread == nil {
			return false
		}
	}
	if g.dec == nil {
		dec, err := mp3.NewDecoder(g.feed)
		if err != nil {
			return false
		}
		g.dec = dec
	}
	_, err := io.ReadFull(g.dec, g.raw)
	return err == nil
}
