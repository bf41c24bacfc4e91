package repair

import (
	"bytes"
	"encoding/xml"
	"html"
	"strconv"
	"strings"
)

// maxReference is the length of the longest name of HTML for a character, with & and ;.
const maxReference = 40

// reference returns what replaces the reference at the beginning of m, its size, and the kind of fault, empty if it
// is none. A size of 0 leaves it as it is. The names of HTML are replaced by their characters. An & that begins no
// reference, and an entity of a document, become text.
func reference(m []byte) (text string, size int, kind string) {
	end := bytes.IndexAny(m[1:min(len(m), maxReference)], ";&< \t\r\n\"'")
	if end < 1 || m[1+end] != ';' {
		return "&amp;", 1, `bare "&"`
	}
	name := string(m[1 : 1+end])
	size = end + 2
	switch name {
	case "amp", "lt", "gt", "quot", "apos":
		return "", 0, ""
	}
	if name[0] == '#' {
		return numeric(name[1:], size)
	}
	whole := "&" + name + ";"
	if plain := html.UnescapeString(whole); plain != whole && plain != html.UnescapeString("&"+name)+";" {
		return escape(plain), size, ""
	}
	return "&amp;", 1, "unknown entity"
}

// numeric is reference for the number of a character.
func numeric(number string, size int) (string, int, string) {
	digits, base, kind := number, 10, ""
	if strings.HasPrefix(number, "x") || strings.HasPrefix(number, "X") {
		digits, base = number[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil && !strings.Contains(err.Error(), "range"):
		return "&amp;", 1, `bare "&"`
	case err != nil || n > 0x10ffff || !allowed(rune(n)):
		return "", size, "reference to a character that XML does not have"
	case n >= 0x80 && n < 0xa0: // HTML reads them as windows-1252
		return escape(html.UnescapeString("&#" + number + ";")), size, ""
	case number[0] == 'X':
		kind = `"&#X" in upper case`
		return escape(string(rune(n))), size, kind
	}
	return "", 0, ""
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder has no errors
	return b.String()
}
