package decode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/go-audio/audio"
)

// fuzz feeds a decoder with damaged files. The decoder must end with a typed error or
// return finite samples, and must not return more sound than the bytes can hold.
func fuzz(f *testing.F, seed string, open func(io.ReadCloser, int64) (source, error)) {
	f.Helper()
	b, err := os.ReadFile("testdata/" + seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add(b[:12])
	f.Fuzz(func(t *testing.T, b []byte) {
		src, err := rescued(b, open)
		if err != nil {
			if typed := (*Error)(nil); !errors.As(err, &typed) && !errors.Is(err, errNeedsFFmpeg) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		s := &Stream{ctx: context.Background(), src: src, rate: src.rateHz()}
		buf := &audio.Float32Buffer{Data: make([]float32, 4096)}
		for {
			n, err := s.Read(buf)
			for _, v := range buf.Data[:n] {
				if !(v >= -maxAmplitude && v <= maxAmplitude) {
					t.Fatal(v)
				}
			}
			if typed := (*Error)(nil); err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &typed) {
				t.Fatalf("%T %v", err, err)
			}
			if err != nil {
				return
			}
			// A FLAC frame of constants is the densest: 65,536 samples in 14 bytes.
			if s.Frames() > int64(len(b)+14)*65536/8 {
				t.Fatalf("%d frames out of %d bytes", s.Frames(), len(b))
			}
		}
	})
}

func rescued(b []byte, open func(io.ReadCloser, int64) (source, error)) (s source, err error) {
	defer rescue(&err)
	return open(io.NopCloser(bytes.NewReader(b)), int64(len(b)))
}

func FuzzWAV(f *testing.F) {
	fuzz(f, "seed.wav", func(r io.ReadCloser, n int64) (source, error) { return newWAV(r, n) })
}

func FuzzMP3(f *testing.F) {
	without := Decoder{WithoutFFmpeg: true}
	var joined []byte
	for _, head := range [][]byte{{0xff, 0xf3, 0x40, 0x40}, {0xff, 0xe3, 0x42, 0xc0}} { // MPEG 2 and 2.5
		h, _ := parseMP3Header(head)
		frame := append(head, make([]byte, h.bytes-len(head))...)
		f.Add(bytes.Repeat(frame, 5))
		joined = append(joined, bytes.Repeat(frame, 5)...)
	}
	f.Add(bytes.Repeat(joined, 3))
	fuzz(f, "seed.mp3", func(r io.ReadCloser, n int64) (source, error) { return without.newMP3(context.Background(), r, n) })
}

func FuzzAIFF(f *testing.F) {
	fuzz(f, "seed.aiff", func(r io.ReadCloser, _ int64) (source, error) { return newAIFF(r) })
}

// FuzzOggLinks checks that every byte of a file is in one of its links, in order.
func FuzzOggLinks(f *testing.F) {
	page := func(flags byte, number byte, body string) []byte {
		b := make([]byte, oggHeaderBytes, oggHeaderBytes+1+len(body))
		copy(b, "OggS")
		b[5], b[18], b[26] = flags, number, 1
		return append(append(b, byte(len(body))), body...)
	}
	link := append(page(oggFirstPage, 0, "OpusHead"), page(0, 1, "sound")...)
	f.Add(bytes.Repeat(link, 3))
	f.Add(append(append(link, "no page"...), link...))
	f.Add(append(link, link[:20]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		links := &oggLinks{r: bufio.NewReaderSize(bytes.NewReader(b), 512)}
		var read []byte
		for more := true; more; {
			links.enter()
			part, err := io.ReadAll(links)
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, part...)
			if more, err = links.more(); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(read, b) {
			t.Fatalf("read %d bytes of %d", len(read), len(b))
		}
	})
}

// FuzzMP3Frames checks that ffmpeg gets whole frames and nothing else.
func FuzzMP3Frames(f *testing.F) {
	b, err := os.ReadFile("testdata/seed.mp3")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(append([]byte("ID3\x04\x00\x00\x00\x00\x00\x01x"), b...))
	f.Fuzz(func(t *testing.T, b []byte) {
		feed, err := newMP3Feed(bytes.NewReader(b))
		if err != nil {
			if typed := (*Error)(nil); !errors.As(err, &typed) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		r := newMP3Frames(feed)
		got, err := io.ReadAll(r)
		if typed := (*Error)(nil); err != nil || r.err == nil || !errors.Is(r.err, io.EOF) && !errors.As(r.err, &typed) {
			t.Fatal(err, r.err)
		}
		for len(got) > 0 {
			h, ok := parseMP3Header(got)
			if !ok || h.bytes > len(got) {
				t.Fatalf("a frame of %d bytes has no header", len(got))
			}
			got = got[h.bytes:]
		}
	})
}

// FuzzWhatFFmpegWrites reads the other end of the pipe: a WAV of unknown length.
func FuzzWhatFFmpegWrites(f *testing.F) {
	fuzz(f, "seed.wav", func(r io.ReadCloser, _ int64) (source, error) {
		s := &wavSource{r: bufio.NewReader(r), closer: r, left: -1}
		_, err := s.readHeader()
		return s, err
	})
}

func FuzzFLAC(f *testing.F) {
	fuzz(f, "seed.flac", func(r io.ReadCloser, _ int64) (source, error) { return newFLAC(r) })
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("ID3\x04\x00\x10\x00\x00\x00\x01xRIFF\x00\x00\x00\x00WAVE"))
	f.Add([]byte("<html>"))
	f.Add([]byte("\x00\x00\x00\x20ftypM4A "))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := &input{r: bufio.NewReaderSize(bytes.NewReader(b), maxSync)}
		format, err := detect(in)
		if rest, _ := in.r.Peek(1); err == nil && (format == "" || len(rest) == 0) {
			t.Fatalf("%q, and %d bytes after it", format, len(rest))
		}
	})
}
