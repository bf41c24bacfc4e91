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
	return node.RunCoordinator(ctx, cfg, log, func(at datadir.Addresses) { a.sayAddresses(cfg, at) })
}

// sayAddresses tells on standard error where a coordinator listens.
func (a *app) sayAddresses(cfg config.Config, at datadir.Addresses) {
	scheme := "http"
	if at.CA != "" {
		scheme = "https"
	}
	say := func(text string, attrs ...any) { a.sayStarted(cfg, config.Coordinator, text, attrs...) }
	dashboard := scheme + "://" + at.HTTP
	say("gate "+at.Gate+", dashboard "+dashboard+", data "+cfg.Data, "gate", at.Gate, "dashboard", dashboard, "data", cfg.Data)
	if at.Compat != "" {
		endpoints := scheme + "://" + at.Compat
		say("control endpoints "+endpoints, "control endpoints", endpoints)
	}
	if cfg.Insecure {
		const warning = "anyone who reaches these ports may do anything"
		say("insecure: "+warning, "insecure", warning)
	}
	for _, gate := range at.Gates {
		say("gate "+gate, "gate", gate)
	}
}
