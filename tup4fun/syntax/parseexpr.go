package syntax

import (
	"math"
	"slices"
	"strconv"
)

var comparisons = []string{"=", "!=", "<=", ">=", "<", ">"}

// expr reads an arithmetic or boolean expression; which it is, resolve finds out. In properties it
// also reads ->, the weakest operator, from right to left.
func (p *parser) expr() (*Expr, error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	if !p.logic {
		return p.binary()
	}
	x, err := p.until()
	if err != nil || !p.Tok.Is("->") {
		return x, err
	}
	op := p.Advance()
	y, err := p.expr()
	return &Expr{Pos: op.Pos, Kind: Binary, Op: "->", X: x, Y: y}, err
}

// until reads X U Y and X W Y, from right to left. U and W are operators only in ltl, and names
// elsewhere.
func (p *parser) until() (*Expr, error) {
	x, err := p.binary()
	if err != nil || !p.temporal || !named(p.Tok, "U") && !named(p.Tok, "W") {
		return x, err
	}
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	op := p.Advance()
	y, err := p.until()
	return &Expr{Pos: op.Pos, Kind: Binary, Op: op.Text, X: x, Y: y}, err
}

// binary reads & and |. & has the higher precedence.
func (p *parser) binary() (*Expr, error) {
	return p.chain([]string{"|", "||"}, func() (*Expr, error) {
		return p.chain([]string{"&", "&&"}, p.not)
	})
}

func (p *parser) atAny(signs []string) bool { return slices.ContainsFunc(signs, p.Tok.Is) }

// not reads !b, quantifiers and temporal operators, which have the same precedence; without one of
// them, a comparison.
func (p *parser) not() (*Expr, error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	x := &Expr{Pos: p.Tok.Pos}
	switch {
	case p.Accept("!"), p.Accept("~"):
		x.Kind = Not
	case p.temporal && p.Accept("[]"):
		x.Kind = Always
	case p.temporal && p.Accept("<>"):
		x.Kind = Finally
	case p.logic && p.ahead.Kind == NameToken && (named(p.Tok, "forall") || named(p.Tok, "exists")):
		return p.quantified()
	case p.logic && p.atNext():
		p.Report(p.Tok.Pos, "there is no next: another process may take a step in between; write [] (a -> <> b), or a U b")
		return nil, ErrBroken
	default:
		return p.comparison()
	}
	var err error
	x.X, err = p.not()
	return x, err
}

// atNext reports whether X is used here as the operator next, which this language does not have: something
// follows that no variable called X can have behind it.
func (p *parser) atNext() bool {
	if !named(p.Tok, "X") {
		return false
	}
	switch p.ahead.Kind {
	case NameToken:
		return p.ahead.Text != "U" && p.ahead.Text != "W" && p.ahead.Text != "under"
	case NumberToken, TextToken:
		return true
	}
	return p.ahead.Kind == WordToken || p.ahead.Is("(") || p.ahead.Is("!") || p.ahead.Is("~") || p.ahead.Is("[]") || p.ahead.Is("<>")
}

// quantified reads forall i in S: b, or exists. b extends as far as possible.
func (p *parser) quantified() (x *Expr, err error) {
	q := p.Advance()
	x = &Expr{Pos: q.Pos, Kind: Forall}
	if q.Text == "exists" {
		x.Kind = Exists
	}
	if x.Name, err = p.name("a name after " + q.Text); err != nil {
		return nil, err
	}
	if !p.acceptName("in") {
		return nil, p.Expected("in and a set, as 1..3")
	}
	if x.Set, err = p.set(); err != nil {
		return nil, err
	}
	if err := p.Need(":", " and a condition on "+x.Name.Text); err != nil {
		return nil, err
	}
	x.X, err = p.expr()
	return x, err
}

// comparison reads a sum, or two with a comparison between them. == and a < b < c have messages of
// their own, because programmers of other languages write them.
func (p *parser) comparison() (*Expr, error) {
	x, err := p.sum()
	if err != nil || !p.atAny(comparisons) {
		return x, err
	}
	op := p.Advance()
	if p.Tok.Is("=") {
		p.Report(p.Tok.Pos, "expected a number, found =; equal is one =")
		return nil, ErrBroken
	}
	y, err := p.sum()
	if err == nil && p.atAny(comparisons) {
		p.Report(p.Tok.Pos, "comparisons do not chain: write a < b & b < c")
		return nil, ErrBroken
	}
	return &Expr{Pos: op.Pos, Kind: Binary, Op: op.Text, X: x, Y: y}, err
}

