package cmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// newBackup is `leasehold backup`.
func (a *app) newBackup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup DEST",
		Short: "back up spaces and catalog, even while a coordinator runs",
		Long: `Copy the spaces and the catalog to the new folder DEST. If the command fails,
DEST does not exist. The cache and the code index are not copied, because visits
make them again: after a restore, the first visit of each repository indexes it,
even if it has not changed.

A running coordinator makes the backup itself, so DEST is on its machine.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
			dest, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("backup: %w: %w", fault.ErrInvalid, err)
			}
			if err := s.Backup(ctx, dest); err != nil {
				return err
			}
			_, err = sayf(a.out, "backup: %s\nnot copied: the cache and the code index; visits make them again after a restore\n", dest)
			return err
		}),
	}
	config.BindFlags(c.Flags(), append([]string{"journal"}, catalogKeys...)...)
	return c
}
