package syntax

import (
	"strconv"
	"strings"
)

// unary is the key in precedence for operators before one operand.
const unary = "unary"

// precedence is the binding strength of operators; the strongest has the greatest.
var precedence = map[string]int{"->": 1, "U": 2, "W": 2, "|": 3, "||": 3, "&": 4, "&&": 4, "not": 5,
	"=": 6, "!=": 6, "<": 6, "<=": 6, ">": 6, ">=": 6, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8, unary: 9}

// Source prints an expression.
func (x *Expr) Source() string { return exprText(x, 0) }

// exprText prints x, in parentheses if its precedence is below strength, so that the text is parsed
// into the same tree. With strength 0 there are no parentheses; 10, the precedence of names and
// numbers, is the highest.
func exprText(x *Expr, strength int) string {
	s, own := "", 10
	switch x.Kind {
	case Num:
		s = strconv.FormatInt(x.Value, 10)
	case Bool:
		s = strconv.FormatBool(x.Value == 1)
	case Sym:
		s = `"` + x.Text + `"`
	case Ref:
		s = x.Name.Text
	case Elem:
		s = x.Name.Text + "[" + exprText(x.X, 0) + "]"
	case Neg:
		s, own = "-"+exprText(x.X, precedence[unary]), precedence[unary]
	case Not, Always, Finally:
		sign := map[ExprKind]string{Not: "!", Always: "[] ", Finally: "<> "}[x.Kind]
		s, own = sign+exprText(x.X, precedence["not"]), precedence["not"]
	case Forall, Exists:
		word := map[ExprKind]string{Forall: "forall ", Exists: "exists "}[x.Kind]
		s, own = word+x.Name.Text+" in "+setText(x.Set)+": "+exprText(x.X, 0), 1
	case Count:
		s = callText("count", x)
	case Event:
		s = callText(string(x.Verb), x)
	case Binary:
		own = precedence[x.Op]
		s = binaryText(x, own)
	}
	if own < strength {
		return "(" + s + ")"
	}
	return s
}

// binaryText prints a binary expression. -> and U associate to the right, comparisons do
// not associate, all others associate to the left; other operands get parentheses.
func binaryText(x *Expr, own int) string {
	left, right := own, own+1
	switch own {
	case precedence["->"], precedence["U"]:
		left, right = own+1, own
	case precedence["="]:
		left = own + 1
	}
	return exprText(x.X, left) + " " + x.Op + " " + exprText(x.Y, right)
}

// callText prints count or an event: word(SPACE), or word(SPACE, fields).
func callText(word string, x *Expr) string {
	if x.Fields == nil {
		return word + "(" + x.Space.Text + ")"
	}
	return word + "(" + x.Space.Text + ", " + fieldsText(x.Fields) + ")"
}

// fieldsText prints the fields of a template: an expression, ?variable, or _ for a field of
// any value.
func fieldsText(fields []*Field) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		switch f.Kind {
		case Actual:
			texts[i] = exprText(f.X, 0)
		case Formal:
			texts[i] = "?" + f.Name.Text
		case Any:
			texts[i] = "_"
		}
	}
	return strings.Join(texts, ", ")
}

// exprsText prints expressions separated by commas.
func exprsText(xs []*Expr) string {
	texts := make([]string, len(xs))
	for i, x := range xs {
		texts[i] = exprText(x, 0)
	}
	return strings.Join(texts, ", ")
}

// setText prints a set as it was written: its name, a list or a range.
func setText(s *Set) string {
	switch {
	case s.Name != nil:
		return s.Name.Text
	case s.Elems != nil:
		return "{" + exprsText(s.Elems) + "}"
	}
	return exprText(s.Low, precedence["+"]) + ".." + exprText(s.High, precedence["+"])
}

// Text prints an operation.
func (o *Op) Text() string {
	return o.Space.Text + "." + string(o.Verb) + "(" + fieldsText(o.Fields) + ")"
}

// StmtText prints a statement without inner statements on one line. The others are for the
// caller; for them it returns skip.
func StmtText(s *Stmt) string {
	switch s.Kind {
	case Assign:
		return exprText(s.Target, 0) + " := " + exprText(s.Value, 0)
	case OpStmt:
		return s.Op.Text()
	case Var:
		names := make([]string, len(s.Names))
		for i, n := range s.Names {
			names[i] = n.Text
		}
		return "var " + strings.Join(names, ", ")
	}
	return "skip"
}

// GuardText prints the condition of a guard: an expression, an operation, else or timeout.
func GuardText(g *Guard) string {
	switch g.Kind {
	case OnOp:
		return g.Op.Text()
	case Else:
		return "else"
	case Timeout:
		return "timeout"
	}
	return exprText(g.Cond, 0)
}

// declText prints a declaration without the comma behind it. Without a keyword of its own
// it declares a variable.
func declText(d *Decl) string {
	switch d.Kind {
	case ArrayDecl:
		return d.Name.Text + " = [" + exprsText(d.Values) + "]"
	case ConstDecl:
		return "const " + d.Name.Text + " = " + exprText(d.Value, 0)
	case SetDecl:
		return "const " + d.Name.Text + " = " + setText(d.Set)
	case SymbolDecl:
		return "symbol " + d.Name.Text
	case SpaceDecl:
		return spaceText(d)
	}
	return d.Name.Text + " = " + exprText(d.Value, 0)
}

// spaceText prints the declaration of a space: kind, capacity, first tuples. A space
// without a bound has the capacity INF.
func spaceText(d *Decl) string {
	capacity := "INF"
	if d.Cap != nil {
		capacity = exprText(d.Cap, 0)
	}
	tuples := make([]string, len(d.Tuples))
	for i, t := range d.Tuples {
		tuples[i] = "(" + exprsText(t) + ")"
	}
	return d.Name.Text + " = (" + string(d.Space) + ", " + capacity + ", {" + strings.Join(tuples, ", ") + "})"
}

// Text prints a property without its semicolon. Bounds and deadlockfree have no weakfair.
func (p *Property) Text() string {
	s := ""
	switch p.Kind {
	case Bound:
		return "bound " + p.Space.Text + " <= " + exprText(p.X, precedence["+"])
	case DeadlockFree:
		return "deadlockfree" + exceptText(p.Except)
	case Invariant:
		s = "invariant " + p.Name + ": " + exprText(p.X, 0)
	case Eventually:
		s = "eventually " + p.Name + ": " + exprText(p.X, 0)
	case LeadsTo:
		s = "leadsto " + p.Name + ": " + exprText(p.X, 0) + " ~> " + exprText(p.Y, 0)
	case LTL:
		s = "ltl " + p.Name + ": " + exprText(p.X, 0)
	}
	if p.Fair {
		s += " under weakfair"
	}
	return s
}

// exceptText prints the places at which processes may stay without a deadlock; nothing if
// there are none.
func exceptText(places []Place) string {
	texts := make([]string, len(places))
	for i, e := range places {
		texts[i] = e.Process.Text
		if e.Label != nil {
			texts[i] += "." + e.Label.Text
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " except " + strings.Join(texts, ", ")
}
