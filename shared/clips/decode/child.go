package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"leasehold/shared/process/platform"
)

const (
	maxStderr = 4096 // bytes of a child's stderr that are kept: the last ones
	maxLines  = 4    // lines of it that an error quotes: the last ones
	killAfter = 5 * time.Second
	// defaultStall is how long a child may print nothing before it is killed. It decodes
	// a hundred times faster than real time, even on a busy machine.
	defaultStall = time.Minute
)

// errStalled is the error of a child that was killed because it printed nothing, or did
// not exit, for the stall time.
var errStalled = errors.New("it gave nothing for too long, and was ended")

// child is a process that decodes. It is killed with its process group if its context
// ends or it stalls.
type child struct {
	cmd    *exec.Cmd
	ctx    context.Context
	cancel context.CancelCauseFunc
	out    io.ReadCloser
	stderr tail
	stall  time.Duration
	waited bool
	err    error // what wait returned
}

// start runs bin with args, and feeds stdin to it unless stdin is nil. The caller ends it with wait
// or end. stall is how long it may print nothing. ctx ends it and the processes that it started.
func start(ctx context.Context, bin string, args []string, stdin io.Reader, stall time.Duration) (*child, error) {
	c := &child{stall: stall}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.cmd = exec.CommandContext(c.ctx, bin, args...)
	c.cmd.Stdin = stdin
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = killAfter
	platform.KillWithChildren(c.cmd)
	var err error
	if c.out, err = c.cmd.StdoutPipe(); err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		c.cancel(nil)
		return nil, fmt.Errorf("ffmpeg: %w", err)
	}
	return c, nil
}

// Read reads the child's stdout. If nothing arrives for c.stall, it kills the child and returns
// errStalled.
func (c *child) Read(p []byte) (int, error) {
	if d, ok := c.out.(interface{ SetReadDeadline(time.Time) error }); ok {
		if err := d.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
			return 0, err
		}
	}
	n, err := c.out.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.cancel(errStalled)
		return n, fmt.Errorf("ffmpeg: %w (%v)", errStalled, c.stall)
	}
	return n, err
}

// wait reaps the child and returns how it ended: nil, an *exec.ExitError, the cause of its
// context's end, errStalled, or another error of the system. It waits at most c.stall after the
// last output. A second call returns the same. Processes that the child left behind are killed;
// usually there are none.
func (c *child) wait() error {
	if c.waited {
		return c.err
	}
	c.waited = true
	late := time.AfterFunc(c.stall, func() { c.cancel(errStalled) })
	defer late.Stop()
	err := c.cmd.Wait()
	_ = c.cmd.Cancel()
	if c.ctx.Err() != nil {
		err = context.Cause(c.ctx)
	}
	c.err = err
	c.cancel(nil)
	return err
}

// end kills the child and waits for it.
func (c *child) end() {
	c.cancel(context.Canceled)
	_ = c.wait() // the result is ignored, because the child was killed
}

// addresses matches the pointers that ffmpeg prints to distinguish its objects.
var addresses = regexp.MustCompile(` @ 0x[0-9a-f]+`)

// lastLines returns the last lines of the child's stderr. It removes the file's path, because
// the path is ours and not the name that the user knows.
func (c *child) lastLines(path string) string {
	lines := strings.Split(strings.TrimSpace(c.stderr.String()), "\n")
	text := strings.Join(lines[max(0, len(lines)-maxLines):], " ")
	if path != "" {
		text = strings.ReplaceAll(text, "file:"+path+": ", "")
		text = strings.ReplaceAll(text, " file:"+path, "") // as versions since 6.1 print it
	}
	return addresses.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
}

// tail keeps the last maxStderr bytes written to it, and counts how often ffmpeg
// reports that it could not decode something.
type tail struct {
	b   []byte
	bad int64
}

// badFrame holds the messages for a frame that ffmpeg could not decode: until version 6.0, and since.
var badFrame = [][]byte{[]byte("Error while decoding stream"), []byte("Error submitting packet to decoder"), []byte("Decoding error: ")}

// Write counts the messages of badFrame, also those that are cut between two calls, because a
// pipe may cut a line anywhere, and keeps the last maxStderr bytes. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	for _, message := range badFrame {
		before := t.b[max(0, len(t.b)-len(message)+1):]
		seam := slices.Concat(before, p[:min(len(p), len(message)-1)])
		t.bad += int64(bytes.Count(p, message) + bytes.Count(seam, message))
	}
	t.b = append(t.b, p[max(0, len(p)-maxStderr):]...)
	t.b = t.b[max(0, len(t.b)-maxStderr):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }
