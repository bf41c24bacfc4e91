package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
)

// newMove is `leasehold move`.
func (a *app) newMove() *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use: "move --from DATA --to URL", Short: "move everything from a data folder to a database, or back",
		Long: `Move all that a coordinator keeps from a data folder to a PostgreSQL database,
or back: spaces, ended tasks, catalog, schedule, code index and identity. No
coordinator may use either of them meanwhile. The place to move to must be
empty. The other one stays as it is; do not start a coordinator on it again.`,
		Example: `  leasehold move --from /var/lib/leasehold --to @database.url --identity-key @identity.key
  leasehold move --from @database.url --to /var/lib/leasehold --identity-key @identity.key`,
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&from, "from", "", "data folder, or URL of a database, or @FILE with it")
	c.Flags().StringVar(&to, "to", "", "the other one of the two")
	config.BindFlags(c.Flags(), "realm", "identity-key")
	c.RunE = a.withConfig(func(ctx context.Context, cfg config.Config) error {
		if from == "" || to == "" {
			return usagef("move: --from and --to are needed: one is a data folder, and the other one the URL of a database")
		}
		m, err := node.NewMoving(from, to, cfg.Realm, cfg.IdentityKey)
		if err != nil {
			return err
		}
		if err := m.Run(ctx, cfg, a.newLogger(cfg)); err != nil {
			return err
		}
		place := "the database"
		if !m.ToURL {
			place = m.Folder
		}
		_, err = sayf(a.out, "Everything is in %s. Do not start a coordinator on the other one again.\n", place)
		return err
	})
	return c
}
