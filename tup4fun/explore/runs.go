package explore

import (
	"context"

	"leasehold/tup4fun/syntax"
)

// checkRuns completes v for a property of whole runs: eventually, leadsto or ltl. It needs all
// states with their steps, and without symmetry; if they cannot be kept, or the formula is too
// large, v is Incomplete with the reason.
func (s *search) checkRuns(ctx context.Context, p *prop, v Verdict) Verdict {
	v.Outcome = Incomplete
	if s.over.Load() {
		return v
	}
	if s.graph == nil {
		s.graph, s.graphReason = Build(ctx, s.model, s.options)
	}
	if s.graphReason != "" {
		v.Detail = s.graphReason + "; properties of runs are checked without symmetry"
		return v
	}
	v.Outcome = Holds
	for _, f := range s.instances(p) {
		trace, err := s.graph.findRun(f.fs, f.negated, p.Fair)
		if err != nil {
			v.Outcome, v.Detail = Incomplete, err.Error()
			return v
		}
		if trace != nil {
			v.Outcome, v.Trace = Violated, trace
			v.Detail = "the last steps repeat forever"
			if trace.Cycle < 0 {
				v.Detail = "after the last step no process can continue"
			}
			return v
		}
	}
	v.noteVacuous(p.begins, s.graph.begun(p.begins))
	return v
}

type instance struct {
	fs      *formulas
	negated int // the number of the negated formula
}

// instances returns the formulas to check for p: one, or one for each combination of values of
// its outer forall quantifiers, because small formulas take less time than their conjunction.
// Each is negated, since a run that satisfies the negation violates it.
func (s *search) instances(p *prop) []instance {
	x := p.X
	switch p.Kind {
	case syntax.Eventually:
		x = &syntax.Expr{Pos: x.Pos, Kind: syntax.Finally, X: x}
	case syntax.LeadsTo:
		end := &syntax.Expr{Pos: p.Y.Pos, Kind: syntax.Finally, X: p.Y}
		x = &syntax.Expr{Pos: x.Pos, Kind: syntax.Always, X: &syntax.Expr{Kind: syntax.Binary, Op: "->", X: x, Y: end}}
	}
	var all []instance
	var unfold func(x *syntax.Expr, names []*syntax.Expr, values []int64)
	unfold = func(x *syntax.Expr, names []*syntax.Expr, values []int64) {
		if x.Kind == syntax.Forall {
			for _, v := range x.Set.Values {
				unfold(x.X, append(names, x), append(values, v))
			}
			return
		}
		fs := newFormulas(s.model)
		build := func() { all = append(all, instance{fs, fs.build(x, true)}) }
		for i := range names { // build it with the values of all quantifiers around it
			inner, name, value := build, names[i], values[i]
			build = func() { fs.withValue(name, value, inner) }
		}
		build()
	}
	unfold(x, nil, nil)
	return all
}

// findRun searches for a run in which a formula, given by its number, holds: a path to an accepting
// cycle that, if fair is set, treats no process unfairly. It returns nil if there is none.
func (g *Graph) findRun(fs *formulas, formula int, fair bool) (*Trace, error) {
	if fs.err != nil {
		return nil, fs.err
	}
	b, err := fs.automaton(formula)
	if err != nil {
		return nil, err
	}
	return newProduct(g, b, g.newLetters(fs), fair).search(), nil
}
