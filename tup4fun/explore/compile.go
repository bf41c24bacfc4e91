package explore

import (
	"fmt"
	"slices"

	"leasehold/tup4fun/syntax"
)

// maxProcs bounds the processes of a model, copies included.
const maxProcs = 1000

// Compile builds the model of a program that syntax.Parse accepted. If capacity is above
// 0 it bounds the tuples in each space without a bound. A program with more than 1000
// processes is an error.
func Compile(p *syntax.Program, capacity int) (*Model, error) {
	c := &compiler{model: &Model{Program: p}, slots: map[*syntax.Object]int{}, quant: map[*syntax.Object]int{}}
	c.addDecls(capacity)
	c.model.slots = c.slots
	byText := map[string]*Code{}
	for _, pr := range p.Procs {
		code := c.compileProcess(pr)
		if first := byText[code.signature()]; first != nil && !code.UsesNumber {
			code = first // equal processes share their code and are symmetric
		} else {
			byText[code.signature()] = code
			code.index = len(c.model.Codes)
			c.model.Codes = append(c.model.Codes, code)
		}
		c.addCopies(pr, code)
	}
	if len(c.model.Procs) > maxProcs {
		return nil, fmt.Errorf("%s: %d processes; at most %d are run", p.File, len(c.model.Procs), maxProcs)
	}
	c.compileProperties()
	c.model.monotone = isMonotone(p)
	c.model.findLive()
	c.model.findAmple()
	return c.model, nil
}

type compiler struct {
	model     *Model
	code      *Code
	slots     map[*syntax.Object]int // by shared variable or array: index of its first element in mem
	quant     map[*syntax.Object]int // index in frame.quant
	depth     int                    // of nested quantifiers
	reads     access                 // of the edge or property being compiled, since resetAccess
	footprint struct {               // likewise
		mem    bool
		spaces map[int]bool
	}
}

// addDecls adds the shared variables and spaces to the model. The elements of an array have
// consecutive indexes; slots has the first. A space without a capacity gets capacity, at least the
// number of its initial tuples; 0 is none, and the search may find that it grows without bound.
func (c *compiler) addDecls(capacity int) {
	m := c.model
	for _, d := range m.Program.Decls {
		switch d.Kind {
		case syntax.VarDecl:
			c.slots[d.Name.Obj] = len(m.Variables)
			c.addVariable(d.Name.Text, d.Value.Value, false)
		case syntax.ArrayDecl:
			c.slots[d.Name.Obj] = len(m.Variables)
			for i, x := range d.Values {
				c.addVariable(fmt.Sprintf("%s[%d]", d.Name.Text, i), x.Value, true)
			}
		case syntax.SpaceDecl:
			s := Space{Name: d.Name.Text, Kind: d.Space, Cap: -1}
			if d.Cap != nil {
				s.Cap = int(d.Cap.Value)
			} else if capacity > 0 {
				s.Cap = max(capacity, len(d.Tuples))
			}
			for _, t := range d.Tuples {
				values := make([]int64, len(t))
				for i, x := range t {
					values[i] = x.Value
				}
				s.Start = append(s.Start, values)
			}
			m.Spaces = append(m.Spaces, s)
		}
	}
}

// addVariable adds a shared variable. An element of an array counts as observed, because its index
// is known only when a step runs. So it is never dead, and is not set to 0.
func (c *compiler) addVariable(name string, value int64, array bool) {
	m := c.model
	m.Variables = append(m.Variables, Variable{name, value})
	m.observe = append(m.observe, array)
}

// addCopies adds one process that runs code for each copy of pr. Copies that do not use their
// number are in one class, the class of their code, because they are symmetric; any other is a
// class of its own, whose number is negative, so that it is the index of no code.
func (c *compiler) addCopies(pr *syntax.Process, code *Code) {
	n := 1
	if pr.Count != nil {
		n = int(pr.Count.Value)
	}
	for i := range n {
		p := Proc{Name: pr.Title, Code: code, class: code.index}
		if n > 1 {
			p.Name = fmt.Sprintf("%s(%d)", pr.Title, i+1)
		}
		if code.UsesNumber {
			p.Number = int64(i + 1)
			p.class = -1 - len(c.model.Procs)
		}
		c.model.Procs = append(c.model.Procs, p)
	}
}

