package promela

import (
	"fmt"
	"maps"
	"strings"

	"leasehold/tup4fun/syntax"
)

// claim is a property as an ltl claim of Spin.
type claim struct {
	property *syntax.Property
	name     string // in Promela
	formula  string // over atoms
}

// atom is a condition on a state, or an event of the step that led to it. Its value is stored in a variable
// at the end of each step, because Spin also looks at the states within atomic, between the states of the
// model: there the variable still has its value of before.
type atom struct {
	value string       // of a condition
	event *syntax.Expr // else an event, whose quantified names have the values quant
	quant map[*syntax.Object]int64
}

// addClaims translates the properties. A property that Spin cannot decide is an error.
func (w *writer) addClaims() error {
	w.known = map[string]int{}
	props := w.model.Program.Props
	if len(props) == 0 {
		props = []*syntax.Property{{Kind: syntax.DeadlockFree, Name: "deadlockfree"}}
	}
	for _, p := range props {
		if p.Kind == syntax.DeadlockFree {
			w.deadlock = p
			continue
		}
		if reason := w.refusal(p); reason != "" {
			return fmt.Errorf("%s cannot be exported: %s", p.Name, reason)
		}
		w.claims = append(w.claims, claim{p, "p_" + strings.ReplaceAll(p.Name, " ", "_"), w.formulaOf(p)})
	}
	return nil
}

// refusal returns why Spin cannot decide a property, or "".
func (w *writer) refusal(p *syntax.Property) string {
	if p.Fair {
		return "under weakfair, Spin (-f) decides some models in another way; check decides it, and without under weakfair it can be exported"
	}
	var reason string
	var visit func(x *syntax.Expr, inEvent bool)
	visit = func(x *syntax.Expr, inEvent bool) {
		if x == nil {
			return
		}
		changes := x.Kind == syntax.Elem || x.Kind == syntax.Count || x.Kind == syntax.Ref && x.Name.Obj.Kind == syntax.SharedVar
		switch {
		case x.Kind == syntax.Elem && !isFixed(x.X), (x.Op == "/" || x.Op == "%") && !isFixed(x.Y):
			reason = "Spin does not check the index of an array, or the divisor, in " + x.Source()
		case x.Kind == syntax.Event && w.hasTimeout:
			reason = "the model has timeout, and Spin would see the event of the last step again before it"
		case inEvent && changes && w.hasAtomic:
			reason = "Spin would evaluate " + x.Source() + " within atomic, before the step has ended"
		}
		visit(x.X, inEvent)
		visit(x.Y, inEvent)
		for _, f := range x.Fields {
			visit(f.X, inEvent || x.Kind == syntax.Event)
		}
	}
	visit(p.X, false)
	visit(p.Y, false)
	return reason
}

// isFixed reports whether an expression has a value that does not depend on the state and is not 0 by
// chance: a number, a constant or a quantified name.
func isFixed(x *syntax.Expr) bool {
	return x.Kind == syntax.Num || x.Kind == syntax.Ref && (x.Name.Obj.Kind == syntax.Constant || x.Name.Obj.Kind == syntax.Quantified)
}

// formulaOf returns a property as a formula of Spin. Claims begin when init has filled the spaces.
func (w *writer) formulaOf(p *syntax.Property) string {
	g := &graph{writer: w, quant: map[*syntax.Object]int64{}}
	var f string
	switch p.Kind {
	case syntax.Bound:
		f = "([] " + w.atom(atom{value: fmt.Sprintf("(n_%s <= %d)", p.Space.Text, p.X.Value)}) + ")"
	case syntax.Invariant:
		f = "([] " + g.temporal(p.X) + ")"
	case syntax.Eventually:
		f = "(<> " + g.temporal(p.X) + ")"
	case syntax.LeadsTo:
		f = "([] (" + g.temporal(p.X) + " -> (<> " + g.temporal(p.Y) + ")))"
	default:
		f = g.temporal(p.X)
	}
	return "((!started) U (started && " + f + "))"
}

// temporal translates a formula. X W Y has no operator in Spin's older versions, so it is written with U.
func (g *graph) temporal(x *syntax.Expr) string {
	switch {
	case x.Kind == syntax.Event:
		return g.atom(atom{event: x, quant: maps.Clone(g.quant)})
	case !x.IsTemporal():
		return g.atom(atom{value: g.expr(x)})
	}
	switch x.Kind {
	case syntax.Not:
		return "(! " + g.temporal(x.X) + ")"
	case syntax.Always:
		return "([] " + g.temporal(x.X) + ")"
	case syntax.Finally:
		return "(<> " + g.temporal(x.X) + ")"
	case syntax.Forall, syntax.Exists:
		return g.quantified(x, g.temporal)
	}
	left, right := g.temporal(x.X), g.temporal(x.Y)
	switch x.Op {
	case "W":
		return "(([] " + left + ") || (" + left + " U " + right + "))"
	case "&", "|":
		return "(" + left + " " + signs[x.Op] + " " + right + ")"
	}
	return "(" + left + " " + x.Op + " " + right + ")"
}

