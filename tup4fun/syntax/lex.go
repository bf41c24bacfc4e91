package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type lexer struct {
	Cursor
	comments []Comment
	fail     func(Pos, string, ...any)
}

// next returns the next token. What is no token is reported and passed over.
func (l *lexer) next() token {
	for {
		l.skipBlanks()
		t := token{pos: l.Pos()}
		if t.end = t.pos.Line; l.Rest() == "" {
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
	switch {
	case l.atSeparator():
		l.Take(func(c byte) bool { return c == '-' })
		return separator, "---"
	case l.AtWord():
		s := l.Word()
		if reserved[s] {
			return word, s
		}
		return name, s
	case l.AtDigit():
		return number, l.Digits()
	case l.Rest()[0] == '"':
		return l.quoted()
	}
	if p := l.Sign(puncts); p != "" {
		return punct, p
	}
	return illegal, fmt.Sprintf("%q is no sign of the language", l.Rune())
}

// quoted reads a symbol in quotes, which ends on its line.
func (l *lexer) quoted() (kind, string) {
	s, ok := l.Quoted(`\`)
	switch {
	case !ok:
		return illegal, `a symbol in quotes ends with " on its line, and has no \ in it`
	case strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s):
		return illegal, fmt.Sprintf("%q: a symbol has no control characters, and is UTF-8", s)
	}
	return text, s
}

// skipBlanks passes over blanks, and keeps the comments.
func (l *lexer) skipBlanks() {
	for {
		l.Blanks()
		pos := l.Pos()
		s, ok := l.Comment()
		if !ok {
			return
		}
		l.comments = append(l.comments, Comment{pos, strings.TrimRightFunc(strings.ToValidUTF8(s, "\uFFFD"), unicode.IsSpace)})
	}
}

// atSeparator reports whether a line of --- begins here.
func (l *lexer) atSeparator() bool {
	if !strings.HasPrefix(l.Rest(), "---") || !l.BeginsLine() {
		return false
	}
	line, _, _ := strings.Cut(l.Rest(), "\n")
	return strings.Trim(line, "- \t\r") == ""
}
