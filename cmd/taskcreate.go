package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/protocol/task"
)

// newTaskCreate is `leasehold task create`.
func (a *app) newTaskCreate() *cobra.Command {
	c := &cobra.Command{
		Use:   "create ACTION [JSON|@FILE|@-]",
		Short: "create a task, or one for each line of a file",
		Long: `Create a task for a worker that serves the action. The data of the task is JSON:
an argument, a file, or standard input (@-). --each creates a task for each line
of a file, with the line as its data, in batches of 1,000, each all or nothing.
The exit code is 1 if a task was cancelled at once by --on-limit drop, or is
dead because of a parent.`,
		Example: `  leasehold task create count '{"n": 1}' --timeout 5m
  ls *.png | jq -R . | leasehold task create convert --each -
  leasehold task create report --after t17,t18 --not-before 2h
  leasehold task create import --unique-key nightly --group tenant-7 --limits api`,
		Args: cobra.RangeArgs(1, 2),
	}
	create := taskCreate{app: a, command: c, output: bindOutput(c), operation: bindOperation(c.Flags())}
	bindNewTask(c, &create.task, &create.durations)
	c.Flags().StringVar(&create.each, "each", "", "file with one line of JSON for each task; - is standard input")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if err := create.read(args, time.Now()); err != nil {
			return err
		}
		if create.each != "" {
			e := eachLine{output: create.output, operation: create.operation}
			return a.createEach(ctx, api, e, create.task, create.each, c.InOrStdin())
		}
		return create.one(ctx, api)
	})
}

// taskCreate is a call of `leasehold task create`.
type taskCreate struct {
	*app
	command   *cobra.Command
	output    *output
	operation *operation
	task      types.NewTask
	durations taskDurations
	each      string // file with the data of many tasks; empty if there is one task
}

// read completes the task with the arguments and the durations, and refuses flags that cannot be
// combined. now is the time from which durations count.
func (c *taskCreate) read(args []string, now time.Time) (err error) {
	c.task.Action = args[0]
	if err := needID("action", c.task.Action); err != nil {
		return err
	}
	if len(args) > 1 {
		if c.task.Data, err = readData(args[1], c.command.InOrStdin()); err != nil {
			return err
		}
	}
	if err := c.durations.apply(c.command, &c.task, now); err != nil {
		return err
	}
	if c.operation.id != "" && (isDuration(c.durations.notBefore) || isDuration(c.durations.expires)) {
		return usagef("with --operation-id, use times such as 2026-11-22T15:00:00Z: a duration counts from now, so the repeated command would differ")
	}
	if c.each != "" && (len(args) > 1 || c.task.UniqueKey != "") {
		return usagef("--each cannot be combined with data or --unique-key, because each line is the data of its own task")
	}
	return nil
}

// one creates the task and prints it. It fails if the task has ended at once.
func (c *taskCreate) one(ctx context.Context, api *client.Client) error {
	t, err := api.CreateTask(c.operation.of(ctx, onlyRequest), c.task)
	if err != nil {
		return err
	}
	ended := endedAtOnce(t)
	if c.output.structured() {
		err = showOne(c.app, c.output, taskRow{t})
	} else if ended == nil { // otherwise the error has the ID
		_, err = fmt.Fprintln(c.out, createdLine(t, c.task.OnConflict))
	}
	return errors.Join(err, ended)
}

// endedAtOnce returns an error for a new task that its limit dropped, or that died because of a parent.
func endedAtOnce(t types.Task) error {
	if t.State != string(task.Cancelled) && t.State != string(task.StateDead) {
		return nil
	}
	return endedAs(t)
}

// endedAs is the error for a task that has not been resolved, with the reason if there is one.
func endedAs(t types.Task) error {
	if t.Note == "" || t.Note == t.State {
		return fmt.Errorf("task %s is %s", t.ID, t.State)
	}
	return fmt.Errorf("task %s is %s: %s", t.ID, t.State, t.Note)
}

// createdLine tells what the creation of t has done: an older task with the unique key is kept, or
// gets the data and the time of the new one.
func createdLine(t types.Task, onConflict string) string {
	switch {
	case !t.Existing:
		return fmt.Sprintf("created %s %s", t.ID, t.Action)
	case onConflict == "replace":
		return fmt.Sprintf("changed %s %s, which has the unique key %q", t.ID, t.Action, t.UniqueKey)
	default:
		return fmt.Sprintf("kept %s %s, which has the unique key %q; no task was created", t.ID, t.Action, t.UniqueKey)
	}
}

