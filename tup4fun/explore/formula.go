package explore

import (
	"fmt"

	"leasehold/tup4fun/syntax"
)

// operators of formulas in negation normal form.
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

// maxAtoms is how many different things one formula may look at.
const maxAtoms = 64

// A formula of linear time. Formulas are kept once, so that equal ones have one
// number.
type formula struct {
	op   uint8
	a, b int // numbers of formulas; a of an atom is its number
}

// An atom is what can be seen of one state, or of the step that led to it.
type atom struct {
	test   truth // of the state, or nil
	verb   syntax.Verb
	space  int
	fields []field
	quant  []int64 // the values of the quantifiers around it
}

// formulas builds formulas for one property.
type formulas struct {
	c     *compiler
	all   []formula
	known map[formula]int
	atoms []atom
	named map[string]int
	scope []int64 // values of the quantifiers that are open
	err   error
}

func newFormulas(m *Model) *formulas {
	c := &compiler{model: m, slots: m.slots, quant: map[*syntax.Object]int{}, code: &Code{}}
	c.fresh()
	return &formulas{c: c, known: map[formula]int{}, named: map[string]int{}}
}

func (fs *formulas) make(op uint8, a, b int) int {
	f := formula{op, a, b}
	id, ok := fs.known[f]
	if !ok {
		id = len(fs.all)
		fs.all = append(fs.all, f)
		fs.known[f] = id
	}
	return id
}

// is builds x, or its negation.
func (fs *formulas) is(x *syntax.Expr, not bool) int {
	if x.Kind == syntax.Event || !temporal(x) {
		op := fAtom
		if not {
			op = fNotAtom
		}
		return fs.make(op, fs.atom(x), 0)
	}
	switch x.Kind {
	case syntax.Not:
		return fs.is(x.X, !not)
	case syntax.Always:
		return fs.make(dual(fRelease, not), fs.make(dual(fFalse, not), 0, 0), fs.is(x.X, not))
	case syntax.Finally:
		return fs.make(dual(fUntil, not), fs.make(dual(fTrue, not), 0, 0), fs.is(x.X, not))
	case syntax.Forall, syntax.Exists:
		return fs.quantified(x, not)
	}
	switch x.Op {
	case "->":
		return fs.make(dual(fOr, not), fs.is(x.X, !not), fs.is(x.Y, not))
	case "&", "&&":
		return fs.make(dual(fAnd, not), fs.is(x.X, not), fs.is(x.Y, not))
	case "|", "||":
		return fs.make(dual(fOr, not), fs.is(x.X, not), fs.is(x.Y, not))
	case "U":
		return fs.make(dual(fUntil, not), fs.is(x.X, not), fs.is(x.Y, not))
	}
	// X W Y is Y R (X | Y)
	y := fs.is(x.Y, not)
	return fs.make(dual(fRelease, not), y, fs.make(dual(fOr, not), fs.is(x.X, not), y))
}

// dual is op, or its dual if not.
func dual(op uint8, not bool) uint8 {
	if !not {
		return op
	}
	return map[uint8]uint8{fTrue: fFalse, fFalse: fTrue, fAnd: fOr, fOr: fAnd, fUntil: fRelease, fRelease: fUntil}[op]
}

func (fs *formulas) quantified(x *syntax.Expr, not bool) int {
	op, id := fAnd, fs.make(dual(fTrue, not), 0, 0)
	if x.Kind == syntax.Exists {
		op, id = fOr, fs.make(dual(fFalse, not), 0, 0)
	}
	for _, v := range x.Set.Values {
		fs.with(x, v, func() { id = fs.make(dual(op, not), fs.is(x.X, not), id) })
	}
	return id
}

// with builds while the name of a quantifier stands for v.
func (fs *formulas) with(x *syntax.Expr, v int64, build func()) {
	fs.c.quant[x.Name.Obj] = fs.c.depth
	fs.c.depth++
	fs.scope = append(fs.scope, v)
	build()
	fs.scope = fs.scope[:len(fs.scope)-1]
	fs.c.depth--
}

func (fs *formulas) atom(x *syntax.Expr) int {
	name := fmt.Sprint(fs.scope, x.Source())
	if id, ok := fs.named[name]; ok {
		return id
	}
	a := atom{quant: append([]int64{}, fs.scope...)}
	if x.Kind == syntax.Event {
		a.verb, a.space, a.fields = x.Verb, x.Space.Obj.Index, fs.c.fields(x.Fields)
	} else {
		a.test = fs.c.truth(x)
	}
	if len(fs.atoms) == maxAtoms {
		fs.err = fmt.Errorf("the formula looks at more than %d things", maxAtoms)
		return 0
	}
	fs.named[name] = len(fs.atoms)
	fs.atoms = append(fs.atoms, a)
	return len(fs.atoms) - 1
}

// seen returns which atoms of states hold in f, as bits.
func (fs *formulas) seen(f *frame) uint64 {
	var bits uint64
	for i, a := range fs.atoms {
		f.quant = append(f.quant[:0], a.quant...)
		if a.test != nil && a.test(f) {
			bits |= 1 << i
		}
	}
	return bits
}

// done returns which atoms of events hold of a step that leads to f, as bits.
func (fs *formulas) done(f *frame, events []event) uint64 {
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
