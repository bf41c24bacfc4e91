package syntax

// props reads properties, each followed by a semicolon. From here on -> and quantifiers are
// accepted. After a mistake, which is reported, it goes on behind the next semicolon.
func (p *parser) props() {
	p.logic = true
	for p.Tok.Kind != EndToken && p.Tok.Kind != SeparatorToken {
		pr, err := p.prop()
		if err == nil {
			if err = p.Need(";", " after a property"); err == nil {
				p.prog.Props = append(p.prog.Props, pr)
				continue
			}
		}
		p.skipTo(";")
		p.Accept(";")
	}
}

// prop reads one property. bound and deadlockfree have no name of their own; the others have NAME:
// before their formula. The operators of ltl are accepted only within one (temporal).
func (p *parser) prop() (pr *Property, err error) {
	pr = &Property{Pos: p.Tok.Pos}
	switch {
	case p.acceptName("bound"):
		return pr, p.bound(pr)
	case p.acceptName("deadlockfree"):
		pr.Kind, pr.Name = DeadlockFree, "deadlockfree"
		return pr, p.except(pr)
	case p.acceptName("invariant"):
		pr.Kind = Invariant
	case p.acceptName("eventually"):
		pr.Kind = Eventually
	case p.acceptName("leadsto"):
		pr.Kind = LeadsTo
	case p.acceptName("ltl"):
		pr.Kind, p.temporal = LTL, true
		defer func() { p.temporal = false }()
	default:
		return nil, p.Expected("a property: bound, deadlockfree, invariant, eventually, leadsto or ltl")
	}
	n, err := p.name("the name of the property")
	if err != nil {
		return nil, err
	}
	pr.Name = n.Text
	if err := p.Need(":", " after the name of a property"); err != nil {
		return nil, err
	}
	if pr.X, err = p.expr(); err != nil {
		return nil, err
	}
	if pr.Kind == LeadsTo {
		if err := p.Need("~>", " and the condition that must follow"); err != nil {
			return nil, err
		}
		if pr.Y, err = p.expr(); err != nil {
			return nil, err
		}
	}
	return pr, p.fairness(pr)
}

// fairness reads under weakfair, if it is there. An invariant has none, because it is about single
// states.
func (p *parser) fairness(pr *Property) error {
	if pr.Kind == Invariant || !p.acceptName("under") {
		return nil
	}
	if !p.acceptName("weakfair") {
		return p.Expected("weakfair")
	}
	pr.Fair = true
	return nil
}

// bound reads SPACE <= SUM into pr, which gets a name made of the space.
func (p *parser) bound(pr *Property) (err error) {
	pr.Kind = Bound
	if pr.Space, err = p.name("a space"); err != nil {
		return err
	}
	pr.Name = "bound " + pr.Space.Text
	if err := p.Need("<=", " and a number"); err != nil {
		return err
	}
	pr.X, err = p.sum()
	return err
}

// except reads the places where processes may wait forever: a process, which may then wait
// anywhere, or PROCESS.LABEL. Without the word except there are none.
func (p *parser) except(pr *Property) (err error) {
	if !p.acceptName("except") {
		return nil
	}
	return p.Separated(",", func() error {
		var place Place
		if place.Process, err = p.name("the name of a process that may wait forever"); err != nil {
			return err
		}
		if p.Accept(".") {
			if place.Label, err = p.name("a label in " + place.Process.Text); err != nil {
				return err
			}
		}
		pr.Except = append(pr.Except, place)
		return nil
	})
}
