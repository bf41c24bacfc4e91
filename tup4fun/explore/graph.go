package explore

import (
	"leasehold/tup4fun/syntax"
)

// Model is a program made ready to run: one program graph for each process, with
// one edge for each test, assignment and operation. It does not change.
type Model struct {
	Program *syntax.Program
	Spaces  []Space
	Procs   []Proc
	codes   []*Code
	mem     []slot  // the shared variables, an array's elements one after the other
	start   []int64 // their values
	observe []bool  // which of them properties look at, or are arrays
	mortal  bool    // some shared variable may die
	props   []prop
	slots   map[*syntax.Object]int // the first in mem of each shared variable and array
	events  bool                   // some property speaks of events

	monotone bool // more tuples never take a choice away
}

// Space is one tuple space of a model.
type Space struct {
	Name  string
	Kind  byte // R, Q, S, F or L
	Cap   int  // -1: no bound
	start [][]int64
}

// Proc is one running process, a copy being one of its own.
type Proc struct {
	Name  string // with the number of the copy, if there are several
	Code  *Code
	param int64
	class int // processes of one class are alike
}

// Code is the program graph of a process.
type Code struct {
	Proc   *syntax.Process
	Nodes  []*Node
	Entry  int
	Final  int // where it has terminated
	locals []string
	index  int
	usesID bool // the number of the copy matters
}

// Node is a place in a process.
type Node struct {
	Edges    []*Edge
	Label    string
	inner    bool // within atomic
	timeouts []*Edge
	foot     footprint
	live     []bool // locals that may still be read
	liveMem  []bool
	ample    bool // may go alone: partial-order reduction
}

// Kind says what an Edge does.
type Kind uint8

// The edges.
const (
	Skip Kind = iota
	Test
	Else // no other edge of the node but timeouts can be taken
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
	Entry    int          // Atomic: its first node
	Last     int          // Atomic: where it is over

	test   truth
	value  number
	target *target
	op     *operation
	reads  access
	kills  access
}

// footprint is what a step may look at or change besides its process.
type footprint struct {
	mem    bool
	spaces []int // ascending
}

// access is a set of variables.
type access struct{ locals, mem map[int]bool }

type slot struct{ name string }

// A target is a variable that is written.
type target struct {
	mem   bool
	index int
	size  int    // of an array, else 0
	elem  number // of an array
	name  string
}

// An operation is a compiled operation on a space.
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
