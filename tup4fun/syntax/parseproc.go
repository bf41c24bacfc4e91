package syntax

import (
	"slices"
	"strconv"
)

// procs reads par C [] C rap, or one process.
func (p *parser) procs() {
	if !p.accept("par") {
		p.proc()
		if p.tok.kind != eof && p.tok.kind != separator {
			p.expected("; or the end of the program")
			p.skipTo()
		}
		return
	}
	p.prog.par = true
	for {
		p.proc()
		if p.accept("rap") {
			return
		}
		if p.accept("[]") {
			continue
		}
		p.expected("; or [] or rap")
		p.skipTo("[]", "rap")
		if p.tok.kind == eof || p.tok.kind == separator {
			return
		}
		if p.accept("rap") {
			return
		}
		p.advance()
	}
}

// proc reads [5 *] [proc Name[(id)] =] C.
func (p *parser) proc() {
	pr := &Process{Pos: p.tok.pos, Title: "P" + strconv.Itoa(len(p.prog.Procs)+1)}
	p.prog.Procs = append(p.prog.Procs, pr)
	if (p.tok.kind == number || p.tok.kind == name) && p.ahead.is("*") {
		pr.Count, _ = p.primary() // a number or a name: the only possible error is its size, which is reported
		p.accept("*")
	}
	if p.tok.named("proc") && p.ahead.kind == name {
		if err := p.procName(pr); err != nil {
			p.skipTo("=", "[]", "rap")
			p.accept("=")
		}
	}
	pr.Body = p.stmts()
}

func (p *parser) procName(pr *Process) (err error) {
	p.advance()
	if pr.Name, err = p.name("the name of a process"); err != nil {
		return err
	}
	pr.Title = pr.Name.Text
	if p.accept("(") {
		if pr.Param, err = p.name("the name for the number of the copy"); err != nil {
			return err
		}
		if err := p.need(")", ""); err != nil {
			return err
		}
	}
	return p.need("=", " and the statements of "+pr.Title)
}

// stmts reads statements separated by semicolons.
func (p *parser) stmts() []*Stmt {
	var all []*Stmt
	for {
		s, err := p.stmt()
		if err != nil {
			p.skipTo(";", "[]", "fi", "od", "pool", "rap", "}")
		} else {
			all = append(all, s)
		}
		if p.accept(";") {
			continue
		}
		if !p.startsStmt() {
			return all
		}
		p.report(p.tok.pos, "expected ; before the next statement, found %s", p.tok)
	}
}

// startsStmt reports whether a statement certainly begins here.
func (p *parser) startsStmt() bool {
	if p.tok.kind == name {
		return slices.ContainsFunc([]string{".", ":=", "["}, p.ahead.is) || p.tok.text == "atomic" && p.ahead.is("{")
	}
	return slices.ContainsFunc([]string{"skip", "if", "do", "loop"}, p.tok.is)
}

// stmt reads one statement with its label.
func (p *parser) stmt() (s *Stmt, err error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	s = &Stmt{Pos: p.tok.pos, End: p.tok.pos}
	if p.tok.kind == name && p.ahead.is(":") {
		s.Label, _ = p.name("") // never fails, because the token is a name
		p.advance()
	}
	switch {
	case p.accept("skip"):
		return s, nil
	case p.accept("if"):
		s.Kind = If
		return s, p.guards(s, "fi")
	case p.accept("do"):
		s.Kind = Do
		return s, p.guards(s, "od")
	case p.accept("loop"):
		s.Kind = Loop
		return s, p.guards(s, "pool")
	case p.tok.named("var") && p.ahead.kind == name:
		s.Kind = Var
		return s, p.locals(s)
	case p.tok.named("atomic") && p.ahead.is("{"):
		s.Kind = Atomic
		p.advance()
		p.advance()
		s.Body = p.stmts()
		s.End = p.tok.pos
		return s, p.need("}", " after the atomic statements, or ;")
	case p.tok.kind == name && p.ahead.is("."):
		s.Kind = OpStmt
		s.Op, err = p.op()
		return s, err
	case p.tok.kind == name:
		return s, p.assign(s)
	}
	return nil, p.expected("a statement")
}

