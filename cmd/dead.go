package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/apiclient"
	"leasehold/shared/config"
)

// newDead is `leasehold dead`.
func (a *app) newDead() *cobra.Command {
	c := &cobra.Command{
		Use:   "dead",
		Short: "list and requeue dead letters (tasks past their attempts)",
	}
	list := a.newTasks("print the dead letters with their reasons", "no dead letters", (*apiclient.Client).Dead)
	c.AddCommand(list, a.newDeadRequeue())
	return c
}

// newDeadRequeue is `leasehold dead requeue`.
func (a *app) newDeadRequeue() *cobra.Command {
	c := &cobra.Command{
		Use:   "requeue ID…",
		Short: "requeue dead letters",
		Args:  cobra.MinimumNArgs(1),
		RunE: a.withCoordinator(func(ctx context.Context, api *apiclient.Client, args []string) error {
			for _, id := range args {
				if err := needID("task", id); err != nil {
					return err
				}
				r, err := api.Requeue(ctx, id)
				if err != nil {
					return err
				}
				what := "its work will be selected again"
				if r.Task != nil {
					what = "task " + r.Task.ID + " waits"
				}
				if _, err := fmt.Fprintf(a.out, "requeued %s: %s\n", id, what); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}
