package explore

import (
	"fmt"

	"leasehold/tup4fun/syntax"
)

// Operators of formulas in negation normal form.
const (
	fTrue uint8 = iota
	fFalse
	fAtom
	fNotAtom
	fAnd
	fOr
	fUntil
	fRelease
)

// maxAtoms bounds the atoms of a formula, because a letter has 64 bits.
const maxAtoms = 64

// formula is a formula of linear temporal logic. Equal formulas have the same number.
type formula struct {
	op          uint8
	left, right int // numbers of formulas; for an atom, left is its number
}

// atom is a condition on one state, or an event of the step that led to it.
type atom struct {
	test   truth // of the state; nil for an event
	verb   syntax.Verb
	space  int
	fields []field
	quant  []int64 // values of the enclosing quantifiers

	readsState bool // a field of the event reads shared variables or spaces
}

// formulas builds the formulas of one property.
type formulas struct {
	compiler *compiler
	all      []formula
	known    map[formula]int
	atoms    []atom
	named    map[string]int
	scope    []int64 // values of the enclosing quantifiers
	err      error
}

// newFormulas returns an empty set of formulas over a model.
func newFormulas(m *Model) *formulas {
	c := &compiler{model: m, slots: m.slots, quant: map[*syntax.Object]int{}, code: &Code{}}
	c.resetAccess()
	return &formulas{compiler: c, known: map[formula]int{}, named: map[string]int{}}
}

// intern returns the number of a formula, and adds it if it is new, so that equal formulas have
// one number.
func (fs *formulas) intern(op uint8, left, right int) int {
	f := formula{op, left, right}
	id, ok := fs.known[f]
	if !ok {
		id = len(fs.all)
		fs.all = append(fs.all, f)
		fs.known[f] = id
	}
	return id
}

// build returns the number of x, or of its negation if not is set, in negation normal
// form.
func (fs *formulas) build(x *syntax.Expr, not bool) int {
	if x.Kind == syntax.Event || !x.IsTemporal() {
		op := fAtom
		if not {
			op = fNotAtom
		}
		return fs.intern(op, fs.internAtom(x), 0)
	}
	switch x.Kind {
	case syntax.Not:
		return fs.build(x.X, !not)
	case syntax.Always:
		return fs.intern(dual(fRelease, not), fs.intern(dual(fFalse, not), 0, 0), fs.build(x.X, not))
	case syntax.Finally:
		return fs.intern(dual(fUntil, not), fs.intern(dual(fTrue, not), 0, 0), fs.build(x.X, not))
	case syntax.Forall, syntax.Exists:
		return fs.buildQuantified(x, not)
	}
	switch x.Op {
	case "->":
		return fs.intern(dual(fOr, not), fs.build(x.X, !not), fs.build(x.Y, not))
	case "&", "&&":
		return fs.intern(dual(fAnd, not), fs.build(x.X, not), fs.build(x.Y, not))
	case "|", "||":
		return fs.intern(dual(fOr, not), fs.build(x.X, not), fs.build(x.Y, not))
	case "U":
		return fs.intern(dual(fUntil, not), fs.build(x.X, not), fs.build(x.Y, not))
	}
	// X W Y is Y R (X | Y)
	y := fs.build(x.Y, not)
	return fs.intern(dual(fRelease, not), y, fs.intern(dual(fOr, not), fs.build(x.X, not), y))
}

// dual returns op, or its dual if not is set. Atoms have none here, because their negation is an
// operator of its own (fNotAtom).
func dual(op uint8, not bool) uint8 {
	if !not {
		return op
	}
	return map[uint8]uint8{fTrue: fFalse, fFalse: fTrue, fAnd: fOr, fOr: fAnd, fUntil: fRelease, fRelease: fUntil}[op]
}

// buildQuantified replaces a quantifier by the conjunction or disjunction of its body for each
// value, or by the negation of that if not is true.
func (fs *formulas) buildQuantified(x *syntax.Expr, not bool) int {
	op, id := fAnd, fs.intern(dual(fTrue, not), 0, 0)
	if x.Kind == syntax.Exists {
		op, id = fOr, fs.intern(dual(fFalse, not), 0, 0)
	}
	for _, v := range x.Set.Values {
		fs.withValue(x, v, func() { id = fs.intern(dual(op, not), fs.build(x.X, not), id) })
	}
	return id
}

// withValue calls build while the quantified name of x has the value v.
func (fs *formulas) withValue(x *syntax.Expr, v int64, build func()) {
	fs.compiler.quant[x.Name.Obj] = fs.compiler.depth
	fs.compiler.depth++
	fs.scope = append(fs.scope, v)
	build()
	fs.scope = fs.scope[:len(fs.scope)-1]
	fs.compiler.depth--
}

// internAtom returns the number of an atom. Atoms with the same source and quantifier values
// are equal. Beyond maxAtoms it sets fs.err.
func (fs *formulas) internAtom(x *syntax.Expr) int {
	name := fmt.Sprint(fs.scope, x.Source())
	if id, ok := fs.named[name]; ok {
		return id
	}
	a := atom{quant: append([]int64{}, fs.scope...)}
	if x.Kind == syntax.Event {
		fs.compiler.resetAccess()
		a.verb, a.space, a.fields = x.Verb, x.Space.Obj.Index, fs.compiler.compileFields(x.Fields)
		a.readsState = fs.compiler.footprint.mem || len(fs.compiler.footprint.spaces) > 0
	} else {
		a.test = fs.compiler.compileTruth(x)
	}
	if len(fs.atoms) == maxAtoms {
		fs.err = fmt.Errorf("the formula has more than %d atoms", maxAtoms)
		return 0
	}
	fs.named[name] = len(fs.atoms)
	fs.atoms = append(fs.atoms, a)
	return len(fs.atoms) - 1
}

// stateAtoms returns the bits of the atoms that hold in the state f; those about events are 0.
func (fs *formulas) stateAtoms(f *frame) uint64 {
	var bits uint64
	for i, a := range fs.atoms {
		f.quant = append(f.quant[:0], a.quant...)
		if a.test != nil && a.test(f) {
			bits |= 1 << i
		}
	}
	return bits
}

// eventAtoms returns the bits of the atoms that match an event of the step to f. Of atoms about
// states, which stateAtoms evaluates, it returns 0.
func (fs *formulas) eventAtoms(f *frame, events []event) uint64 {
	var bits uint64
	for i, a := range fs.atoms {
		if a.test != nil {
			continue
		}
		f.quant = append(f.quant[:0], a.quant...)
		for _, ev := range events {
			if ev.verb == a.verb && ev.space == a.space && (a.fields == nil || f.template(a.fields).matches(ev.tuple)) {
				bits |= 1 << i
			}
		}
	}
	return bits
}
