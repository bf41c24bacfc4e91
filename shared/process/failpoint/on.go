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
	t, err := parse(os.Getenv(variable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v; it has no effect\n", variable, err)
	}
	return t
})

// parse reads POINT[/OF]:VISIT, once or more, separated by spaces, and perhaps :stop.
func parse(text string) (*trigger, error) {
	t := &trigger{}
	text, t.stops = strings.CutSuffix(text, ":stop")
	for word := range strings.FieldsSeq(text) {
		where, visit, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(visit)
		if err != nil || n < 1 || where == "" {
			return &trigger{}, fmt.Errorf("want POINT[/OF]:VISIT with a VISIT from 1, and :stop only at the end; got %q", word)
		}
		p := point{left: n}
		p.name, p.of, _ = strings.Cut(where, "/")
		t.points = append(t.points, p)
	}
	return t, nil
}

// met counts a visit of a point, and reports whether it was the last one of the list.
func (t *trigger) met(point, of string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.points) == 0 {
		return false
	}
	next := &t.points[0]
	if next.name != point || next.of != "" && next.of != of {
		return false
	}
	if next.left--; next.left > 0 {
		return false
	}
	t.points = t.points[1:]
	return len(t.points) == 0
}

// Reached kills or stops the process if FAILPOINT selects point; of distinguishes callers
// that share a point.
func Reached(point, of string) {
	t := configured()
	switch {
	case !t.met(point, of):
	case t.stops:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // it cannot fail
	default:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // likewise, and does not return in time
		select {}
	}
}