func (p *parser) locals(s *Stmt) error {
	p.advance()
	for {
		n, err := p.name("the name of a variable")
		if err != nil {
			return err
		}
		s.Names = append(s.Names, n)
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) assign(s *Stmt) (err error) {
	s.Kind = Assign
	if s.Target, err = p.variable(); err != nil {
		return err
	}
	if p.tok.is("=") {
		p.report(p.tok.pos, "expected :=, found =; = compares, := assigns")
		return errBroken
	}
	if err := p.need(":=", " and a value, or . and an operation on a space"); err != nil {
		return err
	}
	s.Value, err = p.expr()
	return err
}

// variable reads x or A[a].
func (p *parser) variable() (*Expr, error) {
	n, err := p.name("a variable")
	if err != nil {
		return nil, err
	}
	x := &Expr{Pos: n.Pos, Kind: Ref, Name: n}
	if p.accept("[") {
		x.Kind = Elem
		if x.X, err = p.expr(); err != nil {
			return nil, err
		}
		err = p.need("]", " after an index")
	}
	return x, err
}

// guards reads G -> C [] G -> C and the closing word.
func (p *parser) guards(s *Stmt, end string) error {
	opened := s.Pos
	for {
		g, err := p.guard()
		if err == nil {
			s.Guards = append(s.Guards, g)
		} else {
			p.skipTo("->", "[]", end, "rap")
			if p.accept("->") {
				p.stmts()
			}
		}
		s.End = p.tok.pos
		if p.accept(end) {
			return nil
		}
		if !p.accept("[]") {
			p.report(p.tok.pos, "expected ; or [] or %s (for the statement at %s), found %s", end, opened, p.tok)
			return errBroken
		}
	}
}

// guard reads a condition, operation, else or timeout, and its statements.
func (p *parser) guard() (g *Guard, err error) {
	g = &Guard{Pos: p.tok.pos}
	switch {
	case p.tok.named("else") && p.ahead.is("->"):
		g.Kind = Else
		p.advance()
	case p.tok.named("timeout") && p.ahead.is("->"):
		g.Kind = Timeout
		p.advance()
	case p.tok.kind == name && p.ahead.is("."):
		g.Kind = OnOp
		if g.Op, err = p.op(); err == nil && (g.Op.Verb == GetP || g.Op.Verb == QueryP) {
			p.report(g.Op.Pos, "a guard already waits for its operation: write %s without p, and else for the case that nothing matches", g.Op.Verb)
		}
	default:
		g.Cond, err = p.expr()
	}
	if err != nil {
		return nil, err
	}
	if err := p.need("->", " after a guard"); err != nil {
		return nil, err
	}
	g.Body = p.stmts()
	return g, nil
}

// op reads S.put(f, f).
func (p *parser) op() (*Op, error) {
	n, err := p.name("a space")
	if err != nil {
		return nil, err
	}
	o := &Op{Pos: n.Pos, Space: n}
	if err := p.need(".", ""); err != nil {
		return nil, err
	}
	const verbs = "put, get, query, getp or queryp"
	v := p.tok
	if v.kind != name {
		return nil, p.expected(verbs)
	}
	switch o.Verb = Verb(v.text); o.Verb {
	case Put, Get, Query, GetP, QueryP:
	default:
		return nil, p.expected(verbs)
	}
	p.advance()
	if err := p.need("(", " and the fields"); err != nil {
		return nil, err
	}
	o.Fields, err = p.fields(")")
	return o, err
}

// fields reads one or more fields separated by commas, and the sign end.
func (p *parser) fields(end string) ([]*Field, error) {
	return list(p, end, func() (f *Field, err error) {
		f = &Field{Pos: p.tok.pos}
		switch {
		case p.accept("?"):
			f.Kind = Formal
			f.Name, err = p.name("a variable after ?")
		case p.acceptName("_"):
			f.Kind = Any
		default:
			f.X, err = p.expr()
		}
		return f, err
	})
}
