package decode

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// mp3Header is the content of the four bytes at the start of an MPEG audio frame.
type mp3Header struct {
	version int // 10, 20 or 25: MPEG 1, 2 and 2.5
	layer   int // 1 to 3
	rate    int // Hz
	mono    bool
	crc     bool
	bytes   int // of the whole frame, header included
	samples int // per channel
}

const (
	mp3HeaderBytes = 4
	// maxSync is how many bytes may precede the first frame of an MP3, and how many
	// bytes of damage between frames are skipped at once.
	maxSync = 1 << 18
)

var (
	mp3Rates = map[int][3]int{10: {44100, 48000, 32000}, 20: {22050, 24000, 16000}, 25: {11025, 12000, 8000}}
	// mp3Kbit: MPEG 1 layers I to III, then MPEG 2 layer I and layers II, III.
	mp3Kbit = [5][15]int{
		{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
		{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
)

// parseMP3Header reads the header that b begins with, and reports whether it is valid. It rejects
// free-format frames, because their header does not give their length.
func parseMP3Header(b []byte) (h mp3Header, ok bool) {
	if len(b) < mp3HeaderBytes || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return h, false
	}
	version, layer := b[1]>>3&3, 4-int(b[1]>>1&3)
	bitrate, rate, padding := int(b[2]>>4), int(b[2]>>2&3), int(b[2]>>1&1)
	if version == 1 || layer == 4 || bitrate == 0 || bitrate == 15 || rate == 3 || b[3]&3 == 2 {
		return h, false
	}
	h = mp3Header{version: [4]int{25, 0, 20, 10}[version], layer: layer, mono: b[3]>>6 == 3, crc: b[1]&1 == 0}
	h.rate = mp3Rates[h.version][rate]
	table := layer - 1
	if h.version != 10 {
		table = min(2+layer, 4)
	}
	bits := mp3Kbit[table][bitrate] * 1000
	switch {
	case layer == 1:
		h.samples, h.bytes = 384, (12*bits/h.rate+padding)*4
	case layer == 3 && h.version != 10:
		h.samples, h.bytes = 576, 72*bits/h.rate+padding
	default:
		h.samples, h.bytes = 1152, 144*bits/h.rate+padding
	}
	return h, true
}

// String names the variety, such as "MPEG 2.5 layer III of 11025 Hz".
func (h mp3Header) String() string {
	version := map[int]string{10: "1", 20: "2", 25: "2.5"}[h.version]
	return fmt.Sprintf("MPEG %s layer %s of %d Hz", version, strings.Repeat("I", h.layer), h.rate)
}

// like reports whether two frames may belong to one stream.
func (h mp3Header) like(o mp3Header) bool {
	return h.version == o.version && h.layer == o.layer && h.rate == o.rate
}

// sideInfo returns where a layer III frame's side information begins and how long it
// is, in bytes.
func (h mp3Header) sideInfo() (start, length int) {
	start = mp3HeaderBytes
	if h.crc {
		start += 2
	}
	switch {
	case h.version == 10 && !h.mono:
		return start, 32
	case h.version != 10 && h.mono:
		return start, 9
	}
	return start, 17
}

// syncMP3 returns the position in b of the first frame that another one like it follows.
// The frame must be like want unless want is nil. It returns -1 if there is none.
func syncMP3(b []byte, want *mp3Header) int {
	for i := 0; i+mp3HeaderBytes <= len(b); i++ {
		h, ok := parseMP3Header(b[i:])
		if !ok || want != nil && !h.like(*want) || i+h.bytes > len(b) {
			continue
		}
		if next, ok := parseMP3Header(b[i+h.bytes:]); ok && next.like(h) {
			return i
		}
	}
	return -1
}

// mp3Run reports whether b begins with at least n frames that are alike. The last one may end after
// b, but its header must be in b.
func mp3Run(b []byte, n int) bool {
	first, ok := parseMP3Header(b)
	for h := first; ok && n > 1; n-- {
		if len(b) < h.bytes {
			return false
		}
		b = b[h.bytes:]
		h, ok = parseMP3Header(b)
		ok = ok && h.like(first)
	}
	return ok
}

// mp3Info is the information about the stream in the first frame, if that frame is not sound.
type mp3Info struct {
	present bool
	frames  int64 // of sound; 0 if not declared
	delay   int   // samples the encoder put before the sound
	padding int   // and after it
}

// parseMP3Info reads a Xing, Info or VBRI header from a whole frame. The result is zero if the
// frame has none, so that it is sound. frames, delay and padding are 0 if the header does not
// state them.
func parseMP3Info(frame []byte, h mp3Header) (info mp3Info) {
	be := binary.BigEndian
	if len(frame) >= 36+18 && string(frame[36:40]) == "VBRI" {
		return mp3Info{present: true, frames: int64(be.Uint32(frame[50:]))}
	}
	start, length := h.sideInfo()
	// Some encoders forget the two bytes of the CRC.
	for _, at := range []int{start + length, mp3HeaderBytes + length} {
		if len(frame) < at+8 || string(frame[at:at+4]) != "Xing" && string(frame[at:at+4]) != "Info" {
			continue
		}
		info.present = true
		b, flags := frame[at+8:], be.Uint32(frame[at+4:])
		if flags&1 != 0 && len(b) >= 4 {
			info.frames = int64(be.Uint32(b))
		}
		for bit, size := range []int{4, 4, 100, 4} {
			if flags>>bit&1 != 0 {
				b = b[min(size, len(b)):]
			}
		}
		if len(b) >= 24 && (string(b[:4]) == "LAME" || string(b[:4]) == "Lavf" || string(b[:4]) == "Lavc") {
			info.delay, info.padding = int(b[21])<<4|int(b[22]>>4), int(b[22]&15)<<8|int(b[23])
		}
		return info
	}
	return info
}
