package decode

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	sniffBytes = 4096 // bytes at the start of a file that are read to detect its format
	// maxTags bounds how many ID3 tags may stand before the sound. Editors add a
	// second; a ninth is not expected.
	maxTags = 8
	// leastZeros is how many zeros before the sound are skipped at least. Formats begin with a few, such as the length
	// of a box in MP4.
	leastZeros = 64
)

// A magic is the byte sequence that identifies a container. Formats that this package
// does not decode have the names of ffmpeg's demuxers. One demuxer is forced, because
// ffmpeg would otherwise guess: if it took a text for a playlist, it would open the
// files that the text names.
type magic struct {
	at     int
	bytes  string
	format string
}

var magics = []magic{
	{0, flacMagic, "flac"},
	{0, "OggS", "ogg"},
	{4, "ftyp", "mov"},
	{0, "\x1a\x45\xdf\xa3", "matroska"},
	{0, "RF64", "wav"},
	{0, "BW64", "wav"},
	{0, "FORM", "aiff"},
	{0, ".snd", "au"},
	{0, "caff", "caf"},
	{0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"},
	{0, "#!AMR", "amr"},
	{0, "wvpk", "wv"},
	{0, "MAC ", "ape"},
	{0, "TTA1", "tta"},
	{0, "\x0b\x77", "ac3"}, // E-AC3 too
}

const accepted = "expected WAV, AIFF, MP3, FLAC, or (through ffmpeg) Ogg, MP4/M4A, AAC, Matroska, AU, CAF, ASF, AMR, WavPack, APE, TTA or AC-3"

// detect returns the name of the format of in, and leaves in at the first byte after its ID3 tags.
func detect(in *input) (format string, err error) {
	head, err := in.skipTags()
	if err == nil {
		head, err = in.skipZeros(head)
	}
	if err != nil {
		return "", err
	}
	if format = formatOf(head); format != "" {
		return format, nil
	}
	begin := string(head[:min(8, len(head))]) // Peek may move the buffer that head is in
	what, isText := lookalike(head)
	frames := 2
	if isText {
		frames = surelyFrames
	}
	if what == "" || isText {
		if format, err = in.skipJunk(frames); format != "" || err != nil {
			return format, err
		}
	}
	if what != "" {
		return "", invalid("looks like %s, not audio", what)
	}
	return "", invalid("not a known audio format (begins %q): %s", begin, accepted)
}

// formatOf returns the name of the format that a file begins with, "" if it is unknown.
func formatOf(head []byte) string {
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WAVE" {
		return "wav"
	}
	for _, m := range magics {
		if len(head) >= m.at+len(m.bytes) && string(head[m.at:m.at+len(m.bytes)]) == m.bytes {
			return m.format
		}
	}
	if len(head) >= 7 && head[0] == 0xff && head[1]&0xf6 == 0xf0 {
		return "aac"
	}
	if _, ok := parseMP3Header(head); ok {
		return "mp3"
	}
	return ""
}

// skipJunk returns the format of the sound behind what in begins with, "" if there is none in the first maxSync bytes:
// some servers write a warning or a page before the recording. The sound begins with an ID3 tag, which may be longer
// than that and is skipped with the junk, or it is MP3 of so many frames, whose decoder skips the junk itself.
func (in *input) skipJunk(frames int) (format string, err error) {
	b, _ := in.r.Peek(maxSync) // a read error only makes b shorter
	for at := range b {
		switch {
		case mp3Run(b[at:], frames):
			return "mp3", nil
		case id3Size(b[at:]) > 0:
			in.skipped = true
			_, _ = in.r.Discard(at) // it was peeked
			head, err := in.skipTags()
			if format = formatOf(head); format == "" && err == nil {
				if b, _ = in.r.Peek(maxSync); syncMP3(b, nil) >= 0 {
					format = "mp3"
				}
			}
			return format, err
		}
	}
	return "", nil
}

// skipTags skips ID3v2 tags and returns up to sniffBytes after them, which stay unread.
func (in *input) skipTags() (head []byte, err error) {
	for i := range maxTags {
		head, err = in.r.Peek(sniffBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(head) == 0 && i == 0 {
			return nil, invalid("empty: 0 bytes")
		}
		if len(head) == 0 {
			return nil, corrupt("truncated: an ID3 tag, and no sound after it")
		}
		tag := id3Size(head)
		if tag == 0 {
			return head, nil
		}
		if _, err := in.r.Discard(int(tag)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return nil, invalid("more than %d ID3 tags", maxTags)
}

// skipZeros skips the zeros that head begins with, at most maxLost, and tags behind them, as some servers and cut
// recordings have them before the sound. If there are only zeros, or fewer than leastZeros, which a format may
// begin with, it returns head.
func (in *input) skipZeros(head []byte) ([]byte, error) {
	if zeros(head) < leastZeros {
		return head, nil
	}
	skipped := 0
	for skipped < maxLost {
		b, err := in.r.Peek(sniffBytes)
		n := zeros(b)
		if _, discardErr := in.r.Discard(n); discardErr != nil {
			return nil, discardErr
		}
		skipped += n
		in.skipped = true
		if n < len(b) {
			return in.skipTags()
		}
		if err != nil {
			break
		}
	}
	return nil, invalid("not a known audio format (%d zeros): %s", skipped, accepted)
}

// zeros returns how many zeros b begins with.
func zeros(b []byte) int {
	n := 0
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// id3Size returns the length of the ID3v2 tag that b begins with, or 0 if there is none. Its four
// bytes of length have 7 bits each. In place of its version, 2 to 4, a text has a letter or a space.
func id3Size(b []byte) int64 {
	if len(b) < 10 || string(b[:3]) != "ID3" || b[3] >= ' ' || (b[6]|b[7]|b[8]|b[9])&0x80 != 0 {
		return 0
	}
	size := int64(b[6])<<21 | int64(b[7])<<14 | int64(b[8])<<7 | int64(b[9])
	if b[5]&0x10 != 0 { // a footer
		size += 10
	}
	return size + 10
}

// lookalike names the type that a file without audio seems to have, "" if unknown, and reports whether it is a text.
// The error quotes it, because servers often answer with a page.
func lookalike(head []byte) (what string, isText bool) {
	t, _, _ := strings.Cut(http.DetectContentType(head), ";")
	trimmed := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	switch {
	case t == "text/html":
		return "an HTML page", true
	case t == "text/xml":
		return "an XML document", true
	case t == "text/plain" && len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
		return "a JSON document", true
	case t == "text/plain":
		return "text", true
	case strings.HasPrefix(t, "image/") || strings.HasPrefix(t, "font/"),
		t == "application/pdf", t == "application/zip", t == "application/x-gzip":
		return t, false
	}
	return "", false
}
