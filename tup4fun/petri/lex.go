package petri

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"leasehold/tup4fun/syntax"
)

type kind uint8

const (
	end     kind = iota
	section      // .places
	word         // a name or a number
	quoted       // "a text", without its quotes
	sign         // one of { } [ ] , : * = and ->
	illegal
)

type token struct {
	kind kind
	text string
	pos  syntax.Pos
}

// String is the token as a message has it.
func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the file"
	case quoted:
		return `"` + t.text + `"`
	}
	return t.text
}

type lexer struct {
	src       string
	at        int
	line      int
	lineStart int
}

func (l *lexer) pos() syntax.Pos { return syntax.Pos{Line: l.line, Col: l.at - l.lineStart + 1} }

// next returns the next token. One that is illegal has its message as text.
func (l *lexer) next() token {
	if t, broken := l.skipBlanks(); broken {
		return t
	}
	t := token{pos: l.pos()}
	if l.at >= len(l.src) {
		return t
	}
	rest := l.src[l.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "->"):
		t.kind, t.text = sign, l.skip(2)
	case strings.IndexByte("{}[],:*=", c) >= 0:
		t.kind, t.text = sign, l.skip(1)
	case c == '"':
		t.kind, t.text = l.quoted()
	case c == '.':
		t.kind, t.text = section, l.skip(1)+l.word()
	case inWord(c), c == '-':
		t.kind, t.text = word, l.skip(1)+l.word()
	default:
		r, size := utf8.DecodeRuneInString(rest)
		l.skip(size)
		t.kind, t.text = illegal, string(r)+" is no sign of .apt"
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			t.text = "this byte is no sign of .apt"
		}
	}
	return t
}

func (l *lexer) skip(n int) string {
	s := l.src[l.at : l.at+n]
	l.at += n
	return s
}

func (l *lexer) word() string {
	n := 0
	for l.at+n < len(l.src) && inWord(l.src[l.at+n]) {
		n++
	}
	return l.skip(n)
}

func inWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// quoted reads a text in quotes, which ends on its line.
func (l *lexer) quoted() (kind, string) {
	body := l.src[l.at+1:]
	to := strings.IndexAny(body, "\"\n")
	if to < 0 || body[to] == '\n' {
		if to < 0 {
			to = len(body)
		}
		l.skip(1 + to)
		return illegal, `a text in quotes ends with " on its line`
	}
	l.skip(to + 2)
	return quoted, strings.ToValidUTF8(body[:to], "\uFFFD")
}

// skipBlanks passes over blanks and comments. It fails in a comment without end.
func (l *lexer) skipBlanks() (token, bool) {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch c := rest[0]; {
		case c == '\n':
			l.newline()
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		case strings.HasPrefix(rest, "/*"):
			if t := (token{illegal, "this comment has no */", l.pos()}); !l.comment() {
				return t, true
			}
		default:
			return token{}, false
		}
	}
	return token{}, false
}

func (l *lexer) newline() {
	l.at++
	l.line++
	l.lineStart = l.at
}

// comment passes over one between /* and */, and reports whether it ends.
func (l *lexer) comment() bool {
	for l.at += 2; l.at < len(l.src); {
		switch {
		case strings.HasPrefix(l.src[l.at:], "*/"):
			l.at += 2
			return true
		case l.src[l.at] == '\n':
			l.newline()
		default:
			l.at++
		}
	}
	return false
}
