package conform

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"leasehold/tup4fun/syntax"
)

// ParseMap parses a map. The error is a syntax.Errors with up to syntax.MaxErrors errors
// and their positions.
func ParseMap(file, src string) (*Map, error) {
	p := &parser{m: &Map{File: file, Constants: map[string]int64{}, Numbered: map[string]string{}}}
	p.lex = &lexer{syntax.NewCursor(src)}
	if len(src) > MaxMap {
		p.report(syntax.Pos{Line: 1, Col: 1}, "the map has %d bytes; at most %d are read", len(src), MaxMap)
		return nil, p.errs
	}
	p.advance()
	for p.tok.kind != eof && len(p.errs) < syntax.MaxErrors {
		if p.item() != nil {
			p.skipItem()
		}
	}
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return p.m, nil
}

type parser struct {
	lex  *lexer
	tok  token
	m    *Map
	errs syntax.Errors
}

// errBroken ends an item that could not be parsed. The reason is already in errs.
var errBroken = errors.New("broken")

func (p *parser) report(at syntax.Pos, format string, args ...any) {
	p.errs = append(p.errs, &syntax.Error{File: p.m.File, Pos: at, Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) expected(what string) error {
	p.report(p.tok.pos, "expected %s, found %s", what, p.tok)
	return errBroken
}

func (p *parser) advance() token {
	t := p.tok
	p.tok = p.lex.next()
	return t
}

func (p *parser) accept(s string) bool {
	if !p.tok.is(s) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) need(s, why string) error {
	if p.accept(s) {
		return nil
	}
	return p.expected(s + why)
}

func (p *parser) word(what string) (token, error) {
	if p.tok.kind != word {
		return token{}, p.expected(what)
	}
	return p.advance(), nil
}

// skipItem continues after the next semicolon.
func (p *parser) skipItem() {
	for p.tok.kind != eof && !p.accept(";") {
		p.advance()
	}
}

// item reads one item with its semicolon. After an error the caller skips the rest of the
// item.
func (p *parser) item() (err error) {
	at := p.tok.pos
	switch {
	case p.accept("const"):
		err = p.constant()
	case p.accept("instance"):
		p.m.Instance, err = p.names(p.m.Instance, "a variable whose values name an instance")
	case p.accept("number"):
		err = p.numbered()
	case p.tok.is("ignore"), p.tok.is("never"):
		r := &Rule{Pos: at, Never: p.advance().is("never")}
		p.m.Rules = append(p.m.Rules, r)
		err = p.pattern(&r.Event)
	case p.accept("on"):
		err = p.rule(at)
	default:
		return p.expected("const, instance, number, ignore, never or on")
	}
	if err != nil {
		return err
	}
	return p.need(";", " after the item at "+at.String())
}

// numbered reads groups of variables joined by =. The variables of a group share their
// numbers.
func (p *parser) numbered() error {
	for {
		first, err := p.word("a variable whose values are numbered")
		if err != nil {
			return err
		}
		p.m.Numbered[first.text] = first.text
		for p.accept("=") {
			n, err := p.word("a variable that is numbered like " + first.text)
			if err != nil {
				return err
			}
			p.m.Numbered[n.text] = first.text
		}
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) constant() error {
	n, err := p.word("the name of a constant of the model")
	if err != nil {
		return err
	}
	if err := p.need("=", " and the value of "+n.text); err != nil {
		return err
	}
	f, err := p.number()
	p.m.Constants[n.text] = f.Value
	return err
}

func (p *parser) number() (Field, error) {
	t := p.tok
	if t.kind != number {
		return Field{}, p.expected("a number")
	}
	v, err := strconv.ParseInt(t.text, 10, 64)
	if err != nil {
		return Field{}, p.expected("a number of at most 64 bits")
	}
	p.advance()
	return Field{Pos: t.pos, Kind: Number, Value: v, Text: t.text}, nil
}

// names reads names separated by commas.
func (p *parser) names(all []string, what string) ([]string, error) {
	for {
		n, err := p.word(what)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, n.text) {
			all = append(all, n.text)
		}
		if !p.accept(",") {
			return all, nil
		}
	}
}

// rule reads EVENT [by Process[(VARIABLE|nobody)]] -> action, action.
func (p *parser) rule(at syntax.Pos) error {
	r := &Rule{Pos: at}
	if err := p.pattern(&r.Event); err != nil {
		return err
	}
	if p.accept("by") {
		if err := p.by(r); err != nil {
			return err
		}
	}
	if err := p.need("->", " and the actions of the model"); err != nil {
		return err
	}
	for {
		a, err := p.action()
		if err != nil {
			return err
		}
		r.Actions = append(r.Actions, a)
		if !p.accept(",") {
			p.m.Rules = append(p.m.Rules, r)
			return nil
		}
	}
}

func (p *parser) by(r *Rule) error {
	n, err := p.word("a process of the model")
	if err != nil {
		return err
	}
	r.By = n.text
	if !p.accept("(") {
		return nil
	}
	v, err := p.word("the variable with the number of the copy (process: that of the session) or nobody (no session)")
	if err != nil {
		return err
	}
	if r.NoSession = v.text == "nobody"; !r.NoSession {
		r.Copy = v.text
	}
	return p.need(")", "")
}

// action reads Space.put(field, field).
func (p *parser) action() (a Action, err error) {
	a.Pos = p.tok.pos
	n, err := p.word("a space of the model")
	if err != nil {
		return a, err
	}
	a.Space = n.text
	if err := p.need(".", " and put, get or query"); err != nil {
		return a, err
	}
	if !p.tok.is("put") && !p.tok.is("get") && !p.tok.is("query") {
		return a, p.expected("put, get or query")
	}
	a.Verb = p.advance().text
	a.Fields, err = p.fields()
	return a, err
}

// fields reads (field, field).
func (p *parser) fields() (all []Field, err error) {
	if err := p.need("(", " and the fields"); err != nil {
		return nil, err
	}
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		all = append(all, f)
		if p.accept(")") {
			return all, nil
		}
		if err := p.need(",", " or )"); err != nil {
			return nil, err
		}
	}
}

func (p *parser) field() (Field, error) {
	f := Field{Pos: p.tok.pos, Text: p.tok.text}
	switch {
	case p.accept("_"):
	case p.accept("true"):
		f.Kind, f.Value = Number, 1
	case p.accept("false"):
		f.Kind = Number
	case p.tok.kind == word:
		f.Kind = Name
		p.advance()
	case p.tok.kind == text:
		f.Kind = Text
		p.advance()
	case p.tok.kind == number:
		return p.number()
	default:
		return f, p.expected(`_, a name, "text" or a number`)
	}
	return f, nil
}
