package decode

// mp3Alone rewrites frames of MPEG 2 and 2.5, layer III, for go-mp3 v0.3.4. go-mp3 counts a
// byte too few if such a frame is padded, because it adds the padding before it halves, and
// it does not know MPEG 2.5. Each rewritten frame stands alone: it has all of its main data,
// at a bitrate and a rate whose frames are long enough for it and need no padding.
//
// Another rate can be used if it has the same scale factor bands. 16,000 Hz has the same bands as
// MPEG 2.5 at 11,025 and 12,000 Hz and, except for short blocks, as 22,050 Hz.
type mp3Alone struct {
	past  []byte // main data before the current frame, at most maxReservoir bytes
	frame []byte
}

// mostAlone is how many bytes a frame of a stream may have if its frames are to stand alone:
// at 160 kbit/s one in thirty, with its main data in earlier frames, is longer than any frame.
const mostAlone = 500

// goMP3Decodes reports whether go-mp3 can decode such a stream, rewritten or not. It cannot
// decode MPEG 2.5 at 8,000 Hz, because no other rate has the same bands.
func goMP3Decodes(h mp3Header) bool {
	return h.layer == 3 && h.rate != 8000 && !(h.wantsRewriting() && h.bytes > mostAlone)
}

// wantsRewriting reports whether go-mp3 can decode a frame only if it stands alone.
// At the other rates of MPEG 2 no frame needs padding.
func (h mp3Header) wantsRewriting() bool { return h.version == 25 || h.rate == 22050 }

// rewrite returns a frame that stands alone and has the same content as the one given, valid
// until the next call. It returns nil if the frame breaks off, or no frame is long enough. A
// frame of MP3 may use data of frames before it, up to maxReservoir bytes, which are kept here
// and copied into the result.
func (a *mp3Alone) rewrite(frame []byte, h mp3Header) []byte {
	start, length := h.sideInfo()
	if len(frame) < start+length {
		return nil
	}
	side, own := frame[start:][:length], frame[start+length:]
	at := len(a.past) - min(int(side[0]), len(a.past))
	a.past = append(a.past, own...)
	data := a.past[at:]
	dataBytes, short := mp3SideInfo(side, h.mono)
	if dataBytes > len(data) {
		return nil
	}
	a.frame = append(a.frame[:0], frame[0], frame[1]|0x11, 0, frame[3]) // MPEG 2, without a CRC
	a.frame = append(append(a.frame, side...), data[:dataBytes]...)
	a.frame[mp3HeaderBytes] = 0 // it refers to no earlier data
	a.past = append(a.past[:0], a.past[max(0, len(a.past)-maxReservoir):]...)
	const at16000 = 2
	rates := []byte{frame[2] >> 2 & 3, at16000}
	if h.version == 25 {
		rates = rates[1:]
	} else if short {
		rates = rates[:1]
	}
	return a.fit(rates)
}

// fit gives the frame the first rate and bitrate whose frames are long enough for it, and fills
// it up with zeros; nil if there is none.
func (a *mp3Alone) fit(rates []byte) []byte {
	for _, rate := range rates {
		for bitrate := byte(1); bitrate < 15; bitrate++ {
			a.frame[2] = bitrate<<4 | rate<<2
			h, ok := parseMP3Header(a.frame)
			if ok && h.bytes >= len(a.frame) {
				return append(a.frame, make([]byte, h.bytes-len(a.frame))...)
			}
		}
	}
	return nil
}

// mp3SideInfo returns how many bytes of main data the side information of an MPEG 2 frame
// declares, and whether the frame has short blocks.
func mp3SideInfo(side []byte, mono bool) (bytes int, short bool) {
	const channelBits = 63
	at, channels := 10, 2
	if mono {
		at, channels = 9, 1
	}
	all := 0
	for range channels {
		all += bitsOf(side, at, 12)
		short = short || bitsOf(side, at+38, 3) == 0b110 // the window switches, to type 2
		at += channelBits
	}
	return (all + 7) / 8, short
}

// bitsOf returns the number in the n bits of b, 16 at most, that begin at the bit from; bits
// behind the end of b are 0.
func bitsOf(b []byte, from, n int) int {
	v := 0
	for i := range 3 {
		v <<= 8
		if at := from/8 + i; at < len(b) {
			v |= int(b[at])
		}
	}
	return v >> (24 - from%8 - n) & (1<<n - 1)
}
