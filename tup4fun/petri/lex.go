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
	sign         // one of signs
	illegal
)

var signs = []string{"->", "{", "}", "[", "]", ",", ":", "*", "="}

type token struct {
	kind kind
	text string
	pos  syntax.Pos
}

// String names the token in a message.
func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the file"
	case quoted:
		return `"` + t.text + `"`
	}
	return t.text
}

type lexer struct{ syntax.Cursor }

// next returns the next token. The text of an illegal token is an error message.
func (l *lexer) next() token {
	t := token{pos: l.skipBlanks()}
	switch rest := l.Rest(); {
	case rest == "":
	case strings.HasPrefix(rest, "/*"): // skipBlanks has skipped all comments that end
		l.End()
		t.kind, t.text = illegal, "a comment without */"
	case rest[0] == '"':
		t.kind, t.text = l.quoted()
	case rest[0] == '.':
		t.kind, t.text = section, l.Skip(1)+l.Word()
	default:
		t.kind, t.text = l.scan()
	}
	return t
}

func (l *lexer) scan() (kind, string) {
	if s := l.Sign(signs); s != "" {
		return sign, s
	}
	if l.AtWord() || l.AtDigit() {
		return word, l.Word()
	}
	if l.Rest()[0] == '-' {
		return word, l.Skip(1) + l.Word()
	}
	r := l.Rune()
	if !unicode.IsPrint(r) || r == utf8.RuneError {
		return illegal, "this byte is not a token of .apt"
	}
	return illegal, string(r) + " is not a token of .apt"
}

// quoted reads a text in quotes, which must end on its line.
func (l *lexer) quoted() (kind, string) {
	s, ok := l.Quoted("")
	if !ok {
		return illegal, `a text in quotes must end with " on its line`
	}
	return quoted, strings.ToValidUTF8(s, "\uFFFD")
}

// skipBlanks skips white space and comments, and returns the position after them.
func (l *lexer) skipBlanks() syntax.Pos {
	for {
		l.Blanks()
		if _, ok := l.Comment(); ok {
			continue
		}
		body, begins := strings.CutPrefix(l.Rest(), "/*")
		n := strings.Index(body, "*/")
		if !begins || n < 0 {
			return l.Pos()
		}
		l.Skip(n + 4)
	}
}
