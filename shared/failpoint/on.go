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

// variable is the environment variable that selects where the process ends.
const variable = "FAILPOINT"

// trigger is a list of points that must be met one after the other; at the last one the
// process ends or stops.
type trigger struct {
	stops  bool
	mu     sync.Mutex // guards points
	points []point
}

// point is a place in the code, and how many visits are left until it counts as met.
type point struct {
	name, of string // of may be empty: any
	left     int
}

// configured is the trigger that the environment describes; without points it never fires.
var configured = sync.OnceValue(func() *trigger {
	f, err := parse(os.Getenv(variable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v; it has no effect\n", variable, err)
	}
	return f
})

// parse reads POINT[/OF]:VISIT, once or more, separated by spaces, and perhaps :stop.
func parse(text string) (*trigger, error) {
	f := &trigger{}
	text, f.stops = strings.CutSuffix(text, ":stop")
	for word := range strings.FieldsSeq(text) {
		where, visit, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(visit)
		if err != nil || n < 1 || where == "" {
			return &trigger{}, fmt.Errorf("want POINT[/OF]:VISIT with a VISIT from 1, and :stop only at the end; got %q", word)
		}
		m := point{left: n}
		m.name, m.of, _ = strings.Cut(where, "/")
		f.points = append(f.points, m)
	}
	return f, nil
}

// met counts a visit of a point, and reports whether it was the last one of the list.
func (f *trigger) met(point, of string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.points) == 0 {
		return false
	}
	m := &f.points[0]
	if m.name != point || m.of != "" && m.of != of {
		return false
	}
	if m.left--; m.left > 0 {
		return false
	}
	f.points = f.points[1:]
	return len(f.points) == 0
}

// Reached kills or stops the process if FAILPOINT selects point; of distinguishes callers
// that share a point.
func Reached(point, of string) {
	f := configured()
	switch {
	case !f.met(point, of):
	case f.stops:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // it cannot fail
	default:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // likewise, and does not return in time
		select {}
	}
}
