package repair

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Misread returns a text as it was before a program read its UTF-8 as windows-1252 ("cafÃ©"), and reports whether
// that is certain: all its characters beyond ASCII are such bytes, and at least one letter, or one character of three
// bytes, comes of it.
func Misread(s string) (string, bool) {
	bytes := make([]byte, 0, len(s))
	high := false
	for _, r := range s {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if !ok && r < 0x100 { // U+0081 and the like, which windows-1252 does not have
			b, ok = byte(r), true
		}
		if !ok {
			return s, false
		}
		high = high || b >= utf8.RuneSelf
		bytes = append(bytes, b)
	}
	if !high || !utf8.Valid(bytes) {
		return s, false
	}
	certain := false
	for _, r := range string(bytes) {
		certain = certain || r >= utf8.RuneSelf && unicode.IsLetter(r) || r >= 0x800
		if unicode.IsControl(r) && r >= utf8.RuneSelf {
			return s, false
		}
	}
	if !certain {
		return s, false
	}
	return string(bytes), true
}
