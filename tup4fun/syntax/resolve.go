package syntax

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/process/wording"
)

// resolve sets the Object of each name, computes the constants, and checks types. An error is an
// Errors with the first MaxErrors in the order of the file; then some names have no Object.
func (p *Program) resolve() error {
	r := &resolver{prog: p, globals: map[string]*Object{}, labels: map[*Process]map[string]bool{}}
	r.resolveDecls()
	r.resolveProcesses()
	r.resolveProperties()
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b *Error) int { return a.Pos.Compare(b.Pos) })
	return r.errs[:min(len(r.errs), MaxErrors)]
}

type resolver struct {
	prog    *Program
	globals map[string]*Object
	locals  map[string]*Object // of the current process, with quantifiers
	proc    *Process
	labels  map[*Process]map[string]bool
	counts  [ProcName + 1]int // objects of each kind so far
	errs    Errors
}

func (r *resolver) errorf(at Pos, format string, args ...any) {
	r.errs = append(r.errs, &Error{r.prog.fileOf(at), at, fmt.Sprintf(format, args...)})
}

// fileOf returns the name of the file of a position.
func (p *Program) fileOf(at Pos) string {
	if at.Init {
		return p.InitFile
	}
	return p.File
}

// place returns at as text, with its file if that is not the file of from.
func (p *Program) place(at, from Pos) string {
	if at.Init != from.Init {
		return p.fileOf(at) + ":" + at.String()
	}
	return at.String()
}

var kindNames = map[ObjKind]string{SharedVar: "a variable", SharedArray: "an array", LocalVar: "a local variable",
	SpaceName: "a space", Constant: "a constant", SetName: "a set", Symbol: "a symbol", Param: "the number of a copy",
	Quantified: "the name of a quantifier", ProcName: "a process"}

// declare adds an object with the name n to scope. A name in use, in scope or outside, is reported,
// and keeps its object in scope; n gets the new one, so that its declaration can be resolved to the
// end.
func (r *resolver) declare(scope map[string]*Object, n *Name, k ObjKind) *Object {
	o := &Object{Kind: k, Name: n.Text, Pos: n.Pos, Index: r.counts[k], Proc: r.proc}
	r.counts[k]++
	if before := r.lookup(n.Text); before != nil {
		r.errorf(n.Pos, "%s is already the name of %s (%s)", n.Text, kindNames[before.Kind], r.prog.place(before.Pos, n.Pos))
	} else {
		scope[n.Text] = o
	}
	n.Obj = o
	return o
}

// lookup returns the local object of this name, else the global one, else nil.
func (r *resolver) lookup(name string) *Object {
	if o := r.locals[name]; o != nil {
		return o
	}
	return r.globals[name]
}

// resolveName resolves n to an object of one of kinds, or reports an error, with a similar name if
// the name is not declared, and returns nil.
func (r *resolver) resolveName(n *Name, kinds ...ObjKind) *Object {
	o := r.lookup(n.Text)
	if o == nil {
		r.errorf(n.Pos, "%s is not declared: expected the name of %s%s", n.Text, kindList(kinds), r.suggestion(n.Text, kinds))
		return nil
	}
	if !slices.Contains(kinds, o.Kind) {
		r.errorf(n.Pos, "%s is %s: expected the name of %s", n.Text, kindNames[o.Kind], kindList(kinds))
		return nil
	}
	n.Obj = o
	return o
}