// bindNewTask adds the flags that describe a new task.
func bindNewTask(c *cobra.Command, n *types.NewTask, d *taskDurations) {
	f := c.Flags()
	f.StringVar(&n.Subject, "subject", "", "subject of the task")
	f.Int64Var(&n.Priority, "priority", 0, "priority; higher is sooner")
	f.DurationVar(&d.timeout, "timeout", 0, "how long an attempt may take (default 10m)")
	filledVar(f, &d.notBefore, "not-before", "earliest start: a duration from now, or a time such as 2026-11-22T15:00:00Z")
	filledVar(f, &d.expires, "expires", "when it becomes a dead letter unless a worker has it; same form as --not-before")
	f.Int64Var(&n.MaxAttempts, "max-attempts", 0, "number of failed attempts after which the task becomes a dead letter (default: the coordinator's max-attempts, plus 1)")
	f.DurationVar(&d.backoff, "backoff", 0, "pause after a failed attempt")
	filledVar(f, &n.UniqueKey, "unique-key", "key that only one live task can have; if another has it, that task is printed")
	f.StringVar(&n.OnConflict, "on-conflict", "", "if the unique key is taken: keep the other task (the default) or replace its data")
	filledVar(f, &n.Group, "group", "group of the task; groups of equal priority take turns")
	listVar(f, &n.Tags, "tags", "tags, separated by commas")
	listVar(f, &n.After, "after", "ids of tasks that must finish first")
	f.StringVar(&n.OnFailure, "on-failure", "", "if one of those fails: fail too (the default) or run")
	listVar(f, &n.Limits, "limits", "limits that it counts towards (leasehold limit)")
	f.StringVar(&n.OnLimit, "on-limit", "", "if a limit is reached: wait (the default), cancel_running or drop")
	f.DurationVar(&d.resultTTL, "result-tuple", 0, "also put the result into the space result, for this long")
}

// taskDurations are the flags of a new task that are not JSON as they are.
type taskDurations struct {
	timeout, backoff, resultTTL time.Duration
	notBefore, expires          string
}

// apply sets the fields of n that the flags give in another form; now is the time from which durations count.
// An invalid one is a usage error, and so is a flag without effect because another one is missing.
func (d taskDurations) apply(c *cobra.Command, n *types.NewTask, now time.Time) (err error) {
	if err := checkMaxAttempts(c, n.MaxAttempts); err != nil {
		return err
	}
	if c.Flags().Changed("timeout") {
		if d.timeout <= 0 {
			return usagef("--timeout must be above 0; got %s", d.timeout)
		}
		s := models.SecondsOf(d.timeout)
		n.Timeout = &s
	}
	if c.Flags().Changed("result-tuple") && d.resultTTL <= 0 {
		return usagef("--result-tuple must be above 0; got %s", d.resultTTL)
	}
	n.Backoff, n.ResultTTL, n.ResultTuple = models.SecondsOf(d.backoff), models.SecondsOf(d.resultTTL), d.resultTTL > 0
	if n.NotBefore, err = parseTime("--not-before", d.notBefore, now); err != nil {
		return err
	}
	n.ExpiresAt, err = parseTime("--expires", d.expires, now)
	return err
}

// checkMaxAttempts returns a usage error for a --max-attempts out of range. The coordinator does not
// refuse 0, because in JSON it stands for the default.
func checkMaxAttempts(c *cobra.Command, n int64) error {
	if c.Flags().Changed("max-attempts") && (n < 1 || n > task.MaxAttempts) {
		return usagef("--max-attempts must be from 1 to %d; got %d", task.MaxAttempts, n)
	}
	return nil
}

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}

// parseTime reads a duration above 0 from now, or a time. Empty text returns the zero time. The
// error is a usage error that names the flag.
func parseTime(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usagef("%s must be a duration above 0, such as 90m, or a time such as 2026-11-22T15:00:00Z; got %q", flag, text)
	}
	return t, nil
}

// maxData is the maximum size of a body at the API, in bytes.
const maxData = 1 << 20

// withoutBOM returns text without the byte order mark that editors and shells of Windows write in front of UTF-8.
func withoutBOM(text string) string { return strings.TrimPrefix(text, "\ufeff") }

// readData reads the data of a task: JSON text, or @ and the name of a file with it; @- is stdin.
// Errors are usage errors, also for more than maxData.
func readData(argument string, stdin io.Reader) (json.RawMessage, error) {
	text := argument
	if name, isFile := strings.CutPrefix(argument, "@"); isFile {
		in := stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return nil, usagef("data: %s", err)
			}
			defer f.Close()
			in = f
		}
		data, err := io.ReadAll(io.LimitReader(in, maxData+1))
		if err != nil {
			return nil, usagef("data %s: %s", argument, err)
		}
		if len(data) > maxData {
			return nil, usagef("data %s: larger than %d bytes", argument, maxData)
		}
		text = withoutBOM(string(data))
	}
	if !utf8.ValidString(text) {
		return nil, usagef("data must be UTF-8; got %.100q", text)
	}
	var compact json.RawMessage
	if err := json.Unmarshal([]byte(text), &compact); err != nil {
		if text == "" && argument != "" {
			return nil, usagef("data %s: want JSON; it is empty", argument)
		}
		return nil, usagef("data must be JSON or @FILE: %s; got %.100q", err, argument)
	}
	return compact, nil
}
