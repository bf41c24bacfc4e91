package explore

import (
	"slices"
	"strings"

	"leasehold/tup4fun/syntax"
)

// begin is the left side of an implication that must always hold. If it never occurs, the implication
// is always true.
type begin struct {
	text  string
	cond  *syntax.Expr // with exists for each forall around it
	holds truth        // of an invariant
}

// begins lists the left sides of the implications under [] in a property. Invariants and leads-to are
// under [] as a whole.
func begins(p *syntax.Property) []begin {
	switch p.Kind {
	case syntax.LeadsTo:
		return []begin{newBegin(p.X, nil)}
	case syntax.Invariant:
		return beginsWithin(p.X, true, nil)
	case syntax.LTL:
		return beginsWithin(p.X, false, nil)
	}
	return nil
}

// beginsWithin lists the left sides within x. always is true if x is under []. around has the quantifiers
// around x, and the implications with x on their right side, from the outside.
func beginsWithin(x *syntax.Expr, always bool, around []*syntax.Expr) []begin {
	switch {
	case x.Kind == syntax.Always: // the left sides around it may have been true earlier
		isForall := func(y *syntax.Expr) bool { return y.Kind == syntax.Forall }
		around = slices.DeleteFunc(slices.Clone(around), func(y *syntax.Expr) bool { return !isForall(y) })
		return beginsWithin(x.X, true, around)
	case x.Kind == syntax.Forall:
		return beginsWithin(x.X, always, append(slices.Clip(around), x))
	case x.Op == "&" || x.Op == "&&":
		return append(beginsWithin(x.X, always, around), beginsWithin(x.Y, always, around)...)
	case x.Op == "->":
		right := beginsWithin(x.Y, always, append(slices.Clip(around), x))
		if always {
			return append([]begin{newBegin(x.X, around)}, right...)
		}
		return right
	}
	return nil
}

// newBegin returns the condition that x occurs within what is around it.
func newBegin(x *syntax.Expr, around []*syntax.Expr) begin {
	b := begin{text: x.Source(), cond: x}
	for _, y := range slices.Backward(around) {
		outer := *y
		if y.Kind == syntax.Forall {
			outer.Kind, outer.X = syntax.Exists, b.cond
		} else {
			outer.Op, outer.Y = "&&", b.cond
		}
		b.cond = &outer
	}
	return b
}

// noteBegun records which left sides of invariant i occur in the state f. A failing one does not.
func (w *worker) noteBegun(i int, p *prop, f frame) {
	for k, b := range p.begins {
		f.err = nil
		w.begun[i][k] = w.begun[i][k] || b.holds(&f) && f.err == nil
	}
}

// begun returns which left sides of invariant i occurred in the search.
func (s *search) begun(i int) []bool {
	all := make([]bool, len(s.model.props[i].begins))
	for _, w := range s.workers {
		for k, yes := range w.begun[i] {
			all[k] = all[k] || yes
		}
	}
	return all
}

// noteVacuous marks a property that holds because one of its left sides never occurs.
func (v *Verdict) noteVacuous(all []begin, begun []bool) {
	var never []string
	for k, b := range all {
		if !begun[k] && !slices.Contains(never, b.text) {
			never = append(never, b.text)
		}
	}
	if len(never) > 0 {
		v.Vacuous, v.Detail = true, strings.Join(never, " and ")+" never occurs"
	}
}

// begun returns which left sides occur in some run. A left side that is too large to decide counts as one
// that does.
func (g *Graph) begun(all []begin) []bool {
	begun := make([]bool, len(all))
	for k, b := range all {
		fs := newFormulas(g.model)
		if hasOperators(b.cond) {
			trace, err := g.findRun(fs, fs.build(&syntax.Expr{Pos: b.cond.Pos, Kind: syntax.Finally, X: b.cond}, false), false)
			begun[k] = trace != nil || err != nil
			continue
		}
		id := fs.build(b.cond, false)
		begun[k] = fs.err != nil || g.newLetters(fs).some(func(letter uint64) bool { return fs.isTrue(id, letter) })
	}
	return begun
}

// hasOperators reports whether an expression has a temporal operator, so that one letter does not decide it.
func hasOperators(x *syntax.Expr) bool {
	return x != nil && (x.Kind == syntax.Always || x.Kind == syntax.Finally || x.Op == "U" || x.Op == "W" || hasOperators(x.X) || hasOperators(x.Y))
}

// isTrue reports whether a formula without temporal operators is true of a letter.
func (fs *formulas) isTrue(id int, letter uint64) bool {
	switch f := fs.all[id]; f.op {
	case fTrue:
		return true
	case fAtom:
		return letter>>f.left&1 == 1
	case fNotAtom:
		return letter>>f.left&1 == 0
	case fAnd:
		return fs.isTrue(f.left, letter) && fs.isTrue(f.right, letter)
	case fOr:
		return fs.isTrue(f.left, letter) || fs.isTrue(f.right, letter)
	}
	return false
}
