package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/process/datadir"
)

// newCoordinator is `leasehold coordinator`.
func (a *app) newCoordinator() *cobra.Command {
	c := &cobra.Command{
		Use:   "coordinator",
		Short: "run a coordinator, which keeps spaces, catalog, API and dashboard",
		Args:  cobra.NoArgs,
		RunE:  a.withConfig(a.runCoordinator),
	}
	bindSettings(c, config.KeysOf(config.Coordinator)...)
	return c
}

// runCoordinator runs a coordinator until ctx ends.
func (a *app) runCoordinator(ctx context.Context, cfg config.Config) error {
	log, stop := a.reloadingLogger(ctx, cfg)
	defer stop()
	return node.RunCoordinator(ctx, cfg, log, func(at datadir.Addresses) {
		scheme := "http"
		if at.CA != "" {
			scheme = "https"
		}
		sayf(a.err, "coordinator: gate %s, dashboard %s://%s, data %s\n", at.Gate, scheme, at.HTTP, cfg.Data)
		if at.Compat != "" {
			sayf(a.err, "coordinator: control endpoints %s://%s\n", scheme, at.Compat)
		}
		if cfg.Insecure {
			sayf(a.err, "coordinator: insecure: anyone who reaches these ports may do anything\n")
		}
		for _, gate := range at.Gates {
			sayf(a.err, "coordinator: gate %s\n", gate)
		}
	})
}
