//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Variable is what says where the process ends.
const Variable = "FAILPOINT"

// fuse is one moment after the other; the last one is where the process ends, or
// stops.
type fuse struct {
	stops   bool
	mu      sync.Mutex // guards what follows
	moments []moment
}

// moment is a point, and how many visits are left until it is met.
type moment struct {
	point, of string // of may be empty: any
	left      int
}

// lit is the fuse that the environment has lit; one without moments never burns.
var lit = sync.OnceValue(func() *fuse {
	f, err := parse(os.Getenv(Variable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v; it has no effect\n", Variable, err)
	}
	return f
})

// parse reads POINT[/OF]:VISIT, once or more, separated by spaces, and perhaps :stop.
func parse(text string) (*fuse, error) {
	f := &fuse{}
	text, f.stops = strings.CutSuffix(text, ":stop")
	for word := range strings.FieldsSeq(text) {
		where, visit, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(visit)
		if err != nil || n < 1 || where == "" {
			return &fuse{}, fmt.Errorf("POINT[/OF]:VISIT is wanted, with a VISIT from 1, and :stop only at the end; got %q", word)
		}
		m := moment{left: n}
		m.point, m.of, _ = strings.Cut(where, "/")
		f.moments = append(f.moments, m)
	}
	return f, nil
}

// met reports whether the last moment has come.
func (f *fuse) met(point, of string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.moments) == 0 {
		return false
	}
	m := &f.moments[0]
	if m.point != point || m.of != "" && m.of != of {
		return false
	}
	if m.left--; m.left > 0 {
		return false
	}
	f.moments = f.moments[1:]
	return len(f.moments) == 0
}

// Reached says that the process is at point, about what of names if the point is
// passed for several reasons. If this is where the process is to end or
// to stop, it does.
func Reached(point, of string) {
	f := lit()
	switch {
	case !f.met(point, of):
	case f.stops:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // it cannot fail
	default:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // likewise, and does not return in time
		select {}
	}
}
