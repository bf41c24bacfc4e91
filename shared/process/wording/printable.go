package wording

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches the sequences with which text controls a terminal: those of ESC [ and of
// ESC ], which may also begin with one C1 character, and the other ones of ESC.
var escapes = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?|(?:\x1b[\]P^_X]|[\x{9d}\x{90}\x{9e}\x{9f}\x{98}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?|\x1b[ -/]*[0-~]?`)

// Printable returns text as a terminal may show it, because others wrote the text: it removes
// escape sequences and the marks that reorder text, and makes other control characters spaces.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), ""))
}

// OneLine returns text without characters that end a line or control a terminal, and with single spaces.
func OneLine(s string) string {
	return strings.Join(strings.Fields(Printable(s)), " ")
}
