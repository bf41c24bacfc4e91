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
		Short: "copy the spaces and the catalog to DEST, also while a coordinator runs",
		Long: `Copy the spaces and the catalog to the new folder DEST: first the spaces, then the
catalog, so that what a restored coordinator repeats changes nothing. DEST is there
whole or not at all. The cache is not copied: it is fetched again.

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
			_, err = fmt.Fprintf(a.out, "backup: %s\n", dest)
			return err
		}),
	}
	config.BindFlags(c.Flags(), append([]string{"journal"}, catalogKeys...)...)
	return c
}
