package syntax

import (
	"slices"
	"strconv"
)

// procs reads par C [] C rap, or one process, into the program. After a mistake, which is
// reported, it goes on behind the next [], so that the other processes are read too.
func (p *parser) procs() {
	if !p.Accept("par") {
		p.proc()
		if p.Tok.Kind != EndToken && p.Tok.Kind != SeparatorToken {
			p.Expected("; or the end of the program")
			p.skipTo()
		}
		return
	}
	p.prog.par = true
	for {
		p.proc()
		if p.Accept("rap") {
			return
		}
		if p.Accept("[]") {
			continue
		}
		p.Expected("; or [] or rap")
		p.skipTo("[]", "rap")
		if p.Tok.Kind == EndToken || p.Tok.Kind == SeparatorToken {
			return
		}
		if p.Accept("rap") {
			return
		}
		p.Advance()
	}
}

// proc reads [5 *] [proc Name[(id)] =] C into the program. A process without a name has the title
// P and its number, for messages. Mistakes are reported, and the process is added anyway.
func (p *parser) proc() {
	pr := &Process{Pos: p.Tok.Pos, Title: "P" + strconv.Itoa(len(p.prog.Procs)+1)}
	p.prog.Procs = append(p.prog.Procs, pr)
	if (p.Tok.Kind == NumberToken || p.Tok.Kind == NameToken) && p.ahead.Is("*") {
		pr.Count, _ = p.primary() // a number or a name: the only possible error is its size, which is reported
		p.Accept("*")
	}
	if named(p.Tok, "proc") && p.ahead.Kind == NameToken {
		if err := p.procName(pr); err != nil {
			p.skipTo("=", "[]", "rap")
			p.Accept("=")
		}
	}
	pr.Body = p.stmts()
}

// procName reads proc NAME =, or proc NAME(COPY) = for a process with copies, into pr.
func (p *parser) procName(pr *Process) (err error) {
	p.Advance()
	if pr.Name, err = p.name("the name of a process"); err != nil {
		return err
	}
	pr.Title = pr.Name.Text
	if p.Accept("(") {
		if pr.Param, err = p.name("the name for the number of the copy"); err != nil {
			return err
		}
		if err := p.Need(")", ""); err != nil {
			return err
		}
	}
	return p.Need("=", " and the statements of "+pr.Title)
}

// stmts reads statements separated by semicolons, up to a token that cannot begin one. A
// statement with a mistake, which is reported, is skipped and missing in the result.
func (p *parser) stmts() []*Stmt {
	var all []*Stmt
	for {
		s, err := p.stmt()
		if err != nil {
			p.skipTo(";", "[]", "fi", "od", "pool", "rap", "}")
		} else {
			all = append(all, s)
		}
		if p.Accept(";") {
			continue
		}
		if !p.startsStmt() {
			return all
		}
		p.Report(p.Tok.Pos, "expected ; before the next statement, found %s", p.Tok)
	}
}

// startsStmt reports whether a statement certainly begins here.
func (p *parser) startsStmt() bool {
	if p.Tok.Kind == NameToken {
		return slices.ContainsFunc([]string{".", ":=", "["}, p.ahead.Is) || p.Tok.Text == "atomic" && p.ahead.Is("{")
	}
	return slices.ContainsFunc([]string{"skip", "if", "do", "loop"}, p.Tok.Is)
}

// stmt reads one statement with its label. End is the place of its closing word. After a mistake
// the statement is incomplete.
func (p *parser) stmt() (s *Stmt, err error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.exitNesting()
	s = &Stmt{Pos: p.Tok.Pos, End: p.Tok.Pos}
	if p.Tok.Kind == NameToken && p.ahead.Is(":") {
		if s.Label, err = p.name("a label"); err != nil {
			return nil, err
		}
		p.Advance()
	}
	switch {
	case p.Accept("skip"):
		return s, nil
	case p.Accept("if"):
		s.Kind = If
		return s, p.guards(s, "fi")
	case p.Accept("do"):
		s.Kind = Do
		return s, p.guards(s, "od")
	case p.Accept("loop"):
		s.Kind = Loop
		return s, p.guards(s, "pool")
	case named(p.Tok, "var") && p.ahead.Kind == NameToken:
		s.Kind = Var
		return s, p.locals(s)
	case named(p.Tok, "atomic") && p.ahead.Is("{"):
		s.Kind = Atomic
		p.Advance()
		p.Advance()
		s.Body = p.stmts()
		s.End = p.Tok.Pos
		return s, p.Need("}", " after the atomic statements, or ;")
	case p.Tok.Kind == NameToken && p.ahead.Is("."):
		s.Kind = OpStmt
		s.Op, err = p.op()
		return s, err
	case p.Tok.Kind == NameToken:
		return s, p.assign(s)
	}
	return nil, p.Expected("a statement")
}

