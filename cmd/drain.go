package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/config"
)

// newDrain is `leasehold drain`.
func (a *app) newDrain() *cobra.Command {
	c := &cobra.Command{
		Use:   "drain SESSION…",
		Short: "drain managers or workers, so that they end",
		Long: `Drain managers or workers, named by their sessions as "leasehold status" shows
them: they take nothing new, finish or hand back what they hold, and end with
exit code 0. The command does not wait for that; a session that has ended is no
longer in the status.

A container with Docker's restart policy always or unless-stopped comes back as
a new session; with on-failure it does not.`,
		Example: "  leasehold drain worker-7f3a9c01",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.withCoordinator(func(ctx context.Context, api *client.Client, args []string) error {
			for _, id := range args {
				if err := needID("session", id); err != nil {
					return err
				}
				if err := api.Drain(ctx, id); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.out, "draining %s\n", id); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}
