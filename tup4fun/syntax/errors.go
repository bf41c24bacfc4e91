package syntax

import (
	"fmt"
	"strings"
)

// Bounds of what Parse reads.
const (
	MaxSource  = 16 << 20 // bytes of one file
	MaxNesting = 200      // statements or parentheses within each other
	MaxErrors  = 20       // after so many it gives up
	MaxCopies  = 1000     // of one replicated process
)

// Pos is a place in a file. Lines and columns count from 1, columns in bytes. The
// zero Pos is nowhere.
type Pos struct {
	Line int `json:"line"`
	Col  int `json:"column"`
}

// String returns line:column.
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Before reports whether p is earlier in the file than q.
func (p Pos) Before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// Error is one thing that is wrong with a program, or (as a warning) odd.
type Error struct {
	File string
	Pos  Pos
	Msg  string
}

// Error returns file:line:column: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%s: %s", e.File, e.Pos, e.Msg) }

// Errors is what is wrong with a program, in the order of the file. It is never
// empty where it is returned as an error.
type Errors []*Error

// Error returns one line for each error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}
