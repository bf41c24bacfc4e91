package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// newTask is `leasehold task`.
func (a *app) newTask() *cobra.Command {
	c := &cobra.Command{
		Use:   "task",
		Short: "create, list, wait for and cancel tasks; pause actions",
	}
	c.AddCommand(a.newTaskCreate(), a.newTaskList(), a.newTaskShow(), a.newTaskWait(), a.newTaskCancel(), a.newTaskRequeue(), a.newTaskDiscard(),
		a.newTaskPause(), a.newTaskResume())
	return c
}

// newTaskList is `leasehold task list`.
func (a *app) newTaskList() *cobra.Command {
	c, f := a.newTasks("print the tasks that are alive or finished", "no tasks", (*client.Client).Tasks)
	filledVar(c.Flags(), &f.State, "state", "only tasks in this state: "+strings.Join(taskStates, ", "))
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(taskStates, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return c
}

// taskStates are the states by which tasks can be listed.
var taskStates = []string{"waiting", "delayed", "blocked", "paused", "claimed", "dead", "resolved", "cancelled", "ended"}

// newTasks returns a command that lists tasks, and the filter that its flags set.
func (a *app) newTasks(short, none string, list listTasks) (*cobra.Command, *client.TaskFilter) {
	f := &client.TaskFilter{}
	c := &cobra.Command{
		Use:   "list",
		Short: short,
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	bindTaskFilter(c, f)
	most := bindLimit(c)
	a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		all, more, err := list(api, ctx, *f, int(*most))
		if err != nil {
			return err
		}
		if err := show(a, o, taskRows(all), none); err != nil || !more {
			return err
		}
		_, err = fmt.Fprintf(a.err, "leasehold: %d shown, and there are more; raise --limit to see them\n", len(all))
		return err
	})
	return a.watchable(c), f
}

// listTasks is a method that lists tasks; the bool reports whether there may be more than
// the limit allows.
type listTasks = func(*client.Client, context.Context, client.TaskFilter, int) ([]types.Task, bool, error)

// bindTaskFilter adds the flags that select tasks.
func bindTaskFilter(c *cobra.Command, f *client.TaskFilter) {
	filledVar(c.Flags(), &f.Action, "action", "only tasks of this action")
	filledVar(c.Flags(), &f.Tag, "tag", "only tasks with this tag")
	filledVar(c.Flags(), &f.Group, "group", "only tasks of this group")
	filledVar(c.Flags(), &f.Text, "text", "only tasks whose last error contains this text")
	filledVar(c.Flags(), &f.Data, "data-text", "only tasks whose data contain this text, in the same case")
	c.Flags().Var((*ageValue)(&f.Older), "older", "only tasks created at least this long ago")
	c.Flags().Var((*ageValue)(&f.Younger), "younger", "only tasks created at most this long ago")
}

// newTaskShow is `leasehold task show`.
func (a *app) newTaskShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "print one task: its data, why it waits, how it ended",
		Args:  cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if err := needID("task", args[0]); err != nil {
			return err
		}
		t, err := api.Task(ctx, args[0])
		if err != nil {
			return err
		}
		row := taskRow{t}
		if !o.structured() {
			row.History = nil // each attempt follows below the table
		}
		if err := showOne(a, o, row); err != nil || o.structured() {
			return err
		}
		return a.printAttempts(t)
	})
}

// newTaskCancel is `leasehold task cancel`.
func (a *app) newTaskCancel() *cobra.Command {
	var f client.TaskFilter
	var all, yes bool
	reason := ""
	c := &cobra.Command{
		Use:   "cancel [ID…]",
		Short: "cancel tasks that wait or run",
		Long: `End tasks that wait or run; the worker of a running task is stopped. Tasks with
a lease are refused, because the manager that created one would create it again.

Name them, or select them with flags (--all selects all). The command asks
before it cancels a selection, unless --yes is set.`,
		Example: "  leasehold task cancel t17 t18\n  leasehold task cancel --action import --state waiting --yes",
	}
	bindTaskFilter(c, &f)
	filledVar(c.Flags(), &f.State, "state", "only tasks in this state: "+strings.Join(liveStates, ", "))
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(liveStates, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	c.Flags().BoolVar(&all, "all", false, "select all live tasks, or all that match the other flags")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().StringVar(&reason, "reason", "", "reason, shown to people")
	op := bindOperation(c.Flags())
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		selects, err := selectsTasks("tasks", all, f, args)
		if err != nil {
			return err
		}
		if selects {
			return a.changeSelected(ctx, api, c.InOrStdin(), selection{bulk: client.BulkCancel, verb: "cancel", past: "cancelled", noun: "task", filter: f, yes: yes, reason: reason})
		}
		return a.changeEach(ctx, api, args, "cancelled", func(ctx context.Context, api *client.Client, id string) (string, error) {
			return "", api.CancelTask(op.of(ctx, id), id, reason)
		})
	})
}

