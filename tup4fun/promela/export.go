package promela

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// Spin counts these in addition to package explore: the init process, and its steps into
// the first state.
const (
	ExtraStates      = 1
	ExtraTransitions = 2
)

// maxTable bounds the tuples of a table.
const maxTable = 200

// Seen is the part of a complete explore.Report that an export needs.
type Seen struct {
	Spaces []explore.SpaceSeen
	Least  int64 // smallest number, symbols aside
	Most   int64
	Error  string // of a step that fails; empty if none does
}

// SeenIn returns what an export needs of a report.
func SeenIn(r *explore.Report) Seen {
	s := Seen{Spaces: r.Spaces, Least: r.Least, Most: r.Most}
	for _, v := range r.Verdicts {
		if v.Name == "noerrors" && v.Outcome == explore.Violated {
			s.Error = v.Detail
		}
	}
	return s
}

// Export returns the model in Promela, with its properties. It is an error, with the name of the property,
// if Spin cannot decide one of them, and if the model has more processes or fuller spaces than Spin
// allows. seen must be of a complete search, because it decides the sizes of tables and numbers.
func Export(m *explore.Model, seen Seen) (string, error) {
	w := &writer{model: m, seen: seen, arity: make([]int, len(m.Spaces))}
	if len(m.Procs) > 250 {
		return "", fmt.Errorf("%d processes; Spin allows at most 250", len(m.Procs))
	}
	if seen.Error != "" {
		return "", fmt.Errorf("noerrors is violated, and Spin does not find such errors: %s", seen.Error)
	}
	for i, s := range seen.Spaces {
		if s.Most > maxTable {
			return "", fmt.Errorf("%s has up to %d tuples; at most %d are exported", s.Name, s.Most, maxTable)
		}
		w.arity[i] = w.maxArity(i)
	}
	for _, c := range m.Codes {
		for _, n := range c.Nodes {
			w.hasAtomic = w.hasAtomic || slices.ContainsFunc(n.Edges, func(e *explore.Edge) bool { return e.Kind == explore.Atomic })
			w.hasTimeout = w.hasTimeout || slices.ContainsFunc(n.All(), func(e *explore.Edge) bool { return e.Kind == explore.Timeout })
		}
	}
	if err := w.addClaims(); err != nil {
		return "", err
	}
	w.writeGlobals()
	w.writeClaims()
	for _, c := range m.Codes {
		w.writeProcess(c)
	}
	w.writeInit()
	return w.out.String(), nil
}

type writer struct {
	model *explore.Model
	seen  Seen
	arity []int // of the longest tuple in each space
	out   strings.Builder

	hasTimeout bool
	deadlock   *syntax.Property // deadlockfree; nil if the model does not claim it
	claims     []claim
	atoms      []atom
	known      map[string]int // the atoms by their text

	hasAtomic bool // some process has an atomic block, inside which values may exceed those of any state
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.out, format, args...) }

// maxArity returns the arity of the longest tuple in a space: of its initial tuples and of all
// puts. Rows of its table have as many columns.
func (w *writer) maxArity(space int) int {
	k := 0
	for _, t := range w.model.Spaces[space].Start {
		k = max(k, len(t))
	}
	for _, c := range w.model.Codes {
		for _, n := range c.Nodes {
			for _, e := range n.All() {
				if e.Op != nil && e.Op.Verb == syntax.Put && e.Op.Space.Obj.Index == space {
					k = max(k, len(e.Op.Fields))
				}
			}
		}
	}
	return k
}

// value prints a number, or the number that represents a symbol.
func (w *writer) value(v int64) string {
	if v >= syntax.SymbolBase {
		v = v - syntax.SymbolBase + w.seen.Most + 1
	}
	return fmt.Sprint(v)
}

// atomicSlack is the number of additional tuples that a space without bound may have
// inside an atomic block.
const atomicSlack = 8

// tableSize returns the length of the table of a space: the most tuples that it has in any state.
// If there are atomic blocks it is more, because inside a block a space may have more tuples than in
// any state: its capacity, or atomicSlack more if it has none that fits. It is at least 1, because
// Promela has no empty arrays.
func (w *writer) tableSize(space int) int {
	most, limit := max(1, w.seen.Spaces[space].Most), w.model.Spaces[space].Cap
	switch {
	case !w.hasAtomic:
		return most
	case limit >= 0 && limit <= maxTable:
		return max(1, limit)
	}
	return most + atomicSlack
}