// quantified returns the conjunction or disjunction of the body of a quantifier for each value.
func (g *graph) quantified(x *syntax.Expr, translate func(*syntax.Expr) string) string {
	sign, all := " && ", []string{"true"}
	if x.Kind == syntax.Exists {
		sign, all = " || ", []string{"false"}
	}
	for _, v := range x.Set.Values {
		g.quant[x.Name.Obj] = v
		all = append(all, translate(x.X))
	}
	if len(all) > 1 {
		all = all[1:]
	}
	return "(" + strings.Join(all, sign) + ")"
}

// atom returns the variable of an atom. Equal conditions share one.
func (w *writer) atom(a atom) string {
	i, ok := w.known[a.value]
	if !ok || a.event != nil {
		i = len(w.atoms)
		w.atoms = append(w.atoms, a)
		if a.event == nil {
			w.known[a.value] = i
		}
	}
	return fmt.Sprintf("q_%d", i)
}

// writeClaims writes the variables of the atoms, observe, which sets them at the end of a step, and the
// claims. The events of an atomic block are collected in e_ until its end.
func (w *writer) writeClaims() {
	if len(w.claims) == 0 {
		return
	}
	w.printf("bit started;\n")
	var all []string
	for i, a := range w.atoms {
		w.printf("bit q_%d;\n", i)
		if a.event == nil {
			all = append(all, fmt.Sprintf("q_%d = %s", i, a.value))
			continue
		}
		w.printf("bit e_%d; /* %s */\n", i, a.event.Source())
		all = append(all, fmt.Sprintf("q_%d = e_%d; e_%d = 0", i, i, i))
	}
	w.printf("inline observe() {\n  %s\n}\n", strings.Join(all, ";\n  "))
	for _, c := range w.claims {
		w.printf("ltl %s { %s }\n", c.name, c.formula)
	}
}

// noteEvent returns statements that note the event of an operation whose tuple is in t0, t1, …
func (g *graph) noteEvent(o *syntax.Op) string {
	verbs := map[syntax.Verb]syntax.Verb{syntax.GetP: syntax.Get, syntax.QueryP: syntax.Query}
	verb, ok := verbs[o.Verb]
	if !ok {
		verb = o.Verb
	}
	var b strings.Builder
	for i, a := range g.atoms {
		x := a.event
		if x == nil || x.Verb != verb || x.Space.Obj != o.Space.Obj || x.Fields != nil && len(x.Fields) != len(o.Fields) {
			continue
		}
		conds := []string{"true"}
		of := &graph{writer: g.writer, quant: a.quant}
		for k, f := range x.Fields {
			if f.Kind == syntax.Actual {
				conds = append(conds, fmt.Sprintf("t%d == (%s)", k, of.expr(f.X)))
			}
		}
		fmt.Fprintf(&b, "; e_%d = (e_%d || (%s))", i, i, strings.Join(conds, " && "))
	}
	return b.String()
}

// keepTuple returns statements that copy row j of a table to t0, t1, …
func (g *graph) keepTuple(o *syntax.Op, j int) string {
	var b strings.Builder
	for k := range min(len(o.Fields), g.arity[o.Space.Obj.Index]) {
		fmt.Fprintf(&b, "t%d = f%d_%s[%d]; ", k, k, o.Space.Text, j)
	}
	return b.String()
}

// afterInit returns what init does at its end: it waits forever. With events, it forgets those of the last
// step when no process can go on, because in the model that state repeats without them.
func (w *writer) afterInit() string {
	var set, clear []string
	for i, a := range w.atoms {
		if a.event != nil {
			set, clear = append(set, fmt.Sprintf("q_%d", i)), append(clear, fmt.Sprintf("q_%d = 0", i))
		}
	}
	if len(set) == 0 {
		return "false"
	}
	return fmt.Sprintf("do :: d_step { (timeout && (%s)) -> %s } od", strings.Join(set, " || "), strings.Join(clear, "; "))
}

// commands returns how to check each property, for the comment at the beginning. deadlockfree needs a
// program of its own, because Spin does not look for stuck states together with a claim.
func (w *writer) commands() string {
	const compile = "spin -o1 -o2 -a FILE; cc -DNOREDUCE -DVECTORSZ=16384"
	var b strings.Builder
	if w.deadlock != nil {
		fmt.Fprintf(&b, "   deadlockfree: %s -DSAFETY -DNOCLAIM -o pan pan.c; ./pan -m300000\n", compile)
	}
	for _, c := range w.claims {
		fmt.Fprintf(&b, "   %s: %s -o pan pan.c; ./pan -a -N %s -m300000\n", c.property.Name, compile, c.name)
	}
	return b.String()
}
