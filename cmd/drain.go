package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
)

// newDrain is `leasehold drain`.
func (a *app) newDrain() *cobra.Command {
	c := &cobra.Command{
		Use:   "drain SESSION…",
		Short: "let managers or workers finish their work and stop",
		Long: `Drain managers or workers, named by their sessions in "leasehold status". They
take no new work, finish or hand back what they hold, and exit with code 0. The
command does not wait for that; a session that has ended leaves the status.

Docker restarts a drained container if its restart policy is always or
unless-stopped, but not if it is on-failure.`,
		Example: "  leasehold drain worker-7f3a9c01",
		Args:    cobra.MinimumNArgs(1),
	}
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		for _, id := range args {
			if err := needID("session", id); err != nil {
				return err
			}
			if err := api.Drain(ctx, id); err != nil {
				return err
			}
			if _, err := sayf(a.out, "draining %s\n", id); err != nil {
				return err
			}
		}
		return nil
	})
}
