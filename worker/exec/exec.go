// Package exec does tasks by running commands, so that any program can be a worker.
//
// A command gets the task's data as JSON on its standard input, and the task's id, action and
// number of failed attempts in its environment. If the task has parents, the environment also
// names a file with their results, which exists while the command runs. What it prints on standard
// output is the result: JSON as it is, any other text as a JSON string. Lines on standard error of
// the form "progress 0.4 text" are progress; the last other lines are kept if the attempt fails.
//
//	exit code 0    the task is resolved
//	65             no worker can do it: the task is dead at once
//	75             not now: the task is offered again after a delay, and no attempt is counted
//	other, signal  the attempt failed: another worker may try
//
// The numbers come from sysexits.h: EX_DATAERR and EX_TEMPFAIL.
package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/tracing"
	"leasehold/worker"
)

const (
	codeGiveUp = 65
	codeLater  = 75

	// laterDelay is how long a task waits after a command ended with codeLater.
	laterDelay = 30 * time.Second
	// killAfter is how long a command may go on after SIGTERM. It is shorter than the time
	// after which a worker takes its handler for stuck.
	killAfter = 5 * time.Second
)

// Handler does the tasks of one action by a command. It may be used concurrently.
type Handler struct {
	words  []string
	dir    string
	output int

	killAfter time.Duration
}

var _ worker.Handler = (*Handler)(nil)

// New returns a handler that runs a program with arguments in a folder. A relative path of the program begins
// there, too. If dir is empty, the program runs in the folder of this process. The program may print at most
// output bytes on standard output. New fails with fault.ErrNotFound if the folder or the program does not exist,
// or the program cannot be run.
func New(words []string, dir string, output int64) (*Handler, error) {
	program := words[0]
	if dir != "" {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(whole); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--exec-dir %s: %w: want a folder that exists", whole, fault.ErrNotFound)
		}
		if isPath := filepath.Base(program) != program; isPath && !filepath.IsAbs(program) {
			program = filepath.Join(whole, program)
		}
	}
	program, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrNotFound, err)
	}
	return &Handler{append([]string{program}, words[1:]...), dir, int(output), killAfter}, nil
}

// Handle runs the command for one task, and resolves the task with what the command printed. If the command
// cannot be started, the machine is the cause (worker.Unable), unless the task makes the environment too large. If it
// fails, the error is a worker.Failure with the meaning of the exit code. If ctx ends, or the command prints too
// much (fault.ErrTooLarge), the command is ended, and the Failure wraps the cause.
func (h *Handler) Handle(ctx context.Context, job worker.Job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &limitedBuffer{max: h.output, exceeded: func() {
		cancel(fmt.Errorf("the command printed more than %d bytes on standard output (--exec-output): %w", h.output, fault.ErrTooLarge))
	}}
	// An error of Note is ignored: if the task was taken away, the coordinator's message ends ctx.
	messages := &messages{note: func(p models.Progress) { _ = job.Note(ctx, p) }}
	c := h.command(ctx, job)
	parents, err := writeParents(ctx, job)
	if err != nil {
		err = fmt.Errorf("results of parents: %w", err)
		if errors.As(err, new(*os.PathError)) {
			return worker.Unable(err)
		}
		return err
	}
	if parents != "" {
		defer func() { _ = os.Remove(parents) }()
		c.Env = append(c.Env, config.TaskParentsEnv+"="+parents)
	}
	c.Stdout, c.Stderr = out, messages
	err = platform.RunGroup(c, h.killAfter)
	messages.endLine()
	if cause := context.Cause(ctx); cause != nil {
		err = cause // instead of "signal: terminated"
	}
	if err != nil && c.Process == nil && ctx.Err() == nil && !errors.Is(err, syscall.E2BIG) && !errors.Is(err, syscall.EINVAL) {
		return worker.Unable(fmt.Errorf("the command could not be started: %w", err))
	}
	if err != nil {
		return failure(err, messages.last())
	}
	for _, line := range messages.last() {
		job.Log(line)
	}
	return job.Resolve(ctx, "", asJSON(out.buffer.Bytes()))
}

// command returns the command of a task, not started yet.
func (h *Handler) command(ctx context.Context, job worker.Job) *exec.Cmd {
	t := job.Task()
	c := exec.CommandContext(ctx, h.words[0], h.words[1:]...)
	c.Dir = h.dir
	c.Stdin = bytes.NewReader(t.Data)
	c.Env = append(config.ChildEnvironment(), config.TaskIDEnv+"="+t.ID, config.TaskActionEnv+"="+t.Action,
		config.TaskAttemptsEnv+"="+strconv.FormatInt(t.Attempts, 10), config.TaskTagsEnv+"="+strings.Join(t.Tags, "\n"))
	c.Env = append(c.Env, tracing.Environment(ctx)...)
	return c
}

// writeParents writes how the parents of a task ended as a JSON array, in the form of the HTTP API, to a
// temporary file, which only this user can read, and returns its path. The caller removes it. The path is empty
// if there are no parents. A file is used because the size of variables is limited.
func writeParents(ctx context.Context, job worker.Job) (path string, err error) {
	if len(job.Parents()) == 0 {
		return "", nil
	}
	file, err := os.CreateTemp("", "leasehold-parents-*.json")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			path, err = "", errors.Join(err, os.Remove(file.Name()))
		}
	}()
	separator := "["
	for p, err := range job.ReadParents(ctx) { // one by one, because they may be large together
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(types.ParentResult{Task: p.ID, State: string(p.State), Result: []byte(p.Result)})
		if err != nil {
			return "", err
		}
		if _, err := file.Write(append([]byte(separator), text...)); err != nil {
			return "", err
		}
		separator = ","
	}
	_, err = file.WriteString("]")
	return file.Name(), err
}

// failure returns the error of a command, its last lines and the meaning of its exit code:
// codeGiveUp, codeLater or, for any other code or a signal, a failed attempt. Only a command that
// was started and not stopped by ctx has an exit code.
func failure(err error, output []string) error {
	f := &worker.Failure{Err: fmt.Errorf("command: %w", err), Output: strings.Join(output, "\n")}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		f.GiveUp = exit.ExitCode() == codeGiveUp
		if exit.ExitCode() == codeLater {
			f.Later = laterDelay
		}
		if len(output) > 0 {
			f.Err = fmt.Errorf("command: %w: %s", err, output[len(output)-1])
		}
	}
	return f
}

// asJSON returns the output of a command as JSON: as it is if it is JSON, else as a string without
// the last line feed.
func asJSON(printed []byte) json.RawMessage {
	printed = bytes.TrimPrefix(printed, []byte("\ufeff")) // programs of Windows write this byte order mark
	if trimmed := bytes.TrimSpace(printed); json.Valid(trimmed) && utf8.Valid(trimmed) {
		return trimmed
	}
	text := strings.TrimSuffix(strings.ToValidUTF8(string(printed), "\uFFFD"), "\n")
	encoded, _ := json.Marshal(text) // a string is always encoded
	return encoded
}

// limitedBuffer keeps the first max bytes that are written to it. Each write that exceeds them calls
// exceeded, and the rest is dropped; it does not fail, because exceeded ends the command.
type limitedBuffer struct {
	buffer   bytes.Buffer
	max      int
	exceeded func()
}

// Write keeps p up to max bytes. Beyond them it calls exceeded, which ends the command, and drops
// the rest without an error, so that the command does not fail before it is ended.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	if free := l.max - l.buffer.Len(); len(p) > free {
		l.buffer.Write(p[:free])
		l.exceeded()
		return len(p), nil
	}
	return l.buffer.Write(p)
}
