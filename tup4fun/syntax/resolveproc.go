package syntax

// resolveProcesses resolves the processes in order. Local variables are numbered from 0 in each
// process.
func (r *resolver) resolveProcesses() {
	for _, p := range r.prog.Procs {
		r.proc = p
		if p.Name != nil {
			r.declare(r.globals, p.Name, ProcName)
		}
		if p.Count != nil {
			if n := r.computeConstant(p.Count); n < 1 || n > maxCopies {
				r.errorf(p.Count.Pos, "want 1 to %d copies of a process, got %d", maxCopies, n)
			}
		}
		r.locals, r.counts[LocalVar] = map[string]*Object{}, 0
		r.labels[p] = map[string]bool{}
		if p.Param != nil {
			r.declare(r.locals, p.Param, Param)
		}
		r.resolveStmts(p.Body, false)
	}
	r.proc, r.locals = nil, nil
}

// resolveStmts resolves statements; atomic is whether they are inside an atomic block.
func (r *resolver) resolveStmts(all []*Stmt, atomic bool) {
	for _, s := range all {
		r.resolveStmt(s, atomic)
	}
}

// resolveStmt resolves the names in a statement and reports a label that the process has already.
// Inside atomic, labels are refused too, because they name places where a process waits.
func (r *resolver) resolveStmt(s *Stmt, atomic bool) {
	if s.Label != nil {
		if r.labels[r.proc][s.Label.Text] {
			r.errorf(s.Label.Pos, "%s already has a label %s", r.proc.Title, s.Label.Text)
		}
		if atomic {
			r.errorf(s.Label.Pos, "a process cannot wait inside atomic: put the label %s before it", s.Label.Text)
		}
		r.labels[r.proc][s.Label.Text] = true
	}
	switch s.Kind {
	case Assign:
		r.resolveTarget(s.Target)
		r.resolveNumber(s.Value)
	case If, Do, Loop:
		r.resolveGuards(s, atomic)
	case OpStmt:
		r.resolveOp(s.Op)
	case Var:
		for _, n := range s.Names {
			r.declare(r.locals, n, LocalVar)
		}
	case Atomic:
		if atomic {
			r.errorf(s.Pos, "atomic inside atomic")
		}
		r.resolveStmts(s.Body, true)
	}
}

// resolveTarget resolves the left side of an assignment, a variable or an element of an array;
// constants and the number of a copy are reported.
func (r *resolver) resolveTarget(x *Expr) {
	if x.Kind == Ref {
		r.resolveName(x.Name, SharedVar, LocalVar)
		return
	}
	r.resolveName(x.Name, SharedArray)
	r.resolveNumber(x.X)
}

// resolveGuards resolves the guards of an if, do or loop and their bodies; atomic is whether they are
// inside an atomic block. A second else is reported, and a timeout inside atomic.
func (r *resolver) resolveGuards(s *Stmt, atomic bool) {
	var elses int
	for _, g := range s.Guards {
		switch g.Kind {
		case When:
			r.resolveCondition(g.Cond)
		case OnOp:
			r.resolveOp(g.Op)
		case Else:
			if elses++; elses > 1 {
				r.errorf(g.Pos, "a second else")
			}
		case Timeout:
			if atomic {
				r.errorf(g.Pos, "timeout is not allowed inside atomic, because it depends on the whole program")
			}
		}
		r.resolveStmts(g.Body, atomic)
	}
}

func (r *resolver) resolveOp(o *Op) {
	r.resolveName(o.Space, SpaceName)
	r.resolveTemplate(o.Fields, o.Verb)
}

// resolveTemplate resolves the fields of an operation, or of count or an event, for which verb is "".
// Fields that verb does not allow are reported: put needs values, and only get and query set
// variables, each once.
func (r *resolver) resolveTemplate(fields []*Field, verb Verb) {
	seen := map[string]bool{}
	for _, f := range fields {
		switch f.Kind {
		case Actual:
			r.resolveNumber(f.X)
		case Any:
			if verb == Put {
				r.errorf(f.Pos, "put needs a value for each field: _ is only for get and query")
			}
		case Formal:
			r.resolveFormal(f, verb, seen)
		}
	}
}

