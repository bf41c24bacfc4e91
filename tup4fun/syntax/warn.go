package syntax

import (
	"fmt"
	"slices"
	"strings"
)

// Warn returns the suspicious parts of a program that Parse accepted, in the order of the
// file: a shared variable that two processes write, a loop in which all guards may be
// false, a space that only grows, a template that no put matches. They need not be
// errors.
func Warn(p *Program) []*Error {
	w := &warner{prog: p, writers: map[*Object][]string{}}
	for _, proc := range p.Procs {
		w.proc = proc
		w.noteStmts(proc.Body)
	}
	w.warnShared()
	w.warnSpaces()
	slices.SortStableFunc(w.all, func(a, b *Error) int { return a.Pos.Compare(b.Pos) })
	return w.all
}

type warner struct {
	prog    *Program
	proc    *Process
	writers map[*Object][]string
	ops     []*Op
	atomic  bool
	all     []*Error
}

func (w *warner) warnf(at Pos, format string, args ...any) {
	w.all = append(w.all, &Error{w.prog.fileOf(at), at, "warning: " + fmt.Sprintf(format, args...)})
}

// noteStmts collects the operations and writes of statements, and warns of a loop that its
// process can never leave. A Do ends when all its guards are false, so only a Loop is
// tested.
func (w *warner) noteStmts(all []*Stmt) {
	for _, s := range all {
		switch s.Kind {
		case Assign:
			w.noteWrite(s.Target)
		case OpStmt:
			w.noteOp(s.Op)
		case Atomic:
			w.atomic = true
			w.noteStmts(s.Body)
			w.atomic = false
		case If, Do, Loop:
			if s.Kind == Loop && !alwaysOpen(s.Guards) {
				w.warnf(s.Pos, "loop has no exit: if all its guards are false, %s is stuck; do … od ends in that case", w.proc.Title)
			}
			for _, g := range s.Guards {
				if g.Kind == OnOp {
					w.noteOp(g.Op)
				}
				w.noteStmts(g.Body)
			}
		}
	}
}

// noteOp notes an operation, and the variables that it sets.
func (w *warner) noteOp(o *Op) {
	w.ops = append(w.ops, o)
	for _, f := range o.Fields {
		if f.Kind == Formal {
			w.noteWrite(&Expr{Kind: Ref, Name: f.Name})
		}
	}
}

// noteWrite records that the process writes variable x. Atomic writes are exempt, because
// no other process runs in between, and so are arrays, because each process may have its
// own element.
func (w *warner) noteWrite(x *Expr) {
	n := x.Name
	if w.atomic || n.Obj.Kind != SharedVar {
		return
	}
	who := []string{w.proc.Title}
	if w.proc.Count != nil && w.proc.Count.Value > 1 {
		who = []string{w.proc.Title + " (copy 1)", w.proc.Title + " (copy 2)"}
	}
	for _, p := range who {
		if !slices.Contains(w.writers[n.Obj], p) {
			w.writers[n.Obj] = append(w.writers[n.Obj], p)
		}
	}
}

// warnShared warns of shared variables that more than one process writes. Sorting the warnings is
// left to Warn, because a map has a random order.
func (w *warner) warnShared() {
	for o, who := range w.writers {
		if len(who) > 1 {
			w.warnf(o.Pos, "%s is one shared variable, written by %s: one may overwrite a value that another has read; var %s inside a process is local",
				o.Name, strings.Join(who, ", "), o.Name)
		}
	}
}

// alwaysOpen reports whether some guard is obviously always true, or waits for an
// operation, else or timeout. Of conditions it accepts only true, and a pair in which one
// is the negation of the other, so false does not mean that the guards can all be false.
func alwaysOpen(guards []*Guard) bool {
	var conds []string
	for _, g := range guards {
		if g.Kind != When || g.Cond.Kind == Bool && g.Cond.Value == 1 {
			return true
		}
		conds = append(conds, g.Cond.Source())
	}
	for _, g := range guards {
		if slices.Contains(conds, negationText(g.Cond)) {
			return true
		}
	}
	return false
}

var opposites = map[string]string{"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// negationText returns the source of the negation of a condition, to compare it with
// other conditions.
func negationText(x *Expr) string {
	if o, ok := opposites[x.Op]; ok && x.Kind == Binary {
		not := *x
		not.Op = o
		return not.Source()
	}
	if x.Kind == Not {
		return x.X.Source()
	}
	return (&Expr{Kind: Not, X: x}).Source()
}

// warnSpaces warns of spaces without a bound that nothing is taken from, and of operations for
// which no put of the program has a tuple.
func (w *warner) warnSpaces() {
	for _, d := range w.prog.Decls {
		if d.Kind != SpaceDecl {
			continue
		}
		var puts, takes int
		for _, o := range w.ops {
			switch {
			case o.Space.Obj != d.Name.Obj:
			case o.Verb == Put:
				puts++
			case o.Verb.Takes():
				takes++
			}
		}
		if puts > 0 && takes == 0 && d.Cap == nil {
			w.warnf(d.Pos, "%s only grows: it has puts and no get", d.Name.Text)
		}
	}
	for _, o := range w.ops {
		if o.Verb != Put && !w.mayBePut(o) {
			w.warnf(o.Pos, "no put matches %s", o.Text())
		}
	}
}

// mayBePut reports whether some put or some initial tuple may match o. True means only that
// nothing excludes it.
func (w *warner) mayBePut(o *Op) bool {
	for _, other := range w.ops {
		if other.Verb == Put && other.Space.Obj == o.Space.Obj && mayMatch(o.Fields, other.Fields) {
			return true
		}
	}
	for _, d := range w.prog.Decls {
		if d.Kind != SpaceDecl || d.Name.Obj != o.Space.Obj {
			continue
		}
		for _, t := range d.Tuples {
			fields := make([]*Field, len(t))
			for i, x := range t {
				fields[i] = &Field{Kind: Actual, X: x}
			}
			if mayMatch(o.Fields, fields) {
				return true
			}
		}
	}
	return false
}

// mayMatch reports whether a template and a tuple have the same length and no field in
// which both are constant and differ.
func mayMatch(template, tuple []*Field) bool {
	if len(template) != len(tuple) {
		return false
	}
	for i, f := range template {
		if f.Kind != Actual {
			continue
		}
		a, errA := fold(f.X)
		b, errB := fold(tuple[i].X)
		if errA == nil && errB == nil && a != b {
			return false
		}
	}
	return true
}