// liveStates are the states of tasks that can be cancelled.
var liveStates = []string{"waiting", "delayed", "blocked", "paused", "claimed"}

// selectsTasks reports whether flags select tasks, and not arguments. It refuses both, neither, and invalid ids.
func selectsTasks(what string, all bool, f client.TaskFilter, args []string) (bool, error) {
	selects := all || f != client.TaskFilter{}
	switch {
	case selects && len(args) > 0:
		return false, usagef("name %s by id, such as %.50q, or select them with flags, but not both", what, args[0])
	case !selects && len(args) == 0:
		return false, usagef("name %s, or select them with --all or other flags", what)
	}
	for _, id := range args {
		if err := needID("task", id); err != nil {
			return false, err
		}
	}
	return selects, nil
}

// newTaskRequeue is `leasehold task requeue`, the same as `leasehold dead requeue`.
func (a *app) newTaskRequeue() *cobra.Command {
	return a.eachTask("requeue ID…", "queue dead letters again, under their ids", "requeued", requeueOne)
}

// newTaskDiscard is `leasehold task discard`, the same as `leasehold dead discard`.
func (a *app) newTaskDiscard() *cobra.Command {
	return a.eachTask("discard ID…", "remove dead letters for good", "discarded", discardOne)
}

// eachTask returns a command that calls do with each named task, and prints past and the detail that do
// returns. All ids are checked first; the first error of do ends it.
func (a *app) eachTask(use, short, past string, do func(context.Context, *client.Client, string) (string, error)) *cobra.Command {
	var op *operation
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.MinimumNArgs(1),
	}
	op = bindOperation(c.Flags())
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		for _, id := range args {
			if err := needID("task", id); err != nil {
				return err
			}
		}
		return a.changeEach(ctx, api, args, past, func(ctx context.Context, api *client.Client, id string) (string, error) {
			return do(op.of(ctx, id), api, id)
		})
	})
}

// newTaskPause is `leasehold task pause`.
func (a *app) newTaskPause() *cobra.Command {
	reason := ""
	c := a.eachAction("pause ACTION…", "start no more tasks of an action", func(api *client.Client, ctx context.Context, action string) (types.Action, error) {
		return api.PauseActionFor(ctx, action, reason)
	})
	c.Flags().StringVar(&reason, "reason", "", "reason, shown to people")
	c.Long = "Start no more tasks of an action until it is resumed. Running tasks continue,\nand new tasks can be created."
	return c
}

// newTaskResume is `leasehold task resume`.
func (a *app) newTaskResume() *cobra.Command {
	return a.eachAction("resume ACTION…", "start tasks of a paused action again", (*client.Client).ResumeAction)
}

// eachAction returns a command that calls do with each named action, and prints whether it is paused.
func (a *app) eachAction(use, short string, do func(*client.Client, context.Context, string) (types.Action, error)) *cobra.Command {
	var op *operation
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.MinimumNArgs(1),
	}
	op = bindOperation(c.Flags())
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		for _, action := range args {
			if err := needID("action", action); err != nil {
				return err
			}
		}
		for _, action := range args {
			x, err := do(api, op.of(ctx, action), action)
			if err != nil {
				return err
			}
			state := "not paused"
			if x.Paused {
				state = "paused"
			}
			if _, err := sayf(a.out, "%s is %s: %d running, %d waiting\n", action, state, x.Tasks["claimed"], x.Tasks["waiting"]+x.Tasks["paused"]); err != nil {
				return err
			}
		}
		return nil
	})
}