// writeGlobals writes the tables of the spaces and the shared variables, with the smallest
// type that holds all values. Inside atomic blocks values may exceed those of any state,
// so the type is int then.
func (w *writer) writeGlobals() {
	typ, most := "int", w.seen.Most+int64(len(w.model.Program.Symbols))
	switch {
	case w.hasAtomic:
	case w.seen.Least >= 0 && most < 256:
		typ = "byte"
	case w.seen.Least >= -32768 && most < 32768:
		typ = "short"
	}
	w.printf("/* %s, exported by leasehold tup4fun\n%s*/\n#define VALUE %s\n", strings.ReplaceAll(w.model.Program.File, "*/", ""), w.commands(), typ)
	widest := 0
	for i, s := range w.model.Spaces {
		widest = max(widest, w.arity[i])
		w.printf("byte n_%s; /* tuples in it */\nbyte a_%s[%d]; /* their lengths */\n", s.Name, s.Name, w.tableSize(i))
		for k := range w.arity[i] {
			w.printf("VALUE f%d_%s[%d];\n", k, s.Name, w.tableSize(i))
		}
	}
	w.printf("hidden int at;\n")
	for k := range widest {
		w.printf("hidden int t%d;\n", k)
	}
	for _, d := range w.model.Program.Decls {
		switch d.Kind {
		case syntax.VarDecl:
			w.printf("VALUE v_%s = %s;\n", d.Name.Text, w.value(d.Value.Value))
		case syntax.ArrayDecl:
			w.printf("VALUE v_%s[%d];\n", d.Name.Text, len(d.Values))
		}
	}
}

// writeInit writes the process that fills arrays and spaces and starts the others. The tables of
// random spaces are sorted, as put keeps them. At the end it waits forever, which end_init marks
// as no deadlock.
func (w *writer) writeInit() {
	w.printf("\ninit {\n  atomic {\n")
	for _, d := range w.model.Program.Decls {
		for i, x := range d.Values {
			w.printf("    v_%s[%d] = %s;\n", d.Name.Text, i, w.value(x.Value))
		}
	}
	for i, s := range w.model.Spaces {
		tuples := slices.Clone(s.Start)
		if s.Kind == 'R' {
			slices.SortFunc(tuples, compare)
		}
		for j, t := range tuples {
			w.printf("    a_%s[%d] = %d;\n", s.Name, j, len(t))
			for k, v := range t {
				w.printf("    f%d_%s[%d] = %s;\n", k, s.Name, j, w.value(v))
			}
		}
		w.printf("    n_%s = %d;\n", w.model.Spaces[i].Name, len(tuples))
	}
	for _, p := range w.model.Procs {
		w.printf("    run P%d(%d);\n", slices.Index(w.model.Codes, p.Code), p.Number)
	}
	if len(w.claims) > 0 {
		w.printf("    observe(); started = 1;\n")
	}
	w.printf("  };\nend_init:\n  %s\n}\n", w.afterInit())
}

// compare orders the rows of tables: by length, then by fields.
func compare(a, b []int64) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return slices.Compare(a, b)
}

// writeProcess writes one program graph: a label and its options for each node. The nodes inside an
// atomic block are written as part of the edge that enters it.
func (w *writer) writeProcess(c *explore.Code) {
	w.printf("\nproctype P%d(int copy) { /* %s */\n", slices.Index(w.model.Codes, c), c.Proc.Title)
	for _, l := range c.Locals {
		w.printf("  VALUE l_%s;\n", l)
	}
	g := &graph{writer: w, code: c, jumps: map[int]int{}, inner: map[int]bool{}}
	w.printf("  goto %s;\n", g.label(c.Entry))
	for _, n := range c.Nodes {
		for _, e := range n.All() {
			if e.Kind == explore.Atomic {
				g.jumps[e.Last] = e.To
				g.inner[e.Last] = true
				for _, i := range atomicNodes(c, e) {
					g.inner[i] = true
				}
			}
		}
	}
	for i := range c.Nodes {
		if !g.inner[i] {
			g.writeNode(i)
		}
	}
	w.printf("}\n")
}

