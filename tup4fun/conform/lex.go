package conform

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"leasehold/tup4fun/syntax"
)

type kind uint8

const (
	eof kind = iota
	word
	number
	text // "quoted"
	sign
	illegal
)

type token struct {
	kind kind
	text string
	pos  syntax.Pos
}

func (t token) is(s string) bool { return (t.kind == sign || t.kind == word) && t.text == s }

// String says what t is in a message.
func (t token) String() string {
	switch t.kind {
	case eof:
		return "the end of the file"
	case text:
		return fmt.Sprintf("%q", t.text)
	}
	return t.text
}

type lexer struct {
	src       string
	at        int
	line      int
	lineStart int
}

var signs = []string{"->", "(", ")", ",", ";", ".", "=", "|"}

func (l *lexer) next() token {
	l.skipBlanks()
	t := token{pos: syntax.Pos{Line: l.line, Col: l.at - l.lineStart + 1}}
	if l.at < len(l.src) {
		t.kind, t.text = l.scan()
	}
	return t
}

func (l *lexer) scan() (kind, string) {
	switch c := l.src[l.at]; {
	case isLetter(c):
		return word, l.take(func(c byte) bool { return isLetter(c) || isDigit(c) })
	case isDigit(c), c == '-' && l.at+1 < len(l.src) && isDigit(l.src[l.at+1]):
		l.at++
		digits := l.take(isDigit)
		return number, l.src[l.at-len(digits)-1 : l.at]
	case c == '"':
		return l.quoted()
	}
	for _, s := range signs {
		if strings.HasPrefix(l.src[l.at:], s) {
			l.at += len(s)
			return sign, s
		}
	}
	r, size := utf8.DecodeRuneInString(l.src[l.at:])
	l.at += size
	return illegal, fmt.Sprintf("%q, which is no sign of a map", r)
}

// quoted reads a string, which ends on its line.
func (l *lexer) quoted() (kind, string) {
	body := l.src[l.at+1:]
	end := strings.IndexAny(body, "\"\n\\")
	if end < 0 || body[end] != '"' {
		l.at = len(l.src)
		return illegal, `a string that does not end with " on its line, or has \ in it`
	}
	l.at += end + 2
	return text, body[:end]
}

func (l *lexer) take(while func(byte) bool) string {
	from := l.at
	for l.at < len(l.src) && while(l.src[l.at]) {
		l.at++
	}
	return l.src[from:l.at]
}

func (l *lexer) skipBlanks() {
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == '\n':
			l.at++
			l.line++
			l.lineStart = l.at
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case strings.HasPrefix(l.src[l.at:], "//"):
			l.take(func(c byte) bool { return c != '\n' })
		default:
			return
		}
	}
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
