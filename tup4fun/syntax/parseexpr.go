package syntax

import (
	"math"
	"slices"
	"strconv"
)

var comparisons = []string{"=", "!=", "<=", ">=", "<", ">"}

// expr reads an arithmetic or boolean expression. resolve distinguishes them.
func (p *parser) expr() (*Expr, error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	if !p.logic {
		return p.binary()
	}
	x, err := p.until()
	if err != nil || !p.tok.is("->") {
		return x, err
	}
	op := p.advance()
	y, err := p.expr()
	return &Expr{Pos: op.pos, Kind: Binary, Op: "->", X: x, Y: y}, err
}

// until reads X U Y and X W Y. U and W are operators only in ltl.
func (p *parser) until() (*Expr, error) {
	x, err := p.binary()
	if err != nil || !p.temporal || !p.tok.named("U") && !p.tok.named("W") {
		return x, err
	}
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	op := p.advance()
	y, err := p.until()
	return &Expr{Pos: op.pos, Kind: Binary, Op: op.text, X: x, Y: y}, err
}

// binary reads & and |. & has the higher precedence.
func (p *parser) binary() (*Expr, error) {
	return p.chain([]string{"|", "||"}, func() (*Expr, error) {
		return p.chain([]string{"&", "&&"}, p.not)
	})
}

func (p *parser) atAny(signs []string) bool { return slices.ContainsFunc(signs, p.tok.is) }

// not reads !b, quantifiers and temporal operators, which have the same precedence.
func (p *parser) not() (*Expr, error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	x := &Expr{Pos: p.tok.pos}
	switch {
	case p.accept("!"), p.accept("~"):
		x.Kind = Not
	case p.temporal && p.accept("[]"):
		x.Kind = Always
	case p.temporal && p.accept("<>"):
		x.Kind = Finally
	case p.logic && p.ahead.kind == name && (p.tok.named("forall") || p.tok.named("exists")):
		return p.quantified()
	default:
		return p.comparison()
	}
	var err error
	x.X, err = p.not()
	return x, err
}

// quantified reads forall i in S: b. b extends as far as possible.
func (p *parser) quantified() (x *Expr, err error) {
	q := p.advance()
	x = &Expr{Pos: q.pos, Kind: Forall}
	if q.text == "exists" {
		x.Kind = Exists
	}
	if x.Name, err = p.name("a name after " + q.text); err != nil {
		return nil, err
	}
	if !p.acceptName("in") {
		return nil, p.expected("in and a set, as 1..3")
	}
	if x.Set, err = p.set(); err != nil {
		return nil, err
	}
	if err := p.need(":", " and a condition on "+x.Name.Text); err != nil {
		return nil, err
	}
	x.X, err = p.expr()
	return x, err
}

func (p *parser) comparison() (*Expr, error) {
	x, err := p.sum()
	if err != nil || !p.atAny(comparisons) {
		return x, err
	}
	op := p.advance()
	if p.tok.is("=") {
		p.report(p.tok.pos, "expected a number, found =; equal is one =")
		return nil, errBroken
	}
	y, err := p.sum()
	if err == nil && p.atAny(comparisons) {
		p.report(p.tok.pos, "comparisons do not chain: write a < b & b < c")
		return nil, errBroken
	}
	return &Expr{Pos: op.pos, Kind: Binary, Op: op.text, X: x, Y: y}, err
}

func (p *parser) sum() (*Expr, error) {
	return p.chain([]string{"+", "-"}, func() (*Expr, error) {
		return p.chain([]string{"*", "/", "%"}, p.factor)
	})
}

// chain reads operands from next with any of signs between them. They associate to the
// left.
func (p *parser) chain(signs []string, next func() (*Expr, error)) (*Expr, error) {
	x, err := next()
	for err == nil && p.atAny(signs) {
		op := p.advance()
		y, e := next()
		x, err = &Expr{Pos: op.pos, Kind: Binary, Op: op.text, X: x, Y: y}, e
	}
	return x, err
}

func (p *parser) factor() (*Expr, error) {
	if !p.tok.is("-") {
		return p.primary()
	}
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	op := p.advance()
	x, err := p.factor()
	return &Expr{Pos: op.pos, Kind: Neg, X: x}, err
}

func (p *parser) primary() (*Expr, error) {
	t := p.tok
	switch {
	case t.kind == number:
		p.advance()
		v, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil || v > math.MaxInt32 {
			p.report(t.pos, "%s is too large: numbers go up to %d", t.text, math.MaxInt32)
		}
		return &Expr{Pos: t.pos, Kind: Num, Value: v}, nil
	case t.kind == text:
		p.advance()
		return &Expr{Pos: t.pos, Kind: Sym, Text: t.text}, nil
	case p.accept("true"):
		return &Expr{Pos: t.pos, Kind: Bool, Value: 1}, nil
	case p.accept("false"):
		return &Expr{Pos: t.pos, Kind: Bool}, nil
	case p.accept("("):
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		return x, p.need(")", ", or an operator")
	case t.kind == name && p.ahead.is("("):
		return p.call()
	case t.kind == name && t.text != "_":
		return p.variable()
	}
	return nil, p.expected("a number, a variable or (")
}

// call reads count(S, f, f), in a property also count(S, (f, f)), and in ltl events such
// as put(S, f, f).
func (p *parser) call() (*Expr, error) {
	t := p.tok
	x := &Expr{Pos: t.pos, Kind: Count}
	switch Verb(t.text) {
	case "count":
	case Put, Get, Query:
		if !p.temporal {
			return nil, p.expected("a number or a variable: events are allowed only in ltl")
		}
		x.Kind, x.Verb = Event, Verb(t.text)
	default:
		return nil, p.expected("count, or an operator between " + t.text + " and (")
	}
	p.advance()
	p.advance()
	var err error
	if x.Space, err = p.name("a space"); err != nil {
		return nil, err
	}
	if p.accept(")") {
		return x, nil
	}
	if err := p.need(",", " and a template, or )"); err != nil {
		return nil, err
	}
	if p.tok.is("(") && p.bracketed() {
		p.advance()
		if x.Fields, err = p.fields(")"); err != nil {
			return nil, err
		}
		return x, p.need(")", " after the template")
	}
	x.Fields, err = p.fields(")")
	return x, err
}

// bracketed reports whether the opening parenthesis encloses the whole template, which is
// the case if the parenthesis that closes it is followed by another.
func (p *parser) bracketed() bool {
	l := *p.lex
	l.fail = func(Pos, string, ...any) {}
	depth := 1
	for t := p.ahead; depth > 0 && t.kind != eof; t = l.next() {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return depth == 0 && l.next().is(")")
}
