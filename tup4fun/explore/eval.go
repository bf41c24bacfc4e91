package explore

import (
	"fmt"

	"leasehold/tup4fun/syntax"
)

// number and truth are compiled expressions. Errors are stored in the frame.
type (
	number func(*frame) int64
	truth  func(*frame) bool
)

// procHead is the number of values before the locals in the state of a process.
const (
	atCode = iota
	atParam
	atNode
	procHead
)

// frame is the state that a step reads and changes. Its slices are shared, so assign and
// withSpace clone before they write.
type frame struct {
	proc   []int64   // code, number of the copy, node, locals
	mem    []int64   // shared variables
	spaces [][]int64 // tuple ids; only the spaces of the footprint are loaded
	tuples *table
	err    error
	quant  []int64 // values of the enclosing quantifiers
}

// fail records an error of the step; the first one counts.
func (f *frame) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// compileNumber compiles an arithmetic expression into a function of a state. Overflow and the like
// fail the step (frame.fail).
func (c *compiler) compileNumber(x *syntax.Expr) number {
	switch x.Kind {
	case syntax.Num, syntax.Sym:
		v := x.Value
		return func(*frame) int64 { return v }
	case syntax.Ref:
		return c.compileRef(x.Name.Obj)
	case syntax.Elem:
		return c.compileElem(x)
	case syntax.Neg:
		y := c.compileNumber(x.X)
		return func(f *frame) int64 { return f.arith("-", 0, y(f)) }
	case syntax.Count:
		return c.compileCount(x)
	}
	op, a, b := x.Op, c.compileNumber(x.X), c.compileNumber(x.Y)
	return func(f *frame) int64 { return f.arith(op, a(f), b(f)) }
}

// arith computes a op b. An overflow or a division by zero fails the step; its result is not used
// then.
func (f *frame) arith(op string, a, b int64) int64 {
	v, err := syntax.Arith(op, a, b)
	if err != nil {
		f.fail(err)
	}
	return v
}

// compileRef compiles a name and records the variable as read, because reductions rely on what each
// step reads.
func (c *compiler) compileRef(o *syntax.Object) number {
	switch o.Kind {
	case syntax.Constant, syntax.Symbol:
		v := o.Value
		return func(*frame) int64 { return v }
	case syntax.Param:
		c.code.UsesNumber = true
		return func(f *frame) int64 { return f.proc[atParam] }
	case syntax.LocalVar:
		i := procHead + o.Index
		c.reads.locals[o.Index] = true
		return func(f *frame) int64 { return f.proc[i] }
	case syntax.Quantified:
		i := c.quant[o]
		return func(f *frame) int64 { return f.quant[i] }
	}
	i := c.slots[o]
	c.touchMem(i)
	return func(f *frame) int64 { return f.mem[i] }
}

// compileElem compiles an array element. All elements count as read, because the index is
// unknown.
func (c *compiler) compileElem(x *syntax.Expr) number {
	o := x.Name.Obj
	base, size, index := c.slots[o], int64(o.Len), c.compileNumber(x.X)
	for i := range o.Len {
		c.touchMem(base + i)
	}
	return func(f *frame) int64 {
		i := index(f)
		if i < 0 || i >= size {
			f.fail(fmt.Errorf("%s[%d]: the array has the elements 0 to %d", o.Name, i, size-1))
			return 0
		}
		return f.mem[base+int(i)]
	}
}

// compileCount compiles the number of tuples in a space, or of those that match a template, and
// records that the step depends on the space.
func (c *compiler) compileCount(x *syntax.Expr) number {
	space := x.Space.Obj.Index
	c.footprint.spaces[space] = true
	fields := c.compileFields(x.Fields)
	return func(f *frame) int64 {
		if fields == nil {
			return int64(len(f.spaces[space]))
		}
		want := f.template(fields)
		var n int64
		for _, id := range f.spaces[space] {
			if want.matches(f.tuples.get(uint32(id))) {
				n++
			}
		}
		return n
	}
}

// compileTruth compiles a boolean expression. A comparison of values of different kinds fails the
// step.
func (c *compiler) compileTruth(x *syntax.Expr) truth {
	switch x.Kind {
	case syntax.Bool:
		v := x.Value == 1
		return func(*frame) bool { return v }
	case syntax.Not:
		y := c.compileTruth(x.X)
		return func(f *frame) bool { return !y(f) }
	case syntax.Forall, syntax.Exists:
		return c.compileQuantified(x)
	}
	switch x.Op {
	case "&", "&&", "|", "||", "->":
		return c.compileLogic(x)
	}
	op, a, b := x.Op, c.compileNumber(x.X), c.compileNumber(x.Y)
	return func(f *frame) bool {
		v, err := syntax.Compare(op, a(f), b(f))
		if err != nil {
			f.fail(err)
		}
		return v
	}
}

// compileLogic compiles the connectives. & and | evaluate both sides, so that a failure on the
// right is found; the others only as needed.
func (c *compiler) compileLogic(x *syntax.Expr) truth {
	a, b := c.compileTruth(x.X), c.compileTruth(x.Y)
	switch x.Op {
	case "&":
		return func(f *frame) bool { p, q := a(f), b(f); return p && q }
	case "|":
		return func(f *frame) bool { p, q := a(f), b(f); return p || q }
	case "&&":
		return func(f *frame) bool { return a(f) && b(f) }
	case "||":
		return func(f *frame) bool { return a(f) || b(f) }
	}
	return func(f *frame) bool { return !a(f) || b(f) }
}

// compileQuantified compiles a quantifier. Its value is at a fixed index of frame.quant: the
// number of quantifiers around it.
func (c *compiler) compileQuantified(x *syntax.Expr) truth {
	i := c.depth
	c.quant[x.Name.Obj] = i
	c.depth++
	body := c.compileTruth(x.X)
	c.depth--
	values, all := x.Set.Values, x.Kind == syntax.Forall
	return func(f *frame) bool {
		for len(f.quant) <= i {
			f.quant = append(f.quant, 0)
		}
		for _, v := range values {
			f.quant[i] = v
			if body(f) != all {
				return !all
			}
		}
		return all
	}
}

// compileFields compiles a template without targets: a formal matches any value. The result is
// nil if fs is.
func (c *compiler) compileFields(fs []*syntax.Field) []field {
	if fs == nil {
		return nil
	}
	out := make([]field, len(fs))
	for i, f := range fs {
		out[i].kind = f.Kind
		if f.Kind == syntax.Actual {
			out[i].value = c.compileNumber(f.X)
		}
	}
	return out
}

// template is an operation's pattern: actual fields evaluated, formals left open.
type template struct {
	fields []field
	values []int64
}

// template evaluates the actual fields of a template; the formals stay open.
func (f *frame) template(fields []field) template {
	t := template{fields, make([]int64, len(fields))}
	for i, fd := range fields {
		if fd.kind == syntax.Actual {
			t.values[i] = fd.value(f)
		}
	}
	return t
}

// matches reports whether a tuple has the length of the template and the values of its
// actual fields; a formal accepts every value.
func (t template) matches(tuple []int64) bool {
	if len(tuple) != len(t.fields) {
		return false
	}
	for i, fd := range t.fields {
		if fd.kind == syntax.Actual && t.values[i] != tuple[i] {
			return false
		}
	}
	return true
}
