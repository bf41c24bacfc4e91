package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/apiclient"
	"leasehold/shared/config"
)

// newDrain is `leasehold drain`.
func (a *app) newDrain() *cobra.Command {
	c := &cobra.Command{
		Use:   "drain SESSION…",
		Short: "tell managers or workers to finish or hand back what they hold, and to end",
		Long: `Tell managers or workers, by their sessions as "leasehold status" shows them, to take
nothing new, to finish or hand back what they hold, and to end with exit code 0. It does
not wait until they have: their sessions are gone from the status then.

A container that Docker restarts always, or unless it is stopped, comes back as a new
session; with the restart policy on-failure it stays away.`,
		Example: "  leasehold drain worker-7f3a9c01",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.withCoordinator(func(ctx context.Context, api *apiclient.Client, args []string) error {
			for _, id := range args {
				if err := needID("a session's id", id); err != nil {
					return err
				}
				if err := api.Drain(ctx, id); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.out, "%s was told to drain\n", id); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}