// atomicNodes lists the nodes of an atomic block, its entry first, without its last, where the
// block ends.
func atomicNodes(c *explore.Code, e *explore.Edge) []int {
	all := []int{e.Entry}
	for i := 0; i < len(all); i++ {
		for _, next := range c.Nodes[all[i]].All() {
			if next.To != e.Last && !slices.Contains(all, next.To) {
				all = append(all, next.To)
			}
		}
	}
	return all
}

// label names a node. Spin allows a process to stay forever at a label that begins with end, so only
// the places have one where deadlockfree allows it.
func (g *graph) label(n int) string {
	isEnd := n == g.code.Final
	if g.deadlock != nil {
		isEnd = g.code.MayWait(g.deadlock, n)
	}
	if isEnd {
		return fmt.Sprintf("end_%d", n)
	}
	return fmt.Sprintf("at_%d", n)
}

// graph writes the program graph of a process, or an expression of a property, which has no code.
type graph struct {
	*writer
	code  *explore.Code
	jumps map[int]int  // from the last node of an atomic block to the node after it
	inner map[int]bool // the nodes of atomic blocks
	quant map[*syntax.Object]int64
}

func (g *graph) writeNode(i int) {
	g.printf("%s:\n", g.label(i))
	g.writeOptions(i)
}

// writeOptions prints the statements that may be executed at node i of a process. At a node
// without edges the process stays for ever, as it does in the model.
func (g *graph) writeOptions(i int) {
	edges := g.code.Nodes[i].All()
	if len(edges) == 0 {
		g.printf("  false;\n")
		return
	}
	g.printf("  if\n")
	for _, e := range edges {
		if e.Kind == explore.Atomic {
			g.writeAtomic(e)
		} else {
			g.writeEdge(i, e)
		}
	}
	g.printf("  fi;\n")
}

// writeAtomic writes a block with all its nodes, so that jumps stay inside it. Its first
// statement cannot have a label, so a block that returns to its entry contains the entry
// twice.
func (g *graph) writeAtomic(e *explore.Edge) {
	g.printf("  :: atomic {\n")
	g.writeOptions(e.Entry)
	nodes := atomicNodes(g.code, e)
	back := slices.ContainsFunc(nodes, func(i int) bool {
		return slices.ContainsFunc(g.code.Nodes[i].All(), func(f *explore.Edge) bool { return f.To == e.Entry })
	})
	for _, i := range nodes {
		if back || i != e.Entry {
			g.writeNode(i)
		}
	}
	g.printf("  }\n")
}

// writeEdge writes the options of one edge: one for each position at which a tuple may be found. An
// edge to the last node of an atomic block goes on behind the block (jumps). d_step makes guard
// and action one step, as they are in the model.
func (g *graph) writeEdge(from int, e *explore.Edge) {
	to := e.To
	for next, ok := g.jumps[to]; ok; next, ok = g.jumps[to] { // blocks may end together
		to = next
	}
	option := func(guard, do string) {
		if len(g.claims) > 0 && !g.inner[to] {
			do = strings.TrimPrefix(do+"; observe()", "; ")
		}
		if do != "" {
			guard = "d_step { " + guard + " -> " + do + " }"
		}
		g.printf("  :: %s; goto %s;\n", guard, g.label(to))
	}
	switch e.Kind {
	case explore.Skip:
		option("(true)", "")
	case explore.Test:
		option("("+g.expr(e.Cond)+")", "")
	case explore.Else:
		option("("+g.elseCondition(from)+")", "")
	case explore.Timeout:
		option("timeout", "")
	case explore.Assign:
		option("true", g.expr(e.Stmt.Target)+" = "+g.expr(e.Stmt.Value))
	case explore.Op:
		g.eachOption(e.Op, option)
	}
}

// elseCondition returns the condition under which an else of a node can be taken: no other
// edge can, except timeouts, which Node.Edges does not contain.
func (g *graph) elseCondition(from int) string {
	var conds []string
	for _, e := range g.code.Nodes[from].Edges {
		switch e.Kind {
		case explore.Test:
			conds = append(conds, "!("+g.expr(e.Cond)+")")
		case explore.Op:
			conds = append(conds, "!("+g.executeCondition(e.Op)+")")
		case explore.Skip, explore.Assign, explore.Atomic:
			conds = append(conds, "false")
		}
	}
	if len(conds) == 0 {
		return "true"
	}
	return strings.Join(conds, " && ")
}
