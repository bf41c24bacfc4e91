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
	defer a.reloading(ctx, cfg)()
	h, err := a.openHouseAt(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	n, err := h.listen(cfg.Listen, cfg.HTTP)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	fmt.Fprintf(a.err, "coordinator: gate %s, page http://%s, data %s\n", n.gate.Addr(), n.http.Addr(), cfg.Data)
	w := &crew{house: h}
	network := func(ctx context.Context) error { return n.serve(ctx, w) }
	return w.host(ctx, []func(context.Context) error{network}, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
}
