package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// newDead is `leasehold dead`.
func (a *app) newDead() *cobra.Command {
	c := &cobra.Command{
		Use:   "dead",
		Short: "list, show, requeue, discard and export dead letters",
	}
	// The filter belongs to the command list, which applies it.
	list, _ := a.newTasks("print the dead letters, and why they died", "no dead letters", (*client.Client).Dead)
	c.AddCommand(list, a.newDeadShow(), a.newDeadChange("requeue", "queue dead letters again, under their ids",
		"Queue tasks again under their ids, with any children that died because they\ndid.", "requeued", client.BulkRequeue, requeueOne),
		a.newDeadChange("discard", "remove dead letters for good", "Remove dead letters for good.", "discarded", client.BulkDiscard, discardOne), a.newDeadExport())
	return c
}

// newDeadShow is `leasehold dead show`.
func (a *app) newDeadShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "print one dead letter with all its attempts",
		Args:  cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if err := needID("task", args[0]); err != nil {
			return err
		}
		t, err := api.DeadLetter(ctx, args[0])
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

// printAttempts prints the attempts of a task, why each failed or that it resolved the task, and what it printed.
func (a *app) printAttempts(t types.Task) error {
	for n, h := range t.History {
		how := h.Error
		if t.IsResolvedBy(n) {
			how = "resolved"
		}
		if _, err := sayf(a.out, "\n%s  %s\n  %s\n", when(h.EndedAt), h.Worker, how); err != nil {
			return err
		}
		for line := range strings.Lines(h.Output) {
			if _, err := sayf(a.out, "  | %s\n", strings.TrimRight(line, "\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

// requeueOne requeues a dead letter. It returns what becomes of the work; "" if it waits under its id.
func requeueOne(ctx context.Context, api *client.Client, id string) (string, error) {
	r, err := api.Requeue(ctx, id)
	switch {
	case err != nil:
		return "", err
	case r.Task != nil:
		return "", nil // it waits under its id
	}
	return "its work will be selected again", nil
}

// discardOne discards a dead letter; there is nothing more to tell about it.
func discardOne(ctx context.Context, api *client.Client, id string) (string, error) {
	return "", api.Discard(ctx, id)
}

// newDeadChange returns a command that changes dead letters, which are named or selected by a
// filter. Those of a filter are counted first, and need a confirmation. The command calls do with
// each id, and prints a line: past (such as "requeued"), the id, and what do returns, if anything.
func (a *app) newDeadChange(verb, short, long, past, bulk string, do func(context.Context, *client.Client, string) (string, error)) *cobra.Command {
	var f client.TaskFilter
	var all, yes bool
	c := &cobra.Command{
		Use:   verb + " [ID…]",
		Short: short,
		Long: long + `

Name them, or select them with flags (--all selects all). The command asks
before it changes a selection, unless --yes is set.`,
		Example: fmt.Sprintf("  leasehold dead %s t17 t18\n  leasehold dead %s --action import --text 'connection refused' --yes", verb, verb),
	}
	bindTaskFilter(c, &f)
	c.Flags().BoolVar(&all, "all", false, "select all dead letters, or all that match the other flags")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	op := bindOperation(c.Flags())
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		selects, err := selectsTasks("dead letters", all, f, args)
		if err != nil {
			return err
		}
		if selects {
			f.State = "dead"
			return a.changeSelected(ctx, api, c.InOrStdin(), selection{bulk: bulk, verb: verb, past: past, noun: "dead letter", filter: f, yes: yes})
		}
		return a.changeEach(ctx, api, args, past, func(ctx context.Context, api *client.Client, id string) (string, error) {
			return do(op.of(ctx, id), api, id)
		})
	})
}

// changeEach calls do with each task, and prints past and the detail that do returns. The first error ends it.
func (a *app) changeEach(ctx context.Context, api *client.Client, ids []string, past string, do func(context.Context, *client.Client, string) (string, error)) error {
	for _, id := range ids {
		detail, err := do(ctx, api, id)
		if err != nil {
			return err
		}
		if detail != "" {
			detail = ": " + detail
		}
		if _, err := sayf(a.out, "%s %s%s\n", past, id, detail); err != nil {
			return err
		}
	}
	return nil
}

// selection is a change of all tasks that a filter selects.
type selection struct {
	bulk             string // client.BulkRequeue, BulkDiscard or BulkCancel
	verb, past, noun string // for people
	filter           client.TaskFilter
	yes              bool // do not ask
	reason           string
}

// changeSelected counts what a filter selects, asks, and changes it. It prints each changed task. Those that were
// refused, because another user may have changed them meanwhile, are printed with their errors.
func (a *app) changeSelected(ctx context.Context, api *client.Client, in io.Reader, s selection) error {
	seen, err := api.CountTasks(ctx, s.filter)
	if err != nil {
		return err
	}
	if err := a.confirm(in, s.yes, fmt.Sprintf("%s %s?", s.verb, count(int(seen.Count), s.noun))); err != nil {
		return err
	}
	refused, all := 0, 0
	err = api.Bulk(ctx, s.bulk, s.filter, seen, s.reason, func(part types.BulkResult) error {
		all += len(part.Done) + len(part.Refused)
		refused += len(part.Refused)
		for _, r := range part.Refused {
			sayf(a.err, "leasehold: %s: %s\n", r.Task, r.Detail)
		}
		for _, id := range part.Done {
			if _, err := sayf(a.out, "%s %s\n", s.past, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && refused > 0 {
		err = fmt.Errorf("%d of %d could not be %s", refused, all, s.past)
	}
	return err
}

// confirm asks a question on standard error and reads the answer from in. An answer other than
// yes, and the end of the input, are usage errors. With yes set it does not ask.
func (a *app) confirm(in io.Reader, yes bool, question string) error {
	if yes {
		return nil
	}
	sayf(a.err, "%s Type yes: ", question)
	line, _ := bufio.NewReader(in).ReadString('\n') // at the end of the input, what came before
	if strings.TrimSpace(line) != "yes" {
		return usagef("not confirmed: type yes, or set --yes")
	}
	return nil
}

// newDeadExport is `leasehold dead export`.
func (a *app) newDeadExport() *cobra.Command {
	var f client.TaskFilter
	c := &cobra.Command{
		Use:   "export",
		Short: "print dead letters with their data, one JSON object a line",
		Args:  cobra.NoArgs,
	}
	bindTaskFilter(c, &f)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		found, _, err := api.Dead(ctx, f, client.All)
		if err != nil {
			return err
		}
		for _, listed := range found {
			t, err := api.DeadLetter(ctx, listed.ID) // a list has no data
			if err != nil {
				return err
			}
			if err := printJSONLines(a, []types.Task{t}); err != nil {
				return err
			}
		}
		return nil
	})
}
