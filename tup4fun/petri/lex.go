package petri

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"leasehold/tup4fun/syntax"
)

var signs = []string{"->", "{", "}", "[", "]", ",", ":", "*", "="}

type lexer struct{ syntax.Cursor }

// next returns the next token. The text of an illegal token is an error message. A section begins
// with a dot. A /* left here has no end, because skipBlanks has skipped all comments that end.
func (l *lexer) next() syntax.Token {
	t := syntax.Token{Pos: l.skipBlanks()}
	switch rest := l.Rest(); {
	case rest == "":
	case strings.HasPrefix(rest, "/*"):
		l.End()
		t.Kind, t.Text = syntax.IllegalToken, "a comment without */"
	case rest[0] == '"':
		t.Kind, t.Text = l.quoted()
	case rest[0] == '.':
		t.Kind, t.Text = syntax.SeparatorToken, l.Skip(1)+l.Word()
	default:
		t.Kind, t.Text = l.scan()
	}
	return t
}

// scan reads one token; the text is not at its end. A minus sign is part of the word behind
// it, so that the message about a negative weight names the whole number.
func (l *lexer) scan() (syntax.TokenKind, string) {
	if s := l.Sign(signs); s != "" {
		return syntax.SignToken, s
	}
	if l.AtWord() || l.AtDigit() {
		return syntax.WordToken, l.Word()
	}
	if l.Rest()[0] == '-' {
		return syntax.WordToken, l.Skip(1) + l.Word()
	}
	r := l.Rune()
	if !unicode.IsPrint(r) || r == utf8.RuneError {
		return syntax.IllegalToken, "this byte is not a token of .apt"
	}
	return syntax.IllegalToken, string(r) + " is not a token of .apt"
}

// quoted reads a text in quotes, which must end on its line.
func (l *lexer) quoted() (syntax.TokenKind, string) {
	s, ok := l.Quoted("")
	if !ok {
		return syntax.IllegalToken, `a text in quotes must end with " on its line`
	}
	return syntax.TextToken, strings.ToValidUTF8(s, "\uFFFD")
}

// skipBlanks skips white space and comments, and returns the position after them. A comment
// without an end stays.
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
