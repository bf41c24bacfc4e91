package clips

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sanitize makes untrusted text one line of at most titleLimit runes: characters that
// control a terminal, or that hide or reorder text, become spaces, and runs of spaces
// become one.
func sanitize(s string) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= titleLimit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:titleLimit-1])) + "…"
}

// oneLine is sanitize without the limit, for names that must stay distinct.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || invisible(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	return strings.Join(strings.Fields(s), " ")
}

// invisible reports whether r is a line separator or a mark that reorders text.
func invisible(r rune) bool {
	return r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// wellNamed reports whether a file's name can be printed and stored unchanged.
func wellNamed(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || invisible(r)
	})
}
