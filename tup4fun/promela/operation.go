package promela

import (
	"fmt"
	"strings"

	"leasehold/tup4fun/syntax"
)

// eachOption calls option for each way in which an operation can be executed: put has one, and the
// others one per row of the table; getp and queryp can also find nothing.
func (g *graph) eachOption(o *syntax.Op, option func(guard, do string)) {
	space := o.Space.Obj.Index
	if o.Verb == syntax.Put {
		option("("+g.executeCondition(o)+")", g.putStatements(o)+g.noteEvent(o))
		return
	}
	for j := range g.tableSize(space) {
		do := g.takeStatements(o, j)
		if note := g.noteEvent(o); note != "" {
			do = strings.TrimSuffix(g.keepTuple(o, j)+do, "; ") + note
		}
		option("("+g.findCondition(o, j)+")", do)
	}
	if o.Verb == syntax.GetP || o.Verb == syntax.QueryP {
		option("(!("+g.executeCondition(o)+"))", "")
	}
}

// executeCondition returns the condition under which an operation can be executed: put needs a
// space below its capacity (Cap is negative without a bound), the others a row that they may find.
func (g *graph) executeCondition(o *syntax.Op) string {
	space := o.Space.Obj.Index
	if o.Verb == syntax.Put {
		limit := g.model.Spaces[space].Cap
		if limit < 0 {
			return "true"
		}
		return fmt.Sprintf("n_%s < %d", o.Space.Text, limit)
	}
	var ways []string
	for j := range g.tableSize(space) {
		ways = append(ways, g.findCondition(o, j))
	}
	return strings.Join(ways, " || ")
}

// findCondition returns the condition under which an operation may find the tuple in row j of the
// space's table: it matches, and the kind of the space permits it. A queue (Q) and a stack (S)
// offer only their first and their last row. In F (first match) no row before it may match,
// and in L (last match) none behind it. In R (random) any may be found; the table is sorted,
// and of equal rows only the first is offered, because the others would lead to equal states.
func (g *graph) findCondition(o *syntax.Op, j int) string {
	space, name := o.Space.Obj.Index, o.Space.Text
	match := func(j int) string { return g.matchCondition(name, space, o.Fields, j) }
	conds := []string{match(j)}
	switch g.model.Spaces[space].Kind {
	case 'R':
		if j > 0 {
			conds = append(conds, "!"+g.equal(name, space, j, j-1))
		}
	case 'F':
		for i := range j {
			conds = append(conds, "!"+match(i))
		}
	case 'L':
		for i := j + 1; i < g.tableSize(space); i++ {
			conds = append(conds, "!"+match(i))
		}
	case 'Q':
		if j > 0 {
			return "false"
		}
	case 'S':
		conds = append(conds, fmt.Sprintf("n_%s == %d", name, j+1))
	}
	return "(" + strings.Join(conds, " && ") + ")"
}

// matchCondition returns the condition that the space's table has a tuple in row j and that it
// matches a template: the same number of fields, and equal values for its actuals. A template with
// more fields than any tuple of the space matches none.
func (g *graph) matchCondition(name string, space int, fields []*syntax.Field, j int) string {
	if len(fields) > g.arity[space] {
		return "(false)"
	}
	conds := []string{fmt.Sprintf("n_%s > %d", name, j), fmt.Sprintf("a_%s[%d] == %d", name, j, len(fields))}
	for k, f := range fields {
		if f.Kind == syntax.Actual {
			conds = append(conds, fmt.Sprintf("f%d_%s[%d] == (%s)", k, name, j, g.expr(f.X)))
		}
	}
	return "(" + strings.Join(conds, " && ") + ")"
}

// equal returns the condition that the rows i and j of a table are equal. Columns behind the
// arity of a tuple are 0, so they can be compared too.
func (g *graph) equal(name string, space, i, j int) string {
	conds := []string{fmt.Sprintf("a_%s[%d] == a_%s[%d]", name, i, name, j)}
	for k := range g.arity[space] {
		conds = append(conds, fmt.Sprintf("f%d_%s[%d] == f%d_%s[%d]", k, name, i, k, name, j))
	}
	return "(" + strings.Join(conds, " && ") + ")"
}

// putStatements returns statements that append a tuple, or insert it into the sorted table of a
// random space. The fields are computed into t0, t1, … first, because rows move while the place is
// searched. The assert fails if a state of Spin has more tuples than those that were seen, which
// would be a mistake of the export.
func (g *graph) putStatements(o *syntax.Op) string {
	space, name := o.Space.Obj.Index, o.Space.Text
	var b strings.Builder
	for k := range g.arity[space] {
		v := "0"
		if k < len(o.Fields) {
			v = g.expr(o.Fields[k].X)
		}
		fmt.Fprintf(&b, "t%d = %s; ", k, v)
	}
	fmt.Fprintf(&b, "assert(n_%s < %d); at = n_%s; ", name, g.tableSize(space), name)
	if g.model.Spaces[space].Kind == 'R' {
		fmt.Fprintf(&b, "do :: at > 0 && %s -> %s at = at - 1 :: else -> break od; ", g.less(name, space, len(o.Fields)), g.move(name, space, "at", "at - 1"))
	}
	fmt.Fprintf(&b, "a_%s[at] = %d; ", name, len(o.Fields))
	for k := range g.arity[space] {
		fmt.Fprintf(&b, "f%d_%s[at] = t%d; ", k, name, k)
	}
	fmt.Fprintf(&b, "n_%s = n_%s + 1; at = 0", name, name)
	return b.String()
}

