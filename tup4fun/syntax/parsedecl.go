package syntax

import "strings"

// kindLetters are the kinds of spaces.
const kindLetters = "RQSFL"

// decls reads declarations separated by commas, up to the separator.
func (p *parser) decls() {
	for p.tok.kind != eof && p.tok.kind != separator {
		if err := p.decl(); err != nil {
			p.skipTo(",")
		}
		if p.tok.kind == eof || p.tok.kind == separator {
			return
		}
		if !p.accept(",") {
			p.expected(", or ---")
			p.skipTo(",")
			p.accept(",")
		}
	}
}

// decl reads one declaration. A parenthesis is a space if a name and a comma follow,
// otherwise an expression.
func (p *parser) decl() error {
	switch {
	case p.declWord() && p.tok.text == "symbol":
		return p.symbols()
	case p.declWord():
		p.advance()
		return p.constant()
	}
	n, err := p.name("a declaration: x = 0, A = [0, 0], S = (R, INF, {}), const N = 1 or symbol s")
	if err != nil {
		return err
	}
	if err := p.need("=", " and the initial value of "+n.Text); err != nil {
		return err
	}
	d := &Decl{Pos: n.Pos, Name: n}
	switch {
	case p.accept("["):
		d.Kind = ArrayDecl
		d.Values, err = p.exprs("]")
	case p.tok.is("(") && p.ahead.kind == name && p.thirdToken().is(","):
		d.Kind = SpaceDecl
		err = p.space(d)
	default:
		d.Kind = VarDecl
		d.Value, err = p.expr()
	}
	if err == nil {
		p.prog.Decls = append(p.prog.Decls, d)
	}
	return err
}

// symbols reads symbol a, b. A name before = begins the next declaration.
func (p *parser) symbols() error {
	p.advance()
	for {
		n, err := p.name("the name of a symbol")
		if err != nil {
			return err
		}
		p.prog.Decls = append(p.prog.Decls, &Decl{Pos: n.Pos, Kind: SymbolDecl, Name: n})
		if !p.tok.is(",") || p.ahead.kind != name || p.ahead.text == "const" || p.ahead.text == "symbol" {
			return nil
		}
		if p.thirdToken().is("=") {
			return nil
		}
		p.advance()
	}
}

// thirdToken returns the token after p.ahead.
func (p *parser) thirdToken() token {
	l := *p.lex
	l.fail = func(Pos, string, ...any) {}
	return l.next()
}

func (p *parser) constant() error {
	n, err := p.name("the name of a constant")
	if err != nil {
		return err
	}
	if err := p.need("=", " and the value of "+n.Text); err != nil {
		return err
	}
	d := &Decl{Pos: n.Pos, Kind: ConstDecl, Name: n}
	if p.tok.is("{") {
		d.Kind = SetDecl
		d.Set, err = p.set()
	} else {
		at := p.tok.pos
		d.Value, err = p.expr()
		if err == nil && p.accept("..") {
			d.Kind = SetDecl
			d.Set = &Set{Pos: at, Low: d.Value}
			d.Value = nil
			d.Set.High, err = p.expr()
		}
	}
	if err == nil {
		p.prog.Decls = append(p.prog.Decls, d)
	}
	return err
}

// space reads (R, INF, {(1, 2), (3)}).
func (p *parser) space(d *Decl) (err error) {
	p.advance()
	if len(p.tok.text) != 1 || !strings.Contains(kindLetters, p.tok.text) {
		return p.expected("a kind of space: R (random), Q (queue), S (stack), F (first match) or L (last match)")
	}
	d.Space = p.advance().text[0]
	if err := p.need(",", " and the capacity of "+d.Name.Text+" in tuples: a number, or INF"); err != nil {
		return err
	}
	if !p.acceptName("INF") {
		if d.Cap, err = p.expr(); err != nil {
			return err
		}
	}
	if err := p.need(",", " and the tuples of "+d.Name.Text+" in braces: {}"); err != nil {
		return err
	}
	if err := p.need("{", " and the tuples of "+d.Name.Text+": {} or {(1, 2)}"); err != nil {
		return err
	}
	for !p.accept("}") {
		if err := p.need("(", ": a tuple is in parentheses, as (1, 2)"); err != nil {
			return err
		}
		t, err := p.exprs(")")
		if err != nil {
			return err
		}
		d.Tuples = append(d.Tuples, t)
		if !p.tok.is("}") {
			if err := p.need(",", " or }"); err != nil {
				return err
			}
		}
	}
	return p.need(")", " after the tuples of "+d.Name.Text)
}

// exprs reads one or more expressions separated by commas, and the sign end.
func (p *parser) exprs(end string) ([]*Expr, error) {
	return list(p, end, p.expr)
}

// list reads one or more items separated by commas, and the sign end.
func list[T any](p *parser, end string, item func() (T, error)) (all []T, err error) {
	for {
		x, err := item()
		if err != nil {
			return nil, err
		}
		all = append(all, x)
		if p.accept(end) {
			return all, nil
		}
		if err := p.need(",", " or "+end); err != nil {
			return nil, err
		}
	}
}

// set reads {1, 2}, 1..N or the name of a set.
func (p *parser) set() (s *Set, err error) {
	s = &Set{Pos: p.tok.pos}
	if p.accept("{") {
		s.Elems, err = p.exprs("}")
		return s, err
	}
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	if x.Kind == Ref && !p.tok.is("..") {
		s.Name = x.Name
		return s, nil
	}
	if err := p.need("..", ": a set is a range as 1..3, a list as {1, 2}, or its name"); err != nil {
		return nil, err
	}
	s.Low = x
	s.High, err = p.sum()
	return s, err
}
