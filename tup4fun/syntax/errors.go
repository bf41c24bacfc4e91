package syntax

import (
	"cmp"
	"fmt"
	"strings"
)

// Limits of Parse.
const (
	MaxSource  = 16 << 20 // bytes of one file
	maxNesting = 200      // statements or parentheses inside each other
	MaxErrors  = 20       // reported for one file
	maxCopies  = 1000     // of one replicated process
)

// Pos is a position in a file. Lines and columns count from 1, columns in bytes. The
// zero Pos means none.
type Pos struct {
	Line int  `json:"line"`
	Col  int  `json:"column"`
	Init bool `json:"init,omitempty"` // in Boxes.Init
}

// String returns line:column.
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Compare returns -1 if p is before q in the file, 1 if it is after q, and 0 otherwise. The
// initialisation is before the program.
func (p Pos) Compare(q Pos) int {
	if p.Init != q.Init {
		return map[bool]int{true: -1, false: 1}[p.Init]
	}
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// Error is one error or warning in a program.
type Error struct {
	File string
	Pos  Pos
	Msg  string
}

// Error returns file:line:column: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%s: %s", e.File, e.Pos, e.Msg) }

// Errors are the errors in a program, in the order of the file. Functions that return it
// as an error return at least one.
type Errors []*Error

// Add records an error. Only the first error at one position is kept, because the others
// are consequences of it. After MaxErrors one more error states that there are more.
func (es *Errors) Add(file string, at Pos, format string, args ...any) {
	n := len(*es)
	if n > MaxErrors || n > 0 && (*es)[n-1].Pos == at {
		return
	}
	if n == MaxErrors {
		format, args = "more errors are not shown", nil
	}
	*es = append(*es, &Error{file, at, fmt.Sprintf(format, args...)})
}

// Error returns one line for each error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}
