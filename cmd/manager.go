package cmd

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"leasehold/manager"
	"leasehold/shared/config"
	"leasehold/shared/status"
)

// newManager is `leasehold manager`.
func (a *app) newManager() *cobra.Command {
	c := &cobra.Command{
		Use:   "manager",
		Short: "take visits, issue work-items and ingest results, for a coordinator elsewhere",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load(c)
			if err != nil {
				return err
			}
			return a.manageAway(c.Context(), cfg)
		},
	}
	config.BindFlags(c.Flags())
	return c
}

// manageAway manages over the network until ctx ends.
func (a *app) manageAway(ctx context.Context, cfg config.Config) (err error) {
	defer a.reloading(ctx, cfg)()
	o, err := a.openOutpost(ctx, cfg, config.Manager)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = errors.Join(err, o.close()) }()
	return manage(ctx, o.connect, o.cfg, newFlow(o.cfg, o.catalog, o.fetch, o.log), o.log)
}

// manage runs one manager until ctx ends.
func manage(ctx context.Context, connect status.Connect, cfg config.Config, flow manager.Flow, log *slog.Logger) error {
	return manager.Run(ctx, connect, manager.Config{
		Flows: []manager.Flow{flow}, Heartbeat: cfg.Heartbeat, Grace: grace, Log: log,
	})
}
