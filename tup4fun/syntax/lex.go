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

// next returns the next token, and at the end of the source always an EndToken. Illegal input is
// reported and skipped.
func (l *lexer) next() Token {
	for {
		l.skipBlanks()
		t := Token{Pos: l.Pos()}
		if l.Rest() == "" {
			return t
		}
		t.Kind, t.Text = l.scan()
		if t.Kind != IllegalToken {
			return t
		}
		l.fail(t.Pos, "%s", t.Text)
	}
}

// scan reads one token. The source is not at its end. The text of an illegal token is an
// error message.
func (l *lexer) scan() (TokenKind, string) {
	switch {
	case l.atSeparator():
		l.Take(func(c byte) bool { return c == '-' })
		return SeparatorToken, "---"
	case l.AtWord():
		s := l.Word()
		if reserved[s] {
			return WordToken, s
		}
		return NameToken, s
	case l.AtDigit():
		return NumberToken, l.Digits()
	case l.Rest()[0] == '"':
		return l.quoted()
	}
	if p := l.Sign(operators); p != "" {
		return SignToken, p
	}
	return IllegalToken, fmt.Sprintf("%q is not a token of the language", l.Rune())
}

// quoted reads a symbol in quotes, which must end on its line. Else, and for control characters or
// text other than UTF-8, the token is illegal and its text the message.
func (l *lexer) quoted() (TokenKind, string) {
	s, ok := l.Quoted(`\`)
	switch {
	case !ok:
		return IllegalToken, `a symbol in quotes must end with " on its line, without \`
	case strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s):
		return IllegalToken, fmt.Sprintf("%q: want a symbol in UTF-8 without control characters", s)
	}
	return TextToken, s
}

// skipBlanks skips white space and collects comments, for the formatter.
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
	if !strings.HasPrefix(l.Rest(), "---") || !l.beginsLine() {
		return false
	}
	line, _, _ := strings.Cut(l.Rest(), "\n")
	return strings.Trim(line, "- \t\r") == ""
}
