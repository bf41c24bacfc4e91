// Package conformance checks what a coordinator does against the models of its protocols, while it does it: it runs
// `leasehold tup4fun conform --live` on the coordinator's own trace, in a process of its own with the lowest priority,
// and keeps what that finds.
//
// The process reads the trace from the last reload on. If it cannot go on, because files of the trace were removed
// before it read them or it would need too much memory, it waits for the next reload. The Check then asks the
// coordinator to list its state in the trace at the next quiet point (engine.Engine.TraceState). A process that ends is
// started again after a pause; it ends with its coordinator.
//
// The package does not know the models: the process finds deviations.
package conformance

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/wording"
)

// The pauses of a check.
const (
	statePause = time.Minute     // between the first two requests that the trace lists the state; it doubles
	maxPause   = time.Hour       // between two of them
	killAfter  = 2 * time.Second // after SIGTERM
)

// maxDeviations is how many models there may be with deviations.
const maxDeviations = 100

// Config is what a Check needs.
type Config struct {
	Trace   string   // file
	Command []string // the program that checks, with its arguments before the trace; empty: this program
	// TraceState makes the trace list the state of the coordinator at the next quiet point.
	TraceState func()
	Pause      time.Duration // before a process that ended is started again; 0: 10 s
	Log        *slog.Logger
}

// Check is the check of a trace. Its exported methods may be called concurrently.
type Check struct {
	Config
	written atomic.Uint64 // number of the last event of the trace

	mu         sync.Mutex // guards the fields below
	note       models.CheckNote
	problem    string // of the process
	ended      string // why the trace ended
	deviations []models.Deviations
	last       map[string]uint64 // by model: the event of the last deviation
	ask        time.Time         // when TraceState may be called again
	pause      time.Duration     // after the next call of it
}

// New returns a check that has found nothing. Run runs it.
func New(c Config) *Check {
	c.Pause = cmp.Or(c.Pause, 10*time.Second)
	return &Check{Config: c, problem: "its check has not begun", last: map[string]uint64{}, pause: statePause}
}

// Wrote notes the number of the last event of the trace.
func (c *Check) Wrote(seq uint64) { c.written.Store(seq) }

// Stopped notes why the trace cannot be written any more.
func (c *Check) Stopped(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err.Error()
}

// Conformance returns what is known of the check.
func (c *Check) Conformance() models.Conformance {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := models.Conformance{Trace: c.Trace, Problem: cmp.Or(c.ended, c.problem), Waits: maps.Clone(c.note.Waits), Deviations: slices.Clone(c.deviations)}
	if written := c.written.Load(); written > c.note.Seq {
		found.Behind = written - c.note.Seq
	}
	return found
}

// Run runs the process that checks until ctx ends, and starts it again after a pause when it ends before. It returns nil.
func (c *Check) Run(ctx context.Context) error {
	for {
		why := c.runProcess(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.Log.Warn("the check of the trace ended; it is started again", "after", c.Pause, "reason", why)
		c.setProblem("its check ended, and is started again: " + why)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(c.Pause):
		}
	}
}

// runProcess runs a process to its end, and returns why it ended.
func (c *Check) runProcess(ctx context.Context) (why string) {
	words := c.Command
	if len(words) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err.Error()
		}
		words = []string{self, "tup4fun", "conform", "--live"}
	}
	run := exec.CommandContext(ctx, words[0], append(words[1:len(words):len(words)], c.Trace)...)
	notes, printed := &notes{each: c.take}, &wording.Tail{}
	run.Stdout, run.Stderr = notes, printed
	run.Env = append(config.ChildEnvironment(), "GOMAXPROCS=1", "GOMEMLIMIT=256MiB")
	err := platform.RunInBackground(run, killAfter)
	if err == nil {
		return "exit code 0"
	}
	return fmt.Sprintf("%s: %s", err, models.Redact(printed.LastLine()))
}

// setProblem sets why the trace is not checked.
func (c *Check) setProblem(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problem = text
}

// take takes a note of the process. The first one shows that it checks.
func (c *Check) take(n models.CheckNote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note, c.problem = n, ""
	if now := time.Now(); len(n.Waits) > 0 && now.After(c.ask) {
		c.ask = now.Add(c.pause)
		c.pause = min(2*c.pause, maxPause)
		c.TraceState()
	}
	if d := n.Deviation; d != nil && d.Seq > c.last[d.Model] { // the next process may find it again
		c.addDeviation(*d)
	}
}

// addDeviation logs and counts a deviation. The caller holds c.mu.
func (c *Check) addDeviation(d models.Deviation) {
	c.last[d.Model] = d.Seq
	c.Log.Error("the coordinator did what its model forbids", "model", d.Model, "event", d.Seq, "why", d.Why, "explanation", d.Text)
	for i := range c.deviations {
		if c.deviations[i].First.Model == d.Model {
			c.deviations[i].Count++
			return
		}
	}
	if len(c.deviations) < maxDeviations {
		c.deviations = append(c.deviations, models.Deviations{First: d, Count: 1})
	}
}
