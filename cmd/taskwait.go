package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// newTaskWait is `leasehold task wait`.
func (a *app) newTaskWait() *cobra.Command {
	var timeout time.Duration
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
	o := bindOutput(c)
	c.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait (default: no limit)")
	c.RunE = a.withCoordinator(func(ctx context.Context, api *client.Client, args []string) error {
		for _, id := range args {
			if err := needID("task", id); err != nil {
				return err
			}
		}
		if c.Flags().Changed("timeout") && timeout <= 0 {
			return usagef("--timeout must be above 0; got %s", timeout)
		}
		whole := ctx // without the timeout
		if timeout > 0 {
			late := fmt.Errorf("not finished within %s", timeout)
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, timeout, late)
			defer cancel()
		}
		var ended []types.Task
		var failed []error
		for _, id := range args {
			t, err := api.WaitTask(ctx, id)
			if errors.Is(err, fault.ErrNotFound) {
				failed = append(failed, err)
				continue
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("task %s: %w%s", id, err, whyNotEnded(whole, api, id)))
				break
			}
			if t.State != "resolved" {
				failed = append(failed, fmt.Errorf("task %s is %s: %s", id, t.State, t.Note))
			}
			ended = append(ended, t)
			if o.form == asTable {
				if err := a.printResult(t); err != nil {
					return err
				}
			}
		}
		if o.form != asTable {
			failed = append(failed, show(a, o, taskRows(ended), "no tasks"))
		}
		return errors.Join(failed...)
	})
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
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
	_, err := fmt.Fprintln(a.out, result)
	return err
}
