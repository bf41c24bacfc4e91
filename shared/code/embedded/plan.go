package embedded

import (
	"fmt"
	"slices"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// A node is a part of a query: and, or, not, or a leaf.
type node struct {
	op   op
	of   []node
	leaf int // in plan.leaves
}

type op int

const (
	opLeaf op = iota
	opAnd
	opOr
	opNot
)

// A leaf is one condition of a query.
type leaf struct {
	kind    kind
	matcher *match.Matcher    // of kindContent, kindSym and kindPath
	literal string            // their text; empty if it is an expression or compared without case
	word    string            // of kindContent: the text, also if case is ignored; empty if it is an expression or has a line feed
	filter  func(string) bool // of kindRepo, kindFile, kindBranch and kindLang
}

type kind int

// The kinds of leaves, from the cheapest to the one that takes longest to evaluate.
const (
	kindVendor kind = iota
	kindRepo
	kindLang
	kindBranch
	kindFile
	kindPath
	kindSym
	kindContent
)

// aboutBlob reports whether a leaf of kind k has one value for a blob. The others have a value
// for each place of a blob, because they compare its repository, path or refs. kindLang has one for
// each place of an empty blob.
func (k kind) aboutBlob() bool { return k == kindLang || k == kindSym || k == kindContent }

// A plan is a compiled query.
type plan struct {
	root          node
	leaves        []leaf
	words         []string
	filtersPlaces bool  // a leaf has a value for each place
	mayShow       []int // the leaves of content and symbols that are not negated
}

// newPlan compiles q.
func newPlan(q code.Query) (*plan, error) {
	p := &plan{words: q.Words()}
	var err error
	p.root, err = p.compile(q.Root, q.Folds(), map[code.Expr]int{})
	p.mayShow = p.shown(&p.root, func(int) code.Truth { return code.True }, nil)
	return p, err
}

// compile returns the node of e, and adds its leaves to p, which ignore case if fold is true. known
// has the leaves that p has already; equal ones are evaluated once.
func (p *plan) compile(e code.Expr, fold bool, known map[code.Expr]int) (node, error) {
	switch e := e.(type) {
	case code.And:
		return p.compileAll(opAnd, e.Of, fold, known)
	case code.Or:
		return p.compileAll(opOr, e.Of, fold, known)
	case code.Not:
		return p.compileAll(opNot, []code.Expr{e.Of}, fold, known)
	}
	if n, ok := known[e]; ok {
		return node{op: opLeaf, leaf: n}, nil
	}
	l, err := newLeaf(e, fold)
	if err != nil {
		return node{}, err
	}
	p.filtersPlaces = p.filtersPlaces || !l.kind.aboutBlob()
	known[e] = len(p.leaves)
	p.leaves = append(p.leaves, l)
	return node{op: opLeaf, leaf: known[e]}, nil
}

// compileAll compiles the parts of a node and orders them: the cheap ones are evaluated first.
func (p *plan) compileAll(o op, of []code.Expr, fold bool, known map[code.Expr]int) (node, error) {
	n := node{op: o}
	for _, e := range of {
		sub, err := p.compile(e, fold, known)
		if err != nil {
			return node{}, err
		}
		n.of = append(n.of, sub)
	}
	slices.SortStableFunc(n.of, func(a, b node) int { return int(p.cost(a) - p.cost(b)) })
	return n, nil
}

// cost returns the kind of n's leaf that takes longest; kinds are numbered by how long they take.
func (p *plan) cost(n node) kind {
	if n.op == opLeaf {
		return p.leaves[n.leaf].kind
	}
	most := kind(0)
	for _, sub := range n.of {
		most = max(most, p.cost(sub))
	}
	return most
}

// newLeaf compiles a leaf: the matcher of a text, path or symbol, with the literal that an index can look
// for, or the filter of a field. fold: ignore case.
func newLeaf(e code.Expr, fold bool) (l leaf, err error) {
	switch e := e.(type) {
	case code.Content:
		l.kind = kindContent
		l.matcher, err = match.New(e.Pattern, fold)
		l.literal = literal(e.Pattern, fold)
		if !e.Pattern.Multiline() {
			l.word = literal(e.Pattern, false)
		}
	case code.Path:
		l.kind = kindPath
		l.matcher, err = match.New(e.Pattern, fold)
		l.literal = literal(e.Pattern, fold)
	case code.Sym:
		l.kind = kindSym
		l.matcher, err = match.New(e.Pattern, fold)
		l.literal = literal(e.Pattern, fold)
	case code.Vendor:
		l.kind = kindVendor
	case code.Filter:
		l.kind = map[code.Field]kind{code.FieldRepo: kindRepo, code.FieldFile: kindFile, code.FieldLang: kindLang, code.FieldBranch: kindBranch}[e.Field]
		l.filter, err = e.Compile()
	default:
		err = fmt.Errorf("query node %T is unknown", e)
	}
	return l, err
}

// literal returns the text of p, or "" if p is an expression or ignores case (fold), because such
// patterns also match text other than their own.
func literal(p code.Pattern, fold bool) string {
	if p.Regexp || fold {
		return ""
	}
	return p.Source
}

// evaluate combines the values of leaves, as code.Evaluate does: False < Unknown < True,
// And is the least, Or the greatest, and Not mirrors. It asks for values until the result is
// certain.
func (n *node) evaluate(value func(leaf int) code.Truth) code.Truth {
	switch n.op {
	case opNot:
		return code.True - n.of[0].evaluate(value)
	case opAnd:
		least := code.True
		for i := range n.of {
			least = min(least, n.of[i].evaluate(value))
			if least == code.False {
				break
			}
		}
		return least
	case opOr:
		greatest := code.False
		for i := range n.of {
			greatest = max(greatest, n.of[i].evaluate(value))
			if greatest == code.True {
				break
			}
		}
		return greatest
	}
	return value(n.leaf)
}

// shown appends the leaves whose matches are shown for a blob, each once: content and symbols
// that hold and are not negated, as code.Shown does. They are the same for all places of the blob.
func (p *plan) shown(n *node, value func(leaf int) code.Truth, leaves []int) []int {
	switch n.op {
	case opAnd, opOr:
		for i := range n.of {
			leaves = p.shown(&n.of[i], value, leaves)
		}
	case opLeaf:
		if k := p.leaves[n.leaf].kind; (k == kindContent || k == kindSym) && value(n.leaf) == code.True && !slices.Contains(leaves, n.leaf) {
			leaves = append(leaves, n.leaf)
		}
	}
	return leaves
}
