package petri

import (
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
	if len(p.Errs) > 0 {
		return nil, p.Errs
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
		if p.Tok.Kind != syntax.EndToken {
			p.Expected("the end")
		}
		if m := p.marking(bag); len(p.Errs) == 0 {
			return m, nil
		}
	}
	return nil, p.Errs
}

// newParser returns a parser that stands at the first token of src. It refuses a source over
// MaxSource bytes.
func newParser(file, src string) (*parser, error) {
	p := &parser{net: &Net{}, lex: &lexer{syntax.NewCursor(src)},
		places: map[string]int{}, transitions: map[string]int{}, flowAt: map[string]syntax.Pos{}}
	p.TokenParser = syntax.TokenParser{File: file, Next: p.next, End: p.lex.End}
	if len(src) > MaxSource {
		p.Report(syntax.Pos{Line: 1, Col: 1}, "the file has %d bytes; at most %d are read", len(src), MaxSource)
		return nil, p.Errs
	}
	p.Advance()
	return p, nil
}

// A method of parser that cannot read its construct reports why in Errs and returns
// syntax.ErrBroken.
type parser struct {
	syntax.TokenParser
	lex         *lexer
	net         *Net
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
	transition syntax.Token
	in, out    bag
}

// next reads the next token. Illegal tokens are reported and skipped.
func (p *parser) next() syntax.Token {
	for {
		t := p.lex.next()
		if t.Kind != syntax.IllegalToken {
			return t
		}
		p.Report(t.Pos, "%s", t.Text)
	}
}

// name reads the name of a place or transition; the message for another token quotes what.
func (p *parser) name(what string) (syntax.Token, error) {
	if p.Tok.Kind != syntax.WordToken || strings.HasPrefix(p.Tok.Text, "-") {
		return syntax.Token{}, p.Expected(what)
	}
	return p.Advance(), nil
}