// resolveFormal resolves ?variable in a template of an operation, or in one that counts
// or is an event, whose verb is empty. seen has the variables of the template so far.
func (r *resolver) resolveFormal(f *Field, verb Verb, seen map[string]bool) {
	switch {
	case verb == Put:
		r.errorf(f.Pos, "put needs a value for each field: ?%s is only for get and query", f.Name.Text)
	case verb == "":
		r.errorf(f.Pos, "?%s would set a variable here: write _", f.Name.Text)
	case seen[f.Name.Text]:
		r.errorf(f.Pos, "?%s occurs twice in one template: get the second into another variable, and compare", f.Name.Text)
	default:
		r.resolveName(f.Name, SharedVar, LocalVar)
	}
	seen[f.Name.Text] = true
}

// resolveNumber resolves x, which must be arithmetic.
func (r *resolver) resolveNumber(x *Expr) { r.resolveAs(x, false) }

// resolveCondition resolves x, which must be boolean.
func (r *resolver) resolveCondition(x *Expr) { r.resolveAs(x, true) }

// resolveAs resolves x as a condition, if truth is true, or as a number. It reports x if it is the
// other of the two.
func (r *resolver) resolveAs(x *Expr, truth bool) {
	if r.resolveExpr(x) == truth {
		return
	}
	if truth {
		r.errorf(x.Pos, "expected a condition, found a number: compare it")
	} else {
		r.errorf(x.Pos, "expected a number, found a condition")
	}
}

// resolveExpr resolves x and returns whether it is boolean; otherwise it is arithmetic. A mistake
// inside is reported, and does not change the result.
func (r *resolver) resolveExpr(x *Expr) (truth bool) {
	switch x.Kind {
	case Bool:
		return true
	case Sym:
		x.Value = r.prog.symbol(x.Text)
	case Ref:
		r.resolveName(x.Name, SharedVar, LocalVar, Constant, Symbol, Param, Quantified)
	case Elem:
		r.resolveName(x.Name, SharedArray)
		r.resolveNumber(x.X)
	case Neg:
		r.resolveNumber(x.X)
	case Not, Always, Finally:
		r.resolveCondition(x.X)
		return true
	case Binary:
		return r.resolveBinary(x)
	case Count:
		r.resolveName(x.Space, SpaceName)
		r.resolveTemplate(x.Fields, "")
	case Event:
		r.resolveName(x.Space, SpaceName)
		r.resolveTemplate(x.Fields, "")
		return true
	case Forall, Exists:
		r.resolveQuantified(x)
		return true
	}
	return false
}

// resolveBinary resolves the operands of an operator, and reports whether its result is boolean:
// arithmetic gives a number. Comparisons have numbers on both sides, the other operators conditions.
func (r *resolver) resolveBinary(x *Expr) bool {
	switch x.Op {
	case "+", "-", "*", "/", "%":
		r.resolveNumber(x.X)
		r.resolveNumber(x.Y)
		return false
	case "=", "!=", "<", "<=", ">", ">=":
		r.resolveNumber(x.X)
		r.resolveNumber(x.Y)
	default:
		r.resolveCondition(x.X)
		r.resolveCondition(x.Y)
	}
	return true
}

// resolveQuantified resolves a quantifier. Its name is declared in the body only.
func (r *resolver) resolveQuantified(x *Expr) {
	r.resolveSet(x.Set)
	if r.locals == nil {
		r.locals = map[string]*Object{}
	}
	r.declare(r.locals, x.Name, Quantified)
	r.resolveCondition(x.X)
	delete(r.locals, x.Name.Text)
}

// resolveProperties resolves the properties. The labels and processes that they name are known,
// because processes are resolved before. Two properties of one name are reported.
func (r *resolver) resolveProperties() {
	names := map[string]Pos{}
	for _, p := range r.prog.Props {
		if before, ok := names[p.Name]; ok {
			r.errorf(p.Pos, "the property %s exists already (%s)", p.Name, before)
		}
		names[p.Name] = p.Pos
		switch p.Kind {
		case Bound:
			r.resolveName(p.Space, SpaceName)
			r.computeConstant(p.X)
		case DeadlockFree:
			for _, e := range p.Except {
				r.resolvePlace(e)
			}
		default:
			r.resolveCondition(p.X)
			if p.Y != nil {
				r.resolveCondition(p.Y)
			}
		}
	}
}

// resolvePlace reports the exception of a deadlockfree property whose process or label does not
// exist.
func (r *resolver) resolvePlace(e Place) {
	o := r.resolveName(e.Process, ProcName)
	if o != nil && e.Label != nil && !r.labels[o.Proc][e.Label.Text] {
		r.errorf(e.Label.Pos, "%s has no label %s", e.Process.Text, e.Label.Text)
	}
}
