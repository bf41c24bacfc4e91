package conform

import (
	"fmt"
	"strings"

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

// String names t in a message.
func (t token) String() string {
	switch t.kind {
	case eof:
		return "the end of the file"
	case text:
		return fmt.Sprintf("%q", t.text)
	}
	return t.text
}

type lexer struct{ syntax.Cursor }

var signs = []string{"->", "(", ")", ",", ";", ".", "=", "|"}

func (l *lexer) next() token {
	for ok := true; ok; {
		l.Blanks()
		_, ok = l.Comment()
	}
	t := token{pos: l.Pos()}
	if l.Rest() != "" {
		t.kind, t.text = l.scan()
	}
	return t
}

// scan reads one token. The source is not at its end. The text of an illegal token is an
// error message.
func (l *lexer) scan() (kind, string) {
	switch rest := l.Rest(); {
	case l.AtWord():
		return word, l.Word()
	case l.AtDigit():
		return number, l.Digits()
	case len(rest) > 1 && rest[0] == '-' && strings.Contains("0123456789", rest[1:2]):
		return number, l.Skip(1) + l.Digits()
	case rest[0] == '"':
		s, ok := l.Quoted(`\`)
		if !ok {
			l.End()
			return illegal, `a string without " at its end on the line, or with \ in it`
		}
		return text, s
	}
	if s := l.Sign(signs); s != "" {
		return sign, s
	}
	return illegal, fmt.Sprintf("%q, which is not a token of a map", l.Rune())
}
