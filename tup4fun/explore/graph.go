package explore

import (
	"leasehold/tup4fun/syntax"
)

// Model is a compiled program: one program graph for each process, with one edge for each
// test, assignment and operation. It is immutable.
type Model struct {
	Program       *syntax.Program
	Spaces        []Space
	Procs         []Proc
	Codes         []*Code    // equal processes share one
	Variables     []Variable // the shared variables and the elements of arrays, in order
	observe       []bool     // true for array elements and variables that properties read
	hasDeadShared bool       // some shared variable is dead at some node
	props         []prop
	slots         map[*syntax.Object]int // index in Variables of each shared variable and array
	events        bool                   // some property has event atoms
	edges         int                    // the number of edges, and more if processes share code

	monotone bool // additional tuples never disable a step
}

// Space is one tuple space of a model.
type Space struct {
	Name  string
	Kind  byte      // R, Q, S, F or L
	Cap   int       // -1: unbounded
	Start [][]int64 // the initial tuples, oldest first
}

// Proc is one process; each copy is a process.
type Proc struct {
	Name   string // with the number of the copy, if there are several
	Code   *Code
	Number int64 // of a copy, from 1
	class  int   // processes of one class are interchangeable
}

// Code is the program graph of a process.
type Code struct {
	Proc       *syntax.Process
	Nodes      []*Node
	Entry      int
	Final      int      // the node of a terminated process
	Locals     []string // the names of the local variables
	UsesNumber bool     // the process reads the number of its copy
	index      int
}

// Node is a position in a process.
type Node struct {
	Edges     []*Edge
	Label     string
	inner     bool // within atomic
	timeouts  []*Edge
	footprint footprint
	live      []bool // locals that may be read before they are written
	liveMem   []bool
	ample     bool // its steps may be explored alone: partial-order reduction
}

// Kind is the kind of an Edge.
type Kind uint8

// The kinds of edges.
const (
	Skip Kind = iota
	Test
	Else // enabled if no other edge of the node except timeouts is
	Timeout
	Assign
	Op
	Atomic
)

// Edge is one step of a process, from node From to node To.
type Edge struct {
	From, To int
	Kind     Kind
	Pos      syntax.Pos
	Text     string
	Cond     *syntax.Expr // Test
	Stmt     *syntax.Stmt // Assign
	Op       *syntax.Op   // Op
	Entry    int          // Atomic: first node
	Last     int          // Atomic: last node

	index  int // among the edges of the model
	test   truth
	value  number
	target *target
	op     *operation
	reads  access
	kills  access
}

// footprint is what a step may read or change outside its process, or a property reads.
type footprint struct {
	mem    bool  // shared variables
	spaces []int // ascending
}

// access is a set of variables.
type access struct{ locals, mem map[int]bool }

// Variable is a shared variable, or an element of a shared array.
type Variable struct {
	Name  string
	Start int64
}

// target is a variable that a step writes.
type target struct {
	mem   bool
	index int
	size  int    // of an array, otherwise 0
	elem  number // of an array
	name  string
}

// operation is a compiled operation on a space.
type operation struct {
	space  int
	verb   syntax.Verb
	fields []field
}

type field struct {
	kind   syntax.FieldKind
	value  number
	target *target
}
