package syntax

import (
	"strings"
	"unicode/utf8"
)

// Cursor goes through a source from its beginning, and knows its place. The lexers of
// programs, of maps and of nets are made of it. The zero Cursor is at the end of an
// empty source.
type Cursor struct {
	src       string
	at        int // offset
	newlines  int
	lineStart int // offset
}

// NewCursor begins at the beginning of src.
func NewCursor(src string) Cursor { return Cursor{src: src} }

// Pos returns the place in the source.
func (c *Cursor) Pos() Pos { return Pos{c.newlines + 1, c.at - c.lineStart + 1} }

// Rest returns what is still to come; at the end it is empty.
func (c *Cursor) Rest() string { return c.src[c.at:] }

// BeginsLine reports whether only blanks are before it on the line.
func (c *Cursor) BeginsLine() bool { return strings.TrimSpace(c.src[c.lineStart:c.at]) == "" }

// End gives up the rest.
func (c *Cursor) End() { c.at = len(c.src) }

// Skip passes over n bytes, and returns them.
func (c *Cursor) Skip(n int) string {
	s := c.src[c.at : c.at+n]
	c.at += n
	if lines := strings.Count(s, "\n"); lines > 0 {
		c.newlines += lines
		c.lineStart = c.at - len(s) + strings.LastIndexByte(s, '\n') + 1
	}
	return s
}

// Take passes over the bytes for which while is true, and returns them.
func (c *Cursor) Take(while func(byte) bool) string {
	n := 0
	for rest := c.Rest(); n < len(rest) && while(rest[n]); {
		n++
	}
	return c.Skip(n)
}

// Word passes over letters, digits and _.
func (c *Cursor) Word() string {
	return c.Take(func(b byte) bool { return isLetter(b) || isDigit(b) })
}

// Digits passes over digits.
func (c *Cursor) Digits() string { return c.Take(isDigit) }

// Blanks passes over blanks and the ends of lines.
func (c *Cursor) Blanks() {
	c.Take(func(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' })
}

// Comment passes over "// …" to the end of the line, if one begins here.
func (c *Cursor) Comment() (text string, ok bool) {
	if !strings.HasPrefix(c.Rest(), "//") {
		return "", false
	}
	return c.Take(func(b byte) bool { return b != '\n' }), true
}

// Quoted passes over "a text" and returns it without its quotes. It ends on its line
// and has none of the bytes of without; else ok is false, and what was passed over is
// the text up to there.
func (c *Cursor) Quoted(without string) (text string, ok bool) {
	body := c.Rest()[1:]
	end := strings.IndexAny(body, "\"\n"+without)
	switch {
	case end < 0:
		end = len(body)
	case body[end] == '"':
		c.Skip(end + 2)
		return body[:end], true
	case body[end] != '\n':
		end++
	}
	c.Skip(1 + end)
	return "", false
}

// Sign passes over the first of signs that is here; "" is none of them.
func (c *Cursor) Sign(signs []string) string {
	for _, s := range signs {
		if strings.HasPrefix(c.Rest(), s) {
			return c.Skip(len(s))
		}
	}
	return ""
}

// Rune passes over one, which is utf8.RuneError where the source is not UTF-8.
func (c *Cursor) Rune() rune {
	r, size := utf8.DecodeRuneInString(c.Rest())
	c.Skip(size)
	return r
}

// AtWord reports whether a letter or _ is here.
func (c *Cursor) AtWord() bool { rest := c.Rest(); return rest != "" && isLetter(rest[0]) }

// AtDigit reports whether a digit is here.
func (c *Cursor) AtDigit() bool { rest := c.Rest(); return rest != "" && isDigit(rest[0]) }

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