// sum reads factors with * / % between them, which bind more strongly than the + - between the
// products.
func (p *parser) sum() (*Expr, error) {
	return p.chain([]string{"+", "-"}, func() (*Expr, error) {
		return p.chain([]string{"*", "/", "%"}, p.factor)
	})
}

// chain reads operands from next with any of signs between them. They associate to the left.
func (p *parser) chain(signs []string, next func() (*Expr, error)) (*Expr, error) {
	x, err := next()
	for err == nil && p.atAny(signs) {
		op := p.Advance()
		y, e := next()
		x, err = &Expr{Pos: op.Pos, Kind: Binary, Op: op.Text, X: x, Y: y}, e
	}
	return x, err
}

// factor reads a primary expression behind any number of minus signs. Each sign counts as a level
// of nesting, because each is a call.
func (p *parser) factor() (*Expr, error) {
	if !p.Tok.Is("-") {
		return p.primary()
	}
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	op := p.Advance()
	x, err := p.factor()
	return &Expr{Pos: op.Pos, Kind: Neg, X: x}, err
}

// primary reads a number, a text, a truth value, an expression in parentheses, a call or a
// variable. A number too large is reported, and reading goes on behind it. After another mistake,
// which is reported too, the error is ErrBroken.
func (p *parser) primary() (*Expr, error) {
	t := p.Tok
	switch {
	case t.Kind == NumberToken:
		p.Advance()
		v, err := strconv.ParseInt(t.Text, 10, 64)
		if err != nil || v > math.MaxInt32 {
			p.Report(t.Pos, "%s is too large: numbers go up to %d", t.Text, math.MaxInt32)
		}
		return &Expr{Pos: t.Pos, Kind: Num, Value: v}, nil
	case t.Kind == TextToken:
		p.Advance()
		return &Expr{Pos: t.Pos, Kind: Sym, Text: t.Text}, nil
	case p.Accept("true"):
		return &Expr{Pos: t.Pos, Kind: Bool, Value: 1}, nil
	case p.Accept("false"):
		return &Expr{Pos: t.Pos, Kind: Bool}, nil
	case p.Accept("("):
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		return x, p.Need(")", ", or an operator")
	case t.Kind == NameToken && p.ahead.Is("("):
		return p.call()
	case t.Kind == NameToken && t.Text != "_":
		return p.variable()
	}
	return nil, p.Expected("a number, a variable or (")
}

// call reads count(S, f, f), in a property also count(S, (f, f)), and in ltl events such as put(S,
// f, f). The caller has seen a name and a parenthesis.
func (p *parser) call() (*Expr, error) {
	t := p.Tok
	x := &Expr{Pos: t.Pos, Kind: Count}
	switch Verb(t.Text) {
	case "count":
	case Put, Get, Query:
		if !p.temporal {
			return nil, p.Expected("a number or a variable: events are allowed only in ltl")
		}
		x.Kind, x.Verb = Event, Verb(t.Text)
	default:
		return nil, p.Expected("count, or an operator between " + t.Text + " and (")
	}
	p.Advance()
	p.Advance()
	var err error
	if x.Space, err = p.name("a space"); err != nil {
		return nil, err
	}
	if p.Accept(")") {
		return x, nil
	}
	if err := p.Need(",", " and a template, or )"); err != nil {
		return nil, err
	}
	if p.Tok.Is("(") && p.bracketed() {
		p.Advance()
		if x.Fields, err = p.fields(")"); err != nil {
			return nil, err
		}
		return x, p.Need(")", " after the template")
	}
	x.Fields, err = p.fields(")")
	return x, err
}

// bracketed reports whether the opening parenthesis encloses the whole template, which is
// the case if the parenthesis that closes it is followed by another. It reads ahead with a copy of
// the lexer, so the parser does not move.
func (p *parser) bracketed() bool {
	l := *p.lex
	l.fail = func(Pos, string, ...any) {}
	depth := 1
	for t := p.ahead; depth > 0 && t.Kind != EndToken; t = l.next() {
		switch {
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return depth == 0 && l.next().Is(")")
}
