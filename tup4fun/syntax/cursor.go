package syntax

import (
	"strings"
	"unicode/utf8"
)

// Cursor reads a source from its beginning and tracks the position. The lexers of
// programs, maps and nets embed it. The zero Cursor is at the end of an empty source.
type Cursor struct {
	src       string
	at        int // offset
	newlines  int
	lineStart int // offset
	initLines int // lines of the initialisation, behind which a separator is; 0: there is none
}

// NewCursor returns a cursor at the beginning of src.
func NewCursor(src string) Cursor { return Cursor{src: src} }

// Pos returns the current position. That of the separator behind an initialisation is the end of
// the initialisation.
func (c *Cursor) Pos() Pos {
	at := Pos{Line: c.newlines + 1, Col: c.at - c.lineStart + 1}
	switch {
	case c.initLines == 0:
	case c.newlines < c.initLines:
		at.Init = true
	case c.newlines == c.initLines:
		init := strings.TrimRight(c.src[:c.lineStart], " \t\r\n")
		return Pos{strings.Count(init, "\n") + 1, len(init) - strings.LastIndexByte(init, '\n'), true}
	default:
		at.Line -= c.initLines + 1
	}
	return at
}

// Rest returns the unread source. It is empty at the end.
func (c *Cursor) Rest() string { return c.src[c.at:] }

// beginsLine reports whether the line has only blanks before the cursor.
func (c *Cursor) beginsLine() bool { return strings.TrimSpace(c.src[c.lineStart:c.at]) == "" }

// End moves the cursor to the end of the source.
func (c *Cursor) End() { c.at = len(c.src) }

// Skip advances by n bytes and returns them.
func (c *Cursor) Skip(n int) string {
	s := c.src[c.at : c.at+n]
	c.at += n
	if lines := strings.Count(s, "\n"); lines > 0 {
		c.newlines += lines
		c.lineStart = c.at - len(s) + strings.LastIndexByte(s, '\n') + 1
	}
	return s
}

// Take advances while the next byte satisfies while, and returns the bytes.
func (c *Cursor) Take(while func(byte) bool) string {
	n := 0
	for rest := c.Rest(); n < len(rest) && while(rest[n]); {
		n++
	}
	return c.Skip(n)
}

// Word reads letters, digits and _.
func (c *Cursor) Word() string {
	return c.Take(func(b byte) bool { return isLetter(b) || isDigit(b) })
}

// Digits reads digits.
func (c *Cursor) Digits() string { return c.Take(isDigit) }

// Blanks skips white space and line ends.
func (c *Cursor) Blanks() {
	c.Take(func(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' })
}

// Comment reads a comment "// …" to the end of the line. ok reports whether there is one.
func (c *Cursor) Comment() (text string, ok bool) {
	if !strings.HasPrefix(c.Rest(), "//") {
		return "", false
	}
	return c.Take(func(b byte) bool { return b != '\n' }), true
}

// Quoted reads "a text", at whose opening quote the cursor is, and returns it without its quotes. A
// text must end on its line and may not contain the bytes in without; otherwise ok is false and the
// cursor is after the invalid text.
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

// Sign reads the first of signs that Rest begins with, or returns "".
func (c *Cursor) Sign(signs []string) string {
	for _, s := range signs {
		if strings.HasPrefix(c.Rest(), s) {
			return c.Skip(len(s))
		}
	}
	return ""
}

// Rune reads one rune, or utf8.RuneError if the source is not UTF-8.
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