// locals reads var x, y into s. After a mistake s is incomplete.
func (p *parser) locals(s *Stmt) error {
	p.Advance()
	return p.Separated(",", func() error {
		n, err := p.name("the name of a variable")
		s.Names = append(s.Names, n)
		return err
	})
}

// assign reads VARIABLE := EXPRESSION into s. A single = has a message of its own, because it is
// the assignment of other languages.
func (p *parser) assign(s *Stmt) (err error) {
	s.Kind = Assign
	if s.Target, err = p.variable(); err != nil {
		return err
	}
	if p.Tok.Is("=") {
		p.Report(p.Tok.Pos, "expected :=, found =; = compares, := assigns")
		return ErrBroken
	}
	if err := p.Need(":=", " and a value, or . and an operation on a space"); err != nil {
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
	if p.Accept("[") {
		x.Kind = Elem
		if x.X, err = p.expr(); err != nil {
			return nil, err
		}
		err = p.Need("]", " after an index")
	}
	return x, err
}

// guards reads G -> C [] G -> C and the closing word end into s. A guard with a mistake, which is
// reported, is missing in s, but its statements are read. The error, ErrBroken, means that
// neither [] nor end follows.
func (p *parser) guards(s *Stmt, end string) error {
	opened := s.Pos
	for {
		g, err := p.guard()
		if err == nil {
			s.Guards = append(s.Guards, g)
		} else {
			p.skipTo("->", "[]", end, "rap")
			if p.Accept("->") {
				p.stmts()
			}
		}
		s.End = p.Tok.Pos
		if p.Accept(end) {
			return nil
		}
		if !p.Accept("[]") {
			p.Report(p.Tok.Pos, "expected ; or [] or %s (for the statement at %s), found %s", end, opened, p.Tok)
			return ErrBroken
		}
	}
}

// guard reads a condition, operation, else or timeout, and its statements. An operation as a
// guard already waits until it can be executed or another guard is true, so getp and queryp are
// reported. The error of another mistake, which is reported too, is ErrBroken.
func (p *parser) guard() (g *Guard, err error) {
	g = &Guard{Pos: p.Tok.Pos}
	switch {
	case named(p.Tok, "else") && p.ahead.Is("->"):
		g.Kind = Else
		p.Advance()
	case named(p.Tok, "timeout") && p.ahead.Is("->"):
		g.Kind = Timeout
		p.Advance()
	case p.Tok.Kind == NameToken && p.ahead.Is("."):
		g.Kind = OnOp
		if g.Op, err = p.op(); err == nil && (g.Op.Verb == GetP || g.Op.Verb == QueryP) {
			p.Report(g.Op.Pos, "a guard already waits for its operation: write %s without p, and else for the case that nothing matches", g.Op.Verb)
		}
	default:
		g.Cond, err = p.expr()
	}
	if err != nil {
		return nil, err
	}
	if err := p.Need("->", " after a guard"); err != nil {
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
	if err := p.Need(".", ""); err != nil {
		return nil, err
	}
	const verbs = "put, get, query, getp or queryp"
	v := p.Tok
	if v.Kind != NameToken {
		return nil, p.Expected(verbs)
	}
	switch o.Verb = Verb(v.Text); o.Verb {
	case Put, Get, Query, GetP, QueryP:
	default:
		return nil, p.Expected(verbs)
	}
	p.Advance()
	if err := p.Need("(", " and the fields"); err != nil {
		return nil, err
	}
	o.Fields, err = p.fields(")")
	return o, err
}

// fields reads one or more fields separated by commas, and the sign end: ?x, _ or an expression.
func (p *parser) fields(end string) ([]*Field, error) {
	return separatedList(p, end, func() (f *Field, err error) {
		f = &Field{Pos: p.Tok.Pos}
		switch {
		case p.Accept("?"):
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
