package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type lexer struct {
	src       string
	at        int // offset
	line      int
	lineStart int // offset
	comments  []Comment
	fail      func(Pos, string, ...any)
}

func (l *lexer) pos() Pos { return Pos{l.line, l.at - l.lineStart + 1} }

// next returns the next token. What is no token is reported and passed over.
func (l *lexer) next() token {
	for {
		l.skipBlanks()
		t := token{pos: l.pos(), end: l.line}
		if l.at >= len(l.src) {
			return t
		}
		t.kind, t.text = l.scan()
		if t.kind != illegal {
			return t
		}
		l.fail(t.pos, "%s", t.text)
	}
}

func (l *lexer) scan() (kind, string) {
	rest := l.src[l.at:]
	switch c := rest[0]; {
	case l.atSeparator():
		l.at += len(rest) - len(strings.TrimLeft(rest, "-"))
		return separator, "---"
	case isLetter(c):
		s := l.take(func(c byte) bool { return isLetter(c) || isDigit(c) })
		if reserved[s] {
			return word, s
		}
		return name, s
	case isDigit(c):
		return number, l.take(isDigit)
	case c == '"':
		return l.quoted()
	}
	for _, p := range puncts {
		if strings.HasPrefix(rest, p) {
			l.at += len(p)
			return punct, p
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	l.at += size
	return illegal, fmt.Sprintf("%q is no sign of the language", r)
}

// quoted reads a symbol in quotes, which ends on its line.
func (l *lexer) quoted() (kind, string) {
	body := l.src[l.at+1:]
	end := strings.IndexAny(body, "\"\n\\")
	if end < 0 || body[end] != '"' {
		if end < 0 {
			end = len(body)
		}
		l.at += 1 + end
		if l.at < len(l.src) && l.src[l.at] == '\\' {
			l.at++
		}
		return illegal, `a symbol in quotes ends with " on its line, and has no \ in it`
	}
	l.at += end + 2
	s := body[:end]
	if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
		return illegal, fmt.Sprintf("%q: a symbol has no control characters, and is UTF-8", s)
	}
	return text, s
}

func (l *lexer) take(while func(byte) bool) string {
	from := l.at
	for l.at < len(l.src) && while(l.src[l.at]) {
		l.at++
	}
	return l.src[from:l.at]
}

// skipBlanks passes over blanks, and keeps the comments.
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
			pos := l.pos()
			s := l.take(func(c byte) bool { return c != '\n' })
			l.comments = append(l.comments, Comment{pos, strings.TrimRightFunc(strings.ToValidUTF8(s, "\uFFFD"), unicode.IsSpace)})
		default:
			return
		}
	}
}

// atSeparator reports whether a line of --- begins here.
func (l *lexer) atSeparator() bool {
	if !strings.HasPrefix(l.src[l.at:], "---") || strings.TrimSpace(l.src[l.lineStart:l.at]) != "" {
		return false
	}
	line, _, _ := strings.Cut(l.src[l.at:], "\n")
	return strings.Trim(line, "- \t\r") == ""
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