// kindList names kinds, at least one, for a message: a, b or c.
func kindList(kinds []ObjKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = kindNames[k]
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// maxSuggested is the length of the longest name that suggestion compares.
const maxSuggested = 40

// suggestion proposes the name in scope, of an object of one of kinds, that differs in the fewest
// letters, at most two; of equals the first in alphabetical order. Without one it returns "". Names of
// more than maxSuggested bytes are left out, to limit the time.
func (r *resolver) suggestion(name string, kinds []ObjKind) string {
	best, least := "", 3
	for _, scope := range []map[string]*Object{r.locals, r.globals} {
		for other, o := range scope {
			if max(len(name), len(other)) > maxSuggested || !slices.Contains(kinds, o.Kind) {
				continue
			}
			d := wording.Distance(name, other)
			if d < len(name) && (d < least || d == least && other < best) {
				best, least = other, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// resolveDecls declares each name after its value is resolved, so that a value cannot refer to
// its own name.
func (r *resolver) resolveDecls() {
	for _, d := range r.prog.Decls {
		switch d.Kind {
		case VarDecl:
			r.computeConstant(d.Value)
			r.declare(r.globals, d.Name, SharedVar)
		case ArrayDecl:
			r.computeConstants(d.Values)
			r.declare(r.globals, d.Name, SharedArray).Len = len(d.Values)
		case ConstDecl:
			v := r.computeConstant(d.Value)
			r.declare(r.globals, d.Name, Constant).Value = v
		case SetDecl:
			r.resolveSet(d.Set)
			r.declare(r.globals, d.Name, SetName).Set = d.Set.Values
		case SymbolDecl:
			r.declare(r.globals, d.Name, Symbol).Value = r.prog.symbol(d.Name.Text)
		case SpaceDecl:
			if d.Cap != nil && r.computeConstant(d.Cap) < int64(len(d.Tuples)) {
				r.errorf(d.Cap.Pos, "%s has a capacity of %d tuples, but %d initial tuples", d.Name.Text, d.Cap.Value, len(d.Tuples))
			}
			for _, t := range d.Tuples {
				r.computeConstants(t)
			}
			r.declare(r.globals, d.Name, SpaceName)
		}
	}
}

// maxSet bounds the values of a set.
const maxSet = 1000

// resolveSet computes the values of a set: those of the named set, the listed ones without repeats,
// or a range. A range of more than maxSet values is reported and stays empty.
func (r *resolver) resolveSet(s *Set) {
	switch {
	case s.Name != nil:
		if o := r.resolveName(s.Name, SetName); o != nil {
			s.Values = o.Set
		}
	case s.Elems != nil:
		for _, v := range r.computeConstants(s.Elems) {
			if !slices.Contains(s.Values, v) {
				s.Values = append(s.Values, v)
			}
		}
	default:
		low, high := r.computeConstant(s.Low), r.computeConstant(s.High)
		if high-low >= maxSet {
			r.errorf(s.Pos, "a set has at most %d values; %d..%d has more", maxSet, low, high)
			return
		}
		for v := low; v <= high; v++ {
			s.Values = append(s.Values, v)
		}
	}
}

// computeConstants computes constant expressions; one that was reported as wrong is 0.
func (r *resolver) computeConstants(xs []*Expr) []int64 {
	vs := make([]int64, len(xs))
	for i, x := range xs {
		vs[i] = r.computeConstant(x)
	}
	return vs
}

// computeConstant computes a constant expression and stores the result in its Value. After a mistake,
// which is reported, the result is 0.
func (r *resolver) computeConstant(x *Expr) int64 {
	before := len(r.errs)
	r.resolveNumber(x)
	if len(r.errs) > before {
		return 0
	}
	v, err := fold(x)
	if err != nil {
		r.errorf(x.Pos, "%s", err)
	}
	x.Value = v
	return v
}

// fold computes a resolved constant expression. It fails if the expression depends on something
// that changes, if a number is outside 32 bits, or for a division by zero or a sum with a symbol.
// The error does not name the place, which the caller knows.
func fold(x *Expr) (int64, error) {
	switch x.Kind {
	case Num, Sym:
		return x.Value, nil
	case Ref:
		if k := x.Name.Obj.Kind; k != Constant && k != Symbol {
			return 0, fmt.Errorf("%s is %s: only constants are allowed here", x.Name.Text, kindNames[k])
		}
		return x.Name.Obj.Value, nil
	case Neg:
		v, err := fold(x.X)
		if err != nil {
			return 0, err
		}
		return Arith("-", 0, v)
	case Binary:
		a, err := fold(x.X)
		if err != nil {
			return 0, err
		}
		b, err := fold(x.Y)
		if err != nil {
			return 0, err
		}
		return Arith(x.Op, a, b)
	}
	return 0, fmt.Errorf("only constants are allowed here")
}
