package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/wording"
)

// How long a command may take, and how long it may go on after SIGTERM.
const (
	commandTimeout = time.Minute
	killAfter      = 5 * time.Second
)

// command sends alerts by running a program with the alert on its standard input.
type command struct{ words []string }

// NewCommand returns a channel that runs a program with arguments, at least one word, for each
// alert. If it does not end with exit code 0 within a minute, it is run again later.
// fault.ErrNotFound means that the program does not exist.
func NewCommand(words []string) (Channel, error) {
	program, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("command for alerts: %w: %w", fault.ErrNotFound, err)
	}
	return &command{append([]string{program}, words[1:]...)}, nil
}

func (c *command) Name() string { return ChannelCommand }

// Send runs the command, and ends its process group when it has ended or commandTimeout is over. Every failure
// wraps fault.ErrUnavailable and has the last line that the command printed.
func (c *command) Send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, fmt.Errorf("it did not end within %s", commandTimeout))
	defer cancel()
	run := exec.CommandContext(ctx, c.words[0], c.words[1:]...)
	printed := &wording.Tail{}
	run.Stdin, run.Stderr, run.Stdout = bytes.NewReader(m.Body), printed, printed
	run.Env = append(config.ChildEnvironment(), m.Env...)
	err := platform.RunGroup(run, killAfter)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return fmt.Errorf("command: %w: %w: %s", fault.ErrUnavailable, err, models.Redact(printed.LastLine()))
}
