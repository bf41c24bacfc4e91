package autoscale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/wording"
)

// A Fleet starts and ends workers.
type Fleet interface {
	// Workers returns how many workers there are, or shall be since the last Scale. connected is how many sessions serve the
	// action and are not drained.
	Workers(ctx context.Context, connected int) (int, error)
	// DrainsItself reports whether Scale ends workers in order. If not, the sessions to end are drained before.
	DrainsItself() bool
	// Scale has as many workers as a change says. It may be repeated.
	Scale(ctx context.Context, c Change) error
}

// Change is a new number of workers.
type Change struct {
	Action   string
	From, To int
	Drained  []string // sessions, which have ended or end soon
}

// How long a command may take, and how long the processes that it leaves may write to its output.
const (
	commandTimeout = 10 * time.Minute
	outputAfter    = time.Second
)

// command is a fleet that a program of the operator starts and ends.
type command struct{ words []string }

// NewCommand returns a fleet for which a program is run, with arguments and the change in its environment.
// fault.ErrNotFound means that the program does not exist.
func NewCommand(words []string) (Fleet, error) {
	program, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("command %.100q: %w: %w", words[0], fault.ErrNotFound, err)
	}
	return &command{append([]string{program}, words[1:]...)}, nil
}

func (c *command) Workers(_ context.Context, connected int) (int, error) { return connected, nil }
func (c *command) DrainsItself() bool                                    { return false }

func (c *command) Scale(ctx context.Context, x Change) error {
	_, err := run(ctx, c.words, config.ScaleActionEnv+"="+x.Action, config.ScaleFromEnv+"="+strconv.Itoa(x.From),
		config.ScaleToEnv+"="+strconv.Itoa(x.To), config.ScaleDrainedEnv+"="+strings.Join(x.Drained, " "))
	return err
}

// run runs a program with variables added to the environment, and returns what it printed on standard output. Workers
// that it starts go on after it; all that it started is killed if it takes too long, or if ctx ends. Every failure wraps
// fault.ErrUnavailable and has the last line that the program printed.
func run(ctx context.Context, words []string, env ...string) (printed string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, fmt.Errorf("it did not end within %s", commandTimeout))
	defer cancel()
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	out, outEnd, errEnd := &limited{}, &wording.Tail{}, &wording.Tail{}
	c.Stdout, c.Stderr = io.MultiWriter(out, outEnd), errEnd
	c.Env = append(config.ChildEnvironment(), env...)
	platform.KillWithChildren(c)
	c.WaitDelay = outputAfter
	err = c.Run()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // which comes only after exit code 0
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		return "", fmt.Errorf("%s: %w: %w: %s", words[0], fault.ErrUnavailable, err, models.Redact(cmp.Or(errEnd.LastLine(), outEnd.LastLine())))
	}
	return string(out.kept), nil
}

// limited keeps the first megabyte that a command prints.
type limited struct{ kept []byte }

func (l *limited) Write(p []byte) (int, error) {
	const most = 1 << 20
	l.kept = append(l.kept, p[:min(len(p), most-len(l.kept))]...)
	return len(p), nil
}
