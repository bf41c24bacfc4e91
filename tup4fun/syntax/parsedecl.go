package syntax

import "strings"

// kindLetters are the kinds of spaces.
const kindLetters = "RQSFL"

// decls reads declarations separated by commas, up to the separator. After a mistake, which is
// reported, it goes on behind the next comma.
func (p *parser) decls() {
	for p.Tok.Kind != EndToken && p.Tok.Kind != SeparatorToken {
		if err := p.decl(); err != nil {
			p.skipTo(",")
		}
		if p.Tok.Kind == EndToken || p.Tok.Kind == SeparatorToken {
			return
		}
		if !p.Accept(",") {
			p.Expected(", or ---")
			p.skipTo(",")
			p.Accept(",")
		}
	}
}

// decl reads one declaration into the program. A parenthesis is a space if a name and a comma
// follow, otherwise an expression. After a mistake, which is reported, it adds nothing and
// returns ErrBroken.
func (p *parser) decl() error {
	switch {
	case p.declWord() && p.Tok.Text == "symbol":
		return p.symbols()
	case p.declWord():
		p.Advance()
		return p.constant()
	}
	n, err := p.name("a declaration: x = 0, A = [0, 0], S = (R, INF, {}), const N = 1 or symbol s")
	if err != nil {
		return err
	}
	if err := p.Need("=", " and the initial value of "+n.Text); err != nil {
		return err
	}
	d := &Decl{Pos: n.Pos, Name: n}
	switch {
	case p.Accept("["):
		d.Kind = ArrayDecl
		d.Values, err = p.exprs("]")
	case p.Tok.Is("(") && p.ahead.Kind == NameToken && p.thirdToken().Is(","):
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

// symbols reads symbol a, b and stands at the comma or sign behind the last. A name before = begins
// the next declaration, and so do the words const and symbol. After a mistake the symbols read
// before stay declared.
func (p *parser) symbols() error {
	p.Advance()
	for {
		n, err := p.name("the name of a symbol")
		if err != nil {
			return err
		}
		p.prog.Decls = append(p.prog.Decls, &Decl{Pos: n.Pos, Kind: SymbolDecl, Name: n})
		if !p.Tok.Is(",") || p.ahead.Kind != NameToken || p.ahead.Text == "const" || p.ahead.Text == "symbol" {
			return nil
		}
		if p.thirdToken().Is("=") {
			return nil
		}
		p.Advance()
	}
}

// thirdToken returns the token after p.ahead.
func (p *parser) thirdToken() Token {
	l := *p.lex
	l.fail = func(Pos, string, ...any) {}
	return l.next()
}

// constant reads NAME = EXPRESSION, which is a number, or NAME = {…} or NAME = LOW..HIGH, which
// are sets. Whether it is a range is known only behind its first expression. After a mistake,
// which is reported, it declares nothing and returns ErrBroken.
func (p *parser) constant() error {
	n, err := p.name("the name of a constant")
	if err != nil {
		return err
	}
	if err := p.Need("=", " and the value of "+n.Text); err != nil {
		return err
	}
	d := &Decl{Pos: n.Pos, Kind: ConstDecl, Name: n}
	if p.Tok.Is("{") {
		d.Kind = SetDecl
		d.Set, err = p.set()
	} else {
		at := p.Tok.Pos
		d.Value, err = p.expr()
		if err == nil && p.Accept("..") {
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

// space reads (R, INF, {(1, 2), (3)}) into d: the kind, the capacity, which stays nil for INF, and
// the initial tuples. After a mistake d is incomplete.
func (p *parser) space(d *Decl) (err error) {
	p.Advance()
	if len(p.Tok.Text) != 1 || !strings.Contains(kindLetters, p.Tok.Text) {
		return p.Expected("a kind of space: R (random), Q (queue), S (stack), F (first match) or L (last match)")
	}
	d.Space = p.Advance().Text[0]
	if err := p.Need(",", " and the capacity of "+d.Name.Text+" in tuples: a number, or INF"); err != nil {
		return err
	}
	if !p.acceptName("INF") {
		if d.Cap, err = p.expr(); err != nil {
			return err
		}
	}
	if err := p.Need(",", " and the tuples of "+d.Name.Text+" in braces: {}"); err != nil {
		return err
	}
	if err := p.Need("{", " and the tuples of "+d.Name.Text+": {} or {(1, 2)}"); err != nil {
		return err
	}
	for !p.Accept("}") {
		if err := p.Need("(", ": a tuple is in parentheses, as (1, 2)"); err != nil {
			return err
		}
		t, err := p.exprs(")")
		if err != nil {
			return err
		}
		d.Tuples = append(d.Tuples, t)
		if !p.Tok.Is("}") {
			if err := p.Need(",", " or }"); err != nil {
				return err
			}
		}
	}
	return p.Need(")", " after the tuples of "+d.Name.Text)
}

// exprs reads one or more expressions separated by commas, and the sign end. After a mistake, which
// is reported, it returns ErrBroken.
func (p *parser) exprs(end string) ([]*Expr, error) {
	return separatedList(p, end, p.expr)
}

// separatedList reads one or more items separated by commas, and the sign end. After the first mistake,
// its own or one of item, it returns no items and ErrBroken.
func separatedList[T any](p *parser, end string, item func() (T, error)) (all []T, err error) {
	for {
		x, err := item()
		if err != nil {
			return nil, err
		}
		all = append(all, x)
		if p.Accept(end) {
			return all, nil
		}
		if err := p.Need(",", " or "+end); err != nil {
			return nil, err
		}
	}
}

// set reads {1, 2}, 1..N or the name of a set. Values are computed when names are resolved.
func (p *parser) set() (s *Set, err error) {
	s = &Set{Pos: p.Tok.Pos}
	if p.Accept("{") {
		s.Elems, err = p.exprs("}")
		return s, err
	}
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	if x.Kind == Ref && !p.Tok.Is("..") {
		s.Name = x.Name
		return s, nil
	}
	if err := p.Need("..", ": a set is a range as 1..3, a list as {1, 2}, or its name"); err != nil {
		return nil, err
	}
	s.Low = x
	s.High, err = p.sum()
	return s, err
}