// less returns the condition that the tuple in t0, t1, … is before the one at at - 1.
func (g *graph) less(name string, space, arity int) string {
	cond := "false"
	for k := g.arity[space] - 1; k >= 0; k-- {
		cond = fmt.Sprintf("(t%d < f%d_%s[at - 1] || (t%d == f%d_%s[at - 1] && %s))", k, k, name, k, k, name, cond)
	}
	return fmt.Sprintf("(%d < a_%s[at - 1] || (%d == a_%s[at - 1] && %s))", arity, name, arity, name, cond)
}

// move returns statements that copy a row of the table. to and from are expressions of Promela.
func (g *graph) move(name string, space int, to, from string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a_%s[%s] = a_%s[%s]; ", name, to, name, from)
	for k := range g.arity[space] {
		fmt.Fprintf(&b, "f%d_%s[%s] = f%d_%s[%s]; ", k, name, to, k, name, from)
	}
	return b.String()
}

// takeStatements returns statements that bind the formals to tuple j, and remove the tuple if the
// operation does: the rows behind it move up, and the last becomes 0, so that equal states are
// equal in Spin.
func (g *graph) takeStatements(o *syntax.Op, j int) string {
	space, name := o.Space.Obj.Index, o.Space.Text
	var b strings.Builder
	for k, f := range o.Fields {
		if f.Kind == syntax.Formal && k < g.arity[space] {
			fmt.Fprintf(&b, "%s = f%d_%s[%d]; ", g.name(f.Name), k, name, j)
		}
	}
	if !o.Verb.Takes() {
		return strings.TrimSuffix(b.String(), "; ")
	}
	fmt.Fprintf(&b, "at = %d; do :: at + 1 < n_%s -> %s at = at + 1 :: else -> break od; n_%s = n_%s - 1; ", j, name,
		g.move(name, space, "at", "at + 1"), name, name)
	fmt.Fprintf(&b, "a_%s[n_%s] = 0; ", name, name)
	for k := range g.arity[space] {
		fmt.Fprintf(&b, "f%d_%s[n_%s] = 0; ", k, name, name)
	}
	return b.String() + "at = 0"
}

// name prints a variable with the prefix of its kind, so that it cannot be a word of Promela; a
// constant is its value.
func (g *graph) name(n *syntax.Name) string {
	switch o := n.Obj; o.Kind {
	case syntax.LocalVar:
		return "l_" + n.Text
	case syntax.Param:
		return "copy"
	case syntax.Constant, syntax.Symbol:
		return g.value(o.Value)
	case syntax.Quantified:
		return g.value(g.quant[o])
	}
	return "v_" + n.Text
}

var signs = map[string]string{"=": "==", "&": "&&", "|": "||"}

// expr prints an expression, each part in parentheses, because the operators of Promela have
// other precedences.
func (g *graph) expr(x *syntax.Expr) string {
	switch x.Kind {
	case syntax.Num, syntax.Sym:
		return g.value(x.Value)
	case syntax.Bool:
		return map[int64]string{0: "false", 1: "true"}[x.Value]
	case syntax.Ref:
		return g.name(x.Name)
	case syntax.Elem:
		return g.name(x.Name) + "[" + g.expr(x.X) + "]"
	case syntax.Neg:
		return "(-(" + g.expr(x.X) + "))"
	case syntax.Not:
		return "(!(" + g.expr(x.X) + "))"
	case syntax.Count:
		return g.count(x)
	case syntax.Forall, syntax.Exists:
		return g.quantified(x, g.expr)
	}
	if x.Op == "->" {
		return "(!" + g.expr(x.X) + " || " + g.expr(x.Y) + ")"
	}
	op := x.Op
	if s, ok := signs[op]; ok {
		op = s
	}
	return "(" + g.expr(x.X) + " " + op + " " + g.expr(x.Y) + ")"
}

// count returns an expression for the number of tuples in a space that match the fields of
// x, or of all if it has none. Unused rows of the table do not match. A condition is 0 or 1.
func (g *graph) count(x *syntax.Expr) string {
	name, space := x.Space.Text, x.Space.Obj.Index
	if x.Fields == nil {
		return "n_" + name
	}
	var terms []string
	for j := range g.tableSize(space) {
		terms = append(terms, g.matchCondition(name, space, x.Fields, j))
	}
	return "(" + strings.Join(terms, " + ") + ")"
}
