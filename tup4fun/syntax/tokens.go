package syntax

import (
	"errors"
	"strconv"
)

// TokenKind is the kind of a Token.
type TokenKind uint8

// The kinds of tokens.
const (
	EndToken       TokenKind = iota // the end of the source
	NameToken                       // a name
	NumberToken                     // digits
	TextToken                       // "a text", without its quotes
	SeparatorToken                  // begins a part of the file
	WordToken                       // a word that Is recognizes
	SignToken                       // a sign, such as := or ->
	IllegalToken                    // Text is an error message
)

// Token is one token of a source.
type Token struct {
	Kind TokenKind
	Text string
	Pos  Pos
}

// Is reports whether t is the word or the sign s.
func (t Token) Is(s string) bool { return (t.Kind == SignToken || t.Kind == WordToken) && t.Text == s }

// String names t in a message, a text with its quotes.
func (t Token) String() string {
	switch t.Kind {
	case EndToken:
		return "the end of the file"
	case TextToken:
		return strconv.Quote(t.Text)
	default:
		return t.Text
	}
}

// TokenParser is the part that the recursive-descent parsers of programs, maps and nets
// have in common.
type TokenParser struct {
	File     string       // in messages
	InitFile string       // in messages about positions with Pos.Init
	Tok      Token        // the current token
	Next     func() Token // reads the next token
	End      func()       // moves to the end of the source
	Errs     Errors
}

// ErrBroken ends a construct that could not be parsed. The reason is already in Errs.
var ErrBroken = errors.New("broken")

// Report records an error. After MaxErrors it ends the source.
func (p *TokenParser) Report(at Pos, format string, args ...any) {
	file := p.File
	if at.Init {
		file = p.InitFile
	}
	if p.Errs.Add(file, at, format, args...); len(p.Errs) > MaxErrors {
		p.End()
	}
}

// Expected reports that the current token is not what was expected, and returns ErrBroken.
func (p *TokenParser) Expected(what string) error {
	p.Report(p.Tok.Pos, "expected %s, found %s", what, p.Tok)
	return ErrBroken
}

// Advance moves to the next token and returns the one before.
func (p *TokenParser) Advance() Token {
	t := p.Tok
	p.Tok = p.Next()
	return t
}

// Accept reads the word or sign s, and reports whether it was here.
func (p *TokenParser) Accept(s string) bool {
	if !p.Tok.Is(s) {
		return false
	}
	p.Advance()
	return true
}

// Separated calls item until no sep follows, and stops at the first error.
func (p *TokenParser) Separated(sep string, item func() error) error {
	for {
		if err := item(); err != nil || !p.Accept(sep) {
			return err
		}
	}
}

// Need reads s, or reports that s is expected and returns ErrBroken; what completes the sentence.
func (p *TokenParser) Need(s, what string) error {
	if p.Accept(s) {
		return nil
	}
	return p.Expected(s + what)
}
