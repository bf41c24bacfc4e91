package code

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// The byte orders of UTF-16, by the mark with which a file begins.
var utf16Orders = []struct {
	mark  string
	order binary.AppendByteOrder
	read  binary.ByteOrder
}{
	{"\xff\xfe", binary.LittleEndian, binary.LittleEndian},
	{"\xfe\xff", binary.BigEndian, binary.BigEndian},
}

// DecodeUTF16 returns the text of a file in UTF-16 that begins with a byte order mark, as UTF-8
// without it. ok is false for other files, and for text that would not be the same if it were
// encoded again, because the object id of a blob is checked by its text.
func DecodeUTF16(content []byte) (text []byte, ok bool) {
	for _, o := range utf16Orders {
		rest, marked := bytes.CutPrefix(content, []byte(o.mark))
		if !marked || len(rest)%2 != 0 {
			continue
		}
		units := make([]uint16, len(rest)/2)
		for i := range units {
			units[i] = o.read.Uint16(rest[2*i:])
		}
		text = []byte(string(utf16.Decode(units)))
		return text, bytes.Equal(encodeUTF16(o.mark, o.order, text), content)
	}
	return nil, false
}

// encodeUTF16 returns text in UTF-16 behind a mark.
func encodeUTF16(mark string, order binary.AppendByteOrder, text []byte) []byte {
	encoded := append(make([]byte, 0, 2+2*len(text)), mark...)
	for _, unit := range utf16.Encode([]rune(string(text))) {
		encoded = order.AppendUint16(encoded, unit)
	}
	return encoded
}

// IsTextOf reports whether text is the text of the blob id: its content, or what DecodeUTF16 makes
// of it.
func IsTextOf(id OID, text []byte) bool {
	if OIDLike(id, text) == id {
		return true
	}
	if !utf8.Valid(text) {
		return false
	}
	for _, o := range utf16Orders {
		if OIDLike(id, encodeUTF16(o.mark, o.order, text)) == id {
			return true
		}
	}
	return false
}
