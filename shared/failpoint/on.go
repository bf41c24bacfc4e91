//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Variable is what says where the process ends.
const Variable = "FAILPOINT"

// fuse is where, and how many visits are left until then.
type fuse struct {
	point, of string // of may be empty: any
	left      atomic.Int64
}

// lit is the fuse that the environment has lit; nil is none.
var lit = sync.OnceValue(func() *fuse {
	text := os.Getenv(Variable)
	if text == "" {
		return nil
	}
	f, err := parse(text)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s=%s: %v; it has no effect\n", Variable, text, err)
	}
	return f
})

// parse reads POINT[/OF]:VISIT.
func parse(text string) (*fuse, error) {
	where, visit, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(visit, 10, 64)
	if err != nil || n < 1 || where == "" {
		return nil, fmt.Errorf("POINT[/OF]:VISIT is wanted, with a VISIT from 1")
	}
	f := &fuse{}
	f.point, f.of, _ = strings.Cut(where, "/")
	f.left.Store(n)
	return f, nil
}

// met reports whether this is the visit.
func (f *fuse) met(point, of string) bool {
	return f != nil && f.point == point && (f.of == "" || f.of == of) && f.left.Add(-1) == 0
}

// Reached says that the process is at point, about what of names if the point is
// passed for several reasons. If this is where the process is to end, it does.
func Reached(point, of string) {
	if !lit().met(point, of) {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it cannot fail, and does not return in time
	select {}
}
