package petri

import (
	"errors"
	"strings"

	"leasehold/tup4fun/syntax"
)

// Parse parses a net in the .apt format. The error is an Errors with up to MaxErrors
// errors.
func Parse(file, src string) (*Net, error) {
	p, err := newParser(file, src)
	if err != nil {
		return nil, err
	}
	p.file()
	p.resolve()
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return p.net, nil
}

// ParseMarking parses a marking of n in the notation of .apt, {p0, 2*p8}, with or without
// braces. The error is an Errors; file is the file name in it.
func ParseMarking(n *Net, file, src string) (Marking, error) {
	if !strings.HasPrefix(strings.TrimSpace(src), "{") {
		src = "{" + src + "}"
	}
	p, err := newParser(file, src)
	if err != nil {
		return nil, err
	}
	p.net = n
	for i, name := range n.Places {
		p.places[name] = i
	}
	if bag, err := p.bag(); err == nil {
		if p.tok.kind != end {
			p.expected("the end")
		}
		if m := p.marking(bag); len(p.errs) == 0 {
			return m, nil
		}
	}
	return nil, p.errs
}

func newParser(file, src string) (*parser, error) {
	p := &parser{fileName: file, net: &Net{}, lex: &lexer{syntax.NewCursor(src)},
		places: map[string]int{}, transitions: map[string]int{}, flowAt: map[string]syntax.Pos{}}
	if len(src) > MaxSource {
		p.report(syntax.Pos{Line: 1, Col: 1}, "the file has %d bytes; at most %d are read", len(src), MaxSource)
		return nil, p.errs
	}
	p.advance()
	return p, nil
}

type parser struct {
	fileName    string
	lex         *lexer
	tok         token
	net         *Net
	errs        Errors
	places      map[string]int
	transitions map[string]int
	flows       []flow
	flowAt      map[string]syntax.Pos // by transition
	sections    map[string]syntax.Pos
	initial     bag
	final       []bag
}

// flow is one line of .flows. Its names are not resolved yet.
type flow struct {
	transition token
	in, out    bag
}

// errBroken ends a construct that could not be parsed. The reason is already in errs.
var errBroken = errors.New("broken")

// report records an error. After MaxErrors it ends the input.
func (p *parser) report(at syntax.Pos, format string, args ...any) {
	if p.errs.Add(p.fileName, at, format, args...); len(p.errs) > MaxErrors {
		p.lex.End()
	}
}

func (p *parser) expected(what string) error {
	p.report(p.tok.pos, "expected %s, found %s", what, p.tok)
	return errBroken
}

// advance moves to the next token and returns the current one. Illegal tokens are
// reported and skipped.
func (p *parser) advance() token {
	was := p.tok
	for {
		if p.tok = p.lex.next(); p.tok.kind != illegal {
			return was
		}
		p.report(p.tok.pos, "%s", p.tok.text)
	}
}

func (p *parser) at(s string) bool { return p.tok.kind == sign && p.tok.text == s }

// accept reads the sign s, and reports whether it was here.
func (p *parser) accept(s string) bool {
	if p.at(s) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(s string) error {
	if !p.accept(s) {
		return p.expected(s)
	}
	return nil
}

// name reads the name of a place or transition.
func (p *parser) name(what string) (token, error) {
	if p.tok.kind != word || strings.HasPrefix(p.tok.text, "-") {
		return token{}, p.expected(what)
	}
	return p.advance(), nil
}
