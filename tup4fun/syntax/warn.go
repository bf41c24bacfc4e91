package syntax

import (
	"fmt"
	"slices"
	"strings"
)

// Warn says what is odd in a program that Parse has returned without error: a
// shared variable that two processes write, a loop whose guards may all be false,
// a space that only grows, a template that nothing ever puts. None of it is wrong
// as such. The order is that of the file.
func Warn(p *Program) []*Error {
	w := &warner{prog: p, writers: map[*Object][]string{}}
	for _, proc := range p.Procs {
		w.proc = proc
		w.stmts(proc.Body)
	}
	w.shared()
	w.spaces()
	slices.SortStableFunc(w.all, func(a, b *Error) int {
		if a.Pos.Before(b.Pos) {
			return -1
		}
		return 1
	})
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
	w.all = append(w.all, &Error{w.prog.File, at, "warning: " + fmt.Sprintf(format, args...)})
}

func (w *warner) stmts(all []*Stmt) {
	for _, s := range all {
		switch s.Kind {
		case Assign:
			w.writes(s.Target)
		case OpStmt:
			w.op(s.Op)
		case Atomic:
			w.atomic = true
			w.stmts(s.Body)
			w.atomic = false
		case If, Do, Loop:
			if s.Kind == Loop && !covered(s.Guards) {
				w.warnf(s.Pos, "loop has no way out: where all its guards are false, %s is stuck; do … od ends there", w.proc.Title)
			}
			for _, g := range s.Guards {
				if g.Kind == OnOp {
					w.op(g.Op)
				}
				w.stmts(g.Body)
			}
		}
	}
}

func (w *warner) op(o *Op) {
	w.ops = append(w.ops, o)
	for _, f := range o.Fields {
		if f.Kind == Formal {
			w.writes(&Expr{Kind: Ref, Name: f.Name})
		}
	}
}

// writes notes that the process writes x, a variable. Within atomic nobody comes
// between, and of an array each process may have its own element.
func (w *warner) writes(x *Expr) {
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

func (w *warner) shared() {
	for o, who := range w.writers {
		if len(who) > 1 {
			w.warnf(o.Pos, "%s is one variable for all, and written by %s: one may overwrite what another has read; var %s within a process is its own",
				o.Name, strings.Join(who, ", "), o.Name)
		}
	}
}

// covered reports whether some guard is plainly always open, or waits for what
// others may still do. It does not prove anything: two guards of which one is the
// other's opposite cover, as do an operation, else and timeout.
func covered(guards []*Guard) bool {
	var conds []string
	for _, g := range guards {
		if g.Kind != When || g.Cond.Kind == Bool && g.Cond.Value == 1 {
			return true
		}
		conds = append(conds, g.Cond.Source())
	}
	for _, g := range guards {
		if slices.Contains(conds, opposite(g.Cond)) {
			return true
		}
	}
	return false
}

var opposites = map[string]string{"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

func opposite(x *Expr) string {
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

func (w *warner) spaces() {
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
			w.warnf(d.Pos, "%s only grows: there are puts, and no get", d.Name.Text)
		}
	}
	for _, o := range w.ops {
		if o.Verb != Put && !w.fed(o) {
			w.warnf(o.Pos, "nothing ever puts what %s looks for", o.Text())
		}
	}
}

// fed reports whether some put or some tuple of the start may match o.
func (w *warner) fed(o *Op) bool {
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

// mayMatch reports whether a template and a tuple are of one length, and differ in
// no field that is constant in both.
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
