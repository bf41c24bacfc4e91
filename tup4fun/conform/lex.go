package conform

import (
	"fmt"
	"strings"

	"leasehold/tup4fun/syntax"
)

type lexer struct{ syntax.Cursor }

var signs = []string{"->", "(", ")", ",", ";", ".", "=", "|"}

// next returns the next token behind blanks and comments; at the end of the text, one
// without a kind and a text.
func (l *lexer) next() syntax.Token {
	for ok := true; ok; {
		l.Blanks()
		_, ok = l.Comment()
	}
	t := syntax.Token{Pos: l.Pos()}
	if l.Rest() != "" {
		t.Kind, t.Text = l.scan()
	}
	return t
}

// scan reads one token. The source is not at its end. The text of an illegal token is an
// error message.
func (l *lexer) scan() (syntax.TokenKind, string) {
	switch rest := l.Rest(); {
	case l.AtWord():
		return syntax.WordToken, l.Word()
	case l.AtDigit():
		return syntax.NumberToken, l.Digits()
	case len(rest) > 1 && rest[0] == '-' && strings.Contains("0123456789", rest[1:2]):
		return syntax.NumberToken, l.Skip(1) + l.Digits()
	case rest[0] == '"':
		s, ok := l.Quoted(`\`)
		if !ok {
			l.End()
			return syntax.IllegalToken, `a string without " at its end on the line, or with \ in it`
		}
		return syntax.TextToken, s
	}
	if s := l.Sign(signs); s != "" {
		return syntax.SignToken, s
	}
	return syntax.IllegalToken, fmt.Sprintf("%q, which is not a token of a map", l.Rune())
}
