package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/config"
)

// newCoordinator is `leasehold coordinator`.
func (a *app) newCoordinator() *cobra.Command {
	c := &cobra.Command{
		Use:   "coordinator",
		Short: "host the spaces, the catalog, the API and the page",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load(c)
			if err != nil {
				return err
			}
			return a.coordinate(c.Context(), cfg)
		},
	}
	config.BindFlags(c.Flags())
	return c
}

// coordinate hosts until ctx ends.
func (a *app) coordinate(ctx context.Context, cfg config.Config) (err error) {
	h, err := a.openHouseAt(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	w, err := h.newCrew(cfg.Listen, cfg.HTTP)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "coordinator: gate %s, page http://%s, data %s\n", w.gate.Addr(), w.http.Addr(), cfg.Data)
	return w.host(ctx, nil, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
}
