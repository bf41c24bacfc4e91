package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
)

// newManager is `leasehold manager`.
func (a *app) newManager() *cobra.Command {
	c := &cobra.Command{
		Use:   "manager",
		Short: "run a manager, which visits origins and issues their work",
		Args:  cobra.NoArgs,
		RunE:  a.withConfig(a.runManager),
	}
	bindSettings(c, config.KeysOf(config.Manager)...)
	return c
}

// runManager runs a manager until ctx ends.
func (a *app) runManager(ctx context.Context, cfg config.Config) error {
	log, stop := a.reloadingLogger(ctx, cfg)
	defer stop()
	return node.RunManager(ctx, cfg, log, a.printSession(cfg, config.Manager))
}
