package cmd

import (
	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
)

// newRestore is `leasehold restore`.
func (a *app) newRestore() *cobra.Command {
	c := &cobra.Command{
		Use:   "restore SRC",
		Short: "restore a backup into a new data folder",
		Long: `Restore the backup SRC into the data folder (--data). The folder must be empty
or not exist, because nothing is overwritten.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := a.load(c)
			if err != nil {
				return err
			}
			if err := node.Restore(c.Context(), args[0], cfg.Data); err != nil {
				return err
			}
			_, err = sayf(a.out, "restored: %s\n", cfg.Data)
			return err
		},
	}
	config.BindFlags(c.Flags(), "data")
	return c
}
