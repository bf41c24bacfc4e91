package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/apiclient"
	"leasehold/shared/apitypes"
	"leasehold/shared/config"
)

// newTask is `leasehold task`.
func (a *app) newTask() *cobra.Command {
	c := &cobra.Command{
		Use:   "task",
		Short: "create, list and show tasks",
	}
	c.AddCommand(a.newTaskCreate(), a.newTaskList(), a.newTaskShow())
	return c
}

// newTaskCreate is `leasehold task create`.
func (a *app) newTaskCreate() *cobra.Command {
	var n apitypes.NewTask
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "create ACTION [JSON|@FILE|@-]",
		Short: "create a task",
		Long: `Create a task for a worker that serves the action. Its data is JSON: an
argument, a file, or standard input (@-).`,
		Example: `  leasehold task create count '{"n": 1}' --timeout 5m`,
		Args:    cobra.RangeArgs(1, 2),
	}
	o := bindOutput(c)
	c.Flags().StringVar(&n.Subject, "subject", "", "subject of the task")
	c.Flags().Int64Var(&n.Priority, "priority", 0, "priority; higher is sooner")
	c.Flags().DurationVar(&timeout, "timeout", 0, "maximum time of an attempt (default 10m)")
	c.Flags().Lookup("timeout").DefValue = "0s" // hides the default in the help: it is the coordinator's
	c.RunE = a.withCoordinator(func(ctx context.Context, api *apiclient.Client, args []string) (err error) {
		n.Action = args[0]
		if err := needID("action", n.Action); err != nil {
			return err
		}
		if len(args) > 1 {
			if n.Data, err = readData(args[1], c.InOrStdin()); err != nil {
				return err
			}
		}
		if c.Flags().Changed("timeout") {
			if timeout <= 0 {
				return usagef("--timeout must be above 0; got %s", timeout)
			}
			s := models.SecondsOf(timeout)
			n.Timeout = &s
		}
		t, err := api.CreateTask(ctx, n)
		if err != nil {
			return err
		}
		if o.form == asTable {
			_, err := fmt.Fprintf(a.out, "created %s %s\n", t.ID, t.Action)
			return err
		}
		return showOne(a, o, taskRow{t})
	})
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}

// maxData is the maximum size of a body at the API, in bytes.
const maxData = 1 << 20

// readData reads the data of a task: JSON text, or @ and the name of a file with it.
func readData(said string, stdin io.Reader) (json.RawMessage, error) {
	text := said
	if name, isFile := strings.CutPrefix(said, "@"); isFile {
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
			return nil, usagef("data %s: %s", said, err)
		}
		if len(data) > maxData {
			return nil, usagef("data %s: larger than %d bytes", said, maxData)
		}
		text = string(data)
	}
	var compact json.RawMessage
	if err := json.Unmarshal([]byte(text), &compact); err != nil {
		return nil, usagef("data must be JSON or @FILE: %s; got %.100q", err, said)
	}
	return compact, nil
}

// taskRow is a task or a dead letter as a row.
type taskRow struct{ apitypes.Task }

func (r taskRow) columns() []column {
	state := r.State
	if r.Holder != "" {
		state += " by " + r.Holder
	}
	return []column{
		{head: "task", cell: r.ID}, {head: "action", cell: r.Action}, {head: "state", cell: state},
		{head: "priority", cell: fmt.Sprint(r.Priority)}, {head: "attempts", cell: fmt.Sprint(r.Attempts)},
		{head: "subject", cell: r.Subject}, {head: "note", cell: r.Note},
		{head: "parts", cell: strings.Join(r.Parts, ", "), detail: true},
		{head: "lease", cell: r.Lease, detail: true},
		{head: "timeout", cell: r.Timeout.Duration().String(), detail: true},
		{head: "claimants", cell: strings.Join(r.Claimants, ", "), detail: true},
		{head: "created", cell: when(r.CreatedAt), detail: true},
		{head: "claimed", cell: when(r.ClaimedAt), detail: true},
		{head: "history", cell: strings.Join(r.History, "; "), detail: true},
		{head: "data", cell: string(r.Data), detail: true},
	}
}

func taskRows(tasks []apitypes.Task) []taskRow {
	rows := make([]taskRow, len(tasks))
	for i, t := range tasks {
		rows[i] = taskRow{t}
	}
	return rows
}

// newTaskList is `leasehold task list`.
func (a *app) newTaskList() *cobra.Command {
	return a.newTasks("print waiting and held tasks, the next one first", "no tasks", (*apiclient.Client).Tasks)
}

// newTasks returns a command that lists tasks.
func (a *app) newTasks(short, none string, list func(*apiclient.Client, context.Context, string, int) (apitypes.Page[apitypes.Task], error)) *cobra.Command {
	var action string
	c := &cobra.Command{
		Use:   "list",
		Short: short,
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	c.Flags().StringVar(&action, "action", "", "print only tasks of this action")
	most := bindLimit(c)
	c.RunE = a.withCoordinator(func(ctx context.Context, api *apiclient.Client, _ []string) error {
		page, err := list(api, ctx, action, int(*most))
		if err != nil {
			return err
		}
		if err := show(a, o, taskRows(page.Items), none); err != nil {
			return err
		}
		return a.reportTruncated(len(page.Items), page.Omitted, page.Total)
	})
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}

// newTaskShow is `leasehold task show`.
func (a *app) newTaskShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "print one task with its data, also if it has ended",
		Args:  cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	c.RunE = a.withCoordinator(func(ctx context.Context, api *apiclient.Client, args []string) error {
		if err := needID("task", args[0]); err != nil {
			return err
		}
		t, err := api.Task(ctx, args[0])
		if err != nil {
			return err
		}
		return showOne(a, o, taskRow{t})
	})
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}
