package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/fault"
)

// newSpaceDelete is `leasehold space delete`.
func (a *app) newSpaceDelete() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "delete SPACE",
		Short: "delete a space",
		Long: `Delete a space. A space with tuples needs --force, and its tuples are lost, even
those that a client holds. Calls that wait in the space fail. The spaces that
leasehold itself needs cannot be deleted.`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&force, "force", false, "delete its tuples too")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		d, err := api.DeleteSpace(ctx, args[0], force)
		if errors.Is(err, fault.ErrConflict) {
			return fmt.Errorf("%w; use --force to delete them too", err)
		}
		if err != nil {
			return err
		}
		_, err = sayf(a.out, "deleted %s and %s\n", d.Name, count(d.Tuples, "tuple"))
		return err
	})
}
