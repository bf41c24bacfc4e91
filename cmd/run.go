package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"leasehold/shared/config"
	"leasehold/shared/space"
)

// newRun is `leasehold run`.
func (a *app) newRun() *cobra.Command {
	var untilIdle bool
	var kind string
	c := &cobra.Command{
		Use:   "run [PATH…]",
		Short: "coordinator, manager and workers in one process, no network between them",
		Long: `Add the origins at each PATH (a feed, a folder of episodes, a folder of clips, or a
folder with a manifest origins.yaml), and work on all origins of the data folder.`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			h, err := a.openHouse(c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.close()) }()
			if _, err := h.add(c.Context(), args, kind); err != nil {
				return err
			}
			return a.runHouse(c.Context(), h, untilIdle)
		},
	}
	c.Flags().BoolVar(&untilIdle, "until-idle", false, "stop when nothing is left to do, and print the findings")
	c.Flags().StringVar(&kind, "kind", "", "what each PATH is, if it should not be detected: feed, media or clips")
	config.BindFlags(c.Flags())
	return c
}

// runHouse works until idle, or until ctx ends.
func (a *app) runHouse(ctx context.Context, h *house, untilIdle bool) error {
	defer a.reloading(ctx, h.cfg)()
	origins, err := h.catalog.Origins(ctx)
	if err != nil {
		return err
	}
	if len(origins) == 0 {
		return usagef("there is no origin in %s: name one, such as leasehold run examples/podcast, or leasehold origin add PATH", h.cfg.Data)
	}
	h.trust(origins)
	w := &crew{house: h}
	var idle bool
	var t tally
	users, err := w.users()
	if err != nil {
		return err
	}
	err = w.host(ctx, users, func(ctx context.Context) (err error) {
		idle, err = a.watch(ctx, w, untilIdle)
		return errors.Join(err, w.tally(&t))
	})
	if err != nil {
		return err
	}
	if untilIdle && !idle {
		err = errors.New("interrupted before everything was done; run again to go on")
	}
	return errors.Join(err, a.summarize(t))
}

// users are a manager, and as many workers as are configured.
func (w *crew) users() ([]func(context.Context) error, error) {
	handlers, err := handlers(w.cfg, filepath.Join(w.cfg.Data, "cache"), w.fetch, w.log)
	if err != nil {
		return nil, err
	}
	users := []func(context.Context) error{func(ctx context.Context) error {
		return manage(ctx, w.connect(config.Manager), w.cfg, w.flow(), w.log)
	}}
	for range w.cfg.Workers {
		users = append(users, func(ctx context.Context) error {
			return labour(ctx, w.connect(config.Worker), w.cfg, handlers, w.log)
		})
	}
	return users, nil
}

// connect opens sessions that live as long as this process: when it is killed, the
// next one hands back at once what they held.
func (w *crew) connect(mode string) func(context.Context) (space.Repository, error) {
	return func(ctx context.Context) (space.Repository, error) {
		return w.coordinator.Connect(ctx, mode, 0)
	}
}
