package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
)

// newTaskWait is `leasehold task wait`.
func (a *app) newTaskWait() *cobra.Command {
	c := &cobra.Command{
		Use:   "wait ID…",
		Short: "wait for tasks to finish, and print their results",
		Long: `Wait until each task is resolved, dead or cancelled, and print its result as a
line of JSON, in the order of the arguments; null if it has none. Tasks that
finished earlier are known for as long as the setting retain keeps them.

The exit code is 0 if all are resolved, and 1 if one is dead, cancelled or not
known, or has not finished within the timeout.`,
		Example: `  leasehold task wait t17 t18 --timeout 5m
  leasehold task wait t17 --json`,
		Args: cobra.MinimumNArgs(1),
	}
	w := taskWait{app: a, output: bindOutput(c)}
	c.Flags().DurationVar(&w.timeout, "timeout", 0, "how long to wait (default: no limit)")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, ids []string) error {
		for _, id := range ids {
			if err := needID("task", id); err != nil {
				return err
			}
		}
		if c.Flags().Changed("timeout") && w.timeout <= 0 {
			return usagef("--timeout must be above 0; got %s", w.timeout)
		}
		return w.run(ctx, api, ids)
	})
}

// taskWait waits for tasks and prints them.
type taskWait struct {
	*app
	output  *output
	timeout time.Duration // 0: no limit
}

// run waits for the tasks in the order of ids. A task that is not resolved, or not known, does not
// keep it from the next one; any other error does, because the next wait would fail as well.
func (w taskWait) run(ctx context.Context, api *client.Client, ids []string) error {
	waiting := ctx
	if w.timeout > 0 {
		late := fmt.Errorf("not finished within %s", w.timeout)
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, w.timeout, late)
		defer cancel()
	}
	var ended []types.Task
	var failed []error
	for _, id := range ids {
		t, err := api.WaitTask(waiting, id)
		if errors.Is(err, fault.ErrNotFound) {
			failed = append(failed, err)
			continue
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("task %s: %w%s", id, err, whyNotEnded(ctx, api, id)))
			break
		}
		if t.State != string(task.Resolved) {
			failed = append(failed, endedAs(t))
		}
		ended = append(ended, t)
		if !w.output.structured() {
			failed = append(failed, w.printResult(t))
		}
	}
	if w.output.structured() {
		failed = append(failed, show(w.app, w.output, taskRows(ended), "no tasks"))
	}
	return errors.Join(failed...)
}

// whyNotEnded returns ": " and why a task has not ended: why it is not running, or who runs it. It returns ""
// if neither is known.
func whyNotEnded(ctx context.Context, api *client.Client, id string) string {
	if ctx.Err() != nil { // interrupted
		return ""
	}
	t, err := api.Task(ctx, id)
	switch {
	case err != nil:
		return ""
	case t.Why != nil:
		return ": " + t.Why.Text
	case t.CurrentClaimant != nil:
		return ": it is running at " + *t.CurrentClaimant
	}
	return ""
}

// printResult prints the result of a task on a line; null if it has none.
func (a *app) printResult(t types.Task) error {
	result := string(t.Result)
	if result == "" {
		result = "null"
	}
	_, err := fmt.Fprintln(a.out, escapeJSON(result))
	return err
}
