package decode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

const (
	oggHeaderBytes = 27      // of a page, before the table of its segments
	oggFirstPage   = 1 << 1  // the flag of a stream's first page
	maxOggLinks    = maxRuns // each has an ffmpeg of its own
)

// oggSource decodes the links of an Ogg file one after the other, each with an ffmpeg of its own,
// because one ffmpeg stops where the codec changes, and shifts the sound where the rate does.
type oggSource struct {
	*ffmpegSource // of the current link
	ctx           context.Context
	d             Decoder
	in            *input
	links         *oggLinks
	count         int
	tracks        int // with sound, of the first link
}

// newOgg starts to decode the first link of in, which the source owns. After an error the caller
// closes in.
func (d Decoder) newOgg(ctx context.Context, in *input) (*oggSource, error) {
	o := &oggSource{ctx: ctx, d: d, in: in, links: &oggLinks{r: bufio.NewReaderSize(in, blockBytes)}}
	b, _ := o.links.r.Peek(sniffBytes) // an error is found again by the first read
	o.tracks = oggTracks(b)
	return o, o.start()
}

// oggSounds are the first bytes of the first packet of each codec of sound.
var oggSounds = []string{"\x01vorbis", "OpusHead", "\x7fFLAC", "Speex   ", "fLaC"}

// oggTracks returns how many streams with sound have their first page at the start of b, at least 1.
func oggTracks(b []byte) int {
	n := 0
	for len(b) > oggHeaderBytes && string(b[:4]) == "OggS" && b[5]&oggFirstPage != 0 {
		body := oggHeaderBytes + int(b[26])
		length := body
		for _, segment := range b[oggHeaderBytes:min(body, len(b))] {
			length += int(segment)
		}
		if len(b) < length {
			break
		}
		for _, sound := range oggSounds {
			if strings.HasPrefix(string(b[body:length]), sound) {
				n++
			}
		}
		b = b[length:]
	}
	return max(1, n)
}

// start starts the decoder of the current link.
func (o *oggSource) start() error {
	o.links.enter()
	s, err := o.d.ffmpeg(o.ctx, ffmpegInput{demuxer: "ogg", stdin: o.links, size: o.in.size})
	if err != nil {
		return err
	}
	o.ffmpegSource = s
	return nil
}

// read reads the current link, and goes on with the next one at its end.
func (o *oggSource) read(dst []float32) (int, error) {
	for {
		n, err := o.ffmpegSource.read(dst)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		more, err := o.links.more()
		if err != nil {
			return 0, err
		}
		if !more {
			return 0, io.EOF
		}
		if o.count++; o.count > maxOggLinks {
			return 0, invalid("an Ogg of more than %d links", maxOggLinks)
		}
		if err := o.start(); err != nil {
			return 0, err
		}
	}
}

func (o *oggSource) close() error { return errors.Join(o.ffmpegSource.close(), o.in.Close()) }

// oggLinks reads one link of an Ogg file until io.EOF. A link begins with the first pages of its
// streams. A page that is damaged is passed on, because ffmpeg looks for the next one.
type oggLinks struct {
	r       *bufio.Reader
	left    int  // bytes of the current page
	sound   bool // the link has a page that is not the first one of a stream
	between bool // the next page begins another link
	err     error
}

// enter allows Read to read the link that begins at the current page.
func (l *oggLinks) enter() { l.sound, l.between = false, false }

// more skips the rest of the link, and reports whether another one follows. It returns the error of
// the file. No Read may be running.
func (l *oggLinks) more() (bool, error) {
	_, err := io.Copy(io.Discard, struct{ io.Reader }{l})
	return l.between, err
}

// Read returns io.EOF at the end of the link.
func (l *oggLinks) Read(p []byte) (int, error) {
	if l.left == 0 && !l.between && l.err == nil {
		l.page()
	}
	if l.left == 0 {
		if l.between {
			return 0, io.EOF
		}
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	if err != nil {
		l.left, l.err = 0, err
	}
	return n, nil
}

// page sets left to the length of the page that follows, and between before the first page of
// another link. Where no page follows, left is the distance to the next one that may be.
func (l *oggLinks) page() {
	b, err := l.r.Peek(oggHeaderBytes + 255)
	if len(b) == 0 {
		l.err = err
		return
	}
	if len(b) < oggHeaderBytes || string(b[:4]) != "OggS" || len(b) < oggHeaderBytes+int(b[26]) {
		l.left = len(b)
		if next := bytes.Index(b[1:], []byte("OggS")); next >= 0 {
			l.left = 1 + next
		} else if err == nil {
			l.left -= len("OggS") - 1 // it may be cut
		}
		return
	}
	first := b[5]&oggFirstPage != 0 && binary.LittleEndian.Uint32(b[18:]) == 0 // number 0
	l.between = first && l.sound
	if l.between {
		return
	}
	l.sound = l.sound || !first
	segments := b[oggHeaderBytes:][:b[26]]
	l.left = oggHeaderBytes + len(segments)
	for _, n := range segments {
		l.left += int(n)
	}
}
