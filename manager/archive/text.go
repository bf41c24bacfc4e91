package archive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes one line of text from outside: what controls a terminal, hides or
// reorders text becomes a space, runs of space become one, and no more than
// titleLimit runes are kept.
func clean(s string) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= titleLimit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:titleLimit-1])) + "…"
}

// oneLine is clean without the limit, for names that must stay apart.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || invisible(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	return strings.Join(strings.Fields(s), " ")
}

// invisible reports line separators, and marks that reorder what follows.
func invisible(r rune) bool {
	return r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// wellNamed reports whether a file's name can be shown and stored as it is.
func wellNamed(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || invisible(r)
	})
}