func newAccess() access { return access{map[int]bool{}, map[int]bool{}} }

// resetAccess starts recording the variables and spaces of a new edge.
func (c *compiler) resetAccess() {
	c.reads = newAccess()
	c.footprint.mem, c.footprint.spaces = false, map[int]bool{}
}

func (c *compiler) touchMem(i int) {
	c.footprint.mem = true
	c.reads.mem[i] = true
}

// compileProcess compiles a process. It sorts the spaces of each footprint, because the memo and
// the outcomes rely on the same order.
func (c *compiler) compileProcess(pr *syntax.Process) *Code {
	c.code = &Code{Proc: pr}
	entry := c.addNode(false)
	final := c.addNode(false)
	c.code.Entry, c.code.Final = entry, final
	c.compileStmts(pr.Body, entry, final, false)
	for _, n := range c.code.Nodes {
		slices.Sort(n.footprint.spaces)
		n.footprint.spaces = slices.Compact(n.footprint.spaces)
	}
	return c.code
}

// addNode adds a node, and returns its number. inner marks nodes within atomic.
func (c *compiler) addNode(inner bool) int {
	c.code.Nodes = append(c.code.Nodes, &Node{inner: inner})
	return len(c.code.Nodes) - 1
}

// compileStmts compiles statements into a path between two nodes; inner is as in addNode. A block
// without steps becomes skip, because the nodes must be connected. Declarations only give local
// variables their names.
func (c *compiler) compileStmts(all []*syntax.Stmt, from, to int, inner bool) {
	var steps []*syntax.Stmt
	for _, s := range all {
		if s.Kind == syntax.Var {
			for _, n := range s.Names {
				for len(c.code.Locals) <= n.Obj.Index {
					c.code.Locals = append(c.code.Locals, "")
				}
				c.code.Locals[n.Obj.Index] = n.Text
			}
			continue
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		steps = []*syntax.Stmt{{Pos: all[0].Pos, Kind: syntax.Skip}}
	}
	for i, s := range steps {
		next := to
		if i+1 < len(steps) {
			next = c.addNode(inner)
		}
		c.compileStmt(s, from, next, inner)
		from = next
	}
}

// compileStmt compiles one statement, which is not a declaration, into edges between two nodes. Its
// label is the label of the node at which it begins; inner is as in addNode. The block of atomic is
// one edge, with a graph of its own between Entry and Last.
func (c *compiler) compileStmt(s *syntax.Stmt, from, to int, inner bool) {
	if s.Label != nil {
		c.code.Nodes[from].Label = s.Label.Text
	}
	c.resetAccess()
	e := &Edge{From: from, To: to, Pos: s.Pos, Text: syntax.StmtText(s), Stmt: s, kills: newAccess()}
	switch s.Kind {
	case syntax.Skip:
	case syntax.Assign:
		e.Kind = Assign
		e.value = c.compileNumber(s.Value)
		e.target = c.compileTarget(s.Target, e)
	case syntax.OpStmt:
		c.compileOperation(e, s.Op)
	case syntax.Atomic:
		e.Kind, e.Text = Atomic, "atomic"
		e.Entry, e.Last = c.addNode(true), c.addNode(true)
		c.compileStmts(s.Body, e.Entry, e.Last, true)
		c.resetAccess()
		c.addAtomicFootprint(e.Entry, map[int]bool{})
	default:
		c.compileBranches(s, from, to, inner)
		return
	}
	c.addEdge(e)
}

// addAtomicFootprint adds to the current footprint the footprints of all steps that node n leads
// to. seen holds the nodes that are done.
func (c *compiler) addAtomicFootprint(n int, seen map[int]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	node := c.code.Nodes[n]
	c.footprint.mem = c.footprint.mem || node.footprint.mem
	for _, s := range node.footprint.spaces {
		c.footprint.spaces[s] = true
	}
	for _, e := range node.Edges {
		c.addAtomicFootprint(e.To, seen)
	}
}

// compileBranches compiles if, do and loop; inner is as in addNode. The guards of do and loop lead
// back to their start; without an else guard, do gets one that leaves it.
func (c *compiler) compileBranches(s *syntax.Stmt, from, to int, inner bool) {
	after := to
	if s.Kind != syntax.If {
		after = from
	}
	hasElse := false
	for _, g := range s.Guards {
		c.resetAccess()
		e := &Edge{From: from, To: c.addNode(inner), Pos: g.Pos, Text: syntax.GuardText(g), kills: newAccess()}
		switch g.Kind {
		case syntax.When:
			e.Kind, e.Cond = Test, g.Cond
			e.test = c.compileTruth(g.Cond)
		case syntax.OnOp:
			c.compileOperation(e, g.Op)
		case syntax.Else:
			e.Kind, hasElse = Else, true
		case syntax.Timeout:
			e.Kind = Timeout
		}
		c.addEdge(e)
		c.compileStmts(g.Body, e.To, after, inner)
	}
	if s.Kind == syntax.Do && !hasElse {
		c.resetAccess()
		c.addEdge(&Edge{From: from, To: to, Kind: Else, Pos: s.End, Text: "od", kills: newAccess()})
	}
}

// addEdge adds an edge with the accesses recorded since resetAccess. Timeouts are apart from the
// other edges of a node, because they are possible only if no process has another step.
func (c *compiler) addEdge(e *Edge) {
	n := c.code.Nodes[e.From]
	e.reads, e.index = c.reads, c.model.edges
	c.model.edges++
	n.footprint.mem = n.footprint.mem || c.footprint.mem
	for s := range c.footprint.spaces {
		n.footprint.spaces = append(n.footprint.spaces, s)
	}
	if e.Kind == Timeout {
		n.timeouts = append(n.timeouts, e)
	} else {
		n.Edges = append(n.Edges, e)
	}
}

// compileOperation makes e the edge of an operation on a space. Its formals kill the earlier values
// of their variables, but not those of getp and queryp, because these may bind nothing.
func (c *compiler) compileOperation(e *Edge, o *syntax.Op) {
	e.Kind, e.Op, e.Text = Op, o, o.Text()
	e.op = &operation{space: o.Space.Obj.Index, verb: o.Verb}
	c.footprint.spaces[e.op.space] = true
	for _, f := range o.Fields {
		fd := field{kind: f.Kind}
		switch f.Kind {
		case syntax.Actual:
			fd.value = c.compileNumber(f.X)
		case syntax.Formal:
			fd.target = c.compileTarget(&syntax.Expr{Kind: syntax.Ref, Name: f.Name}, e)
		}
		e.op.fields = append(e.op.fields, fd)
	}
	if o.Verb == syntax.GetP || o.Verb == syntax.QueryP {
		e.kills = newAccess()
	}
}

// compileTarget compiles the variable x that edge e writes, and records it in e.kills: the
// variables whose earlier value is dead after the edge (live.go). A write to an array element kills
// nothing, because the element is unknown.
func (c *compiler) compileTarget(x *syntax.Expr, e *Edge) *target {
	o := x.Name.Obj
	t := &target{name: o.Name, index: o.Index}
	if o.Kind == syntax.LocalVar {
		e.kills.locals[o.Index] = true
		return t
	}
	c.footprint.mem = true
	t.mem, t.index = true, c.slots[o]
	if x.Kind == syntax.Elem {
		t.size, t.elem = o.Len, c.compileNumber(x.X)
	} else {
		e.kills.mem[t.index] = true
	}
	return t
}
