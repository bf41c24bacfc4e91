package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/audio/fingerprint"
	"leasehold/shared/audio/match"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/status"
	"leasehold/worker"
	"leasehold/worker/research"
)

// newWorker is `leasehold worker`.
func (a *app) newWorker() *cobra.Command {
	c := &cobra.Command{
		Use:   "worker",
		Short: "do tasks, for a coordinator elsewhere",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load(c)
			if err != nil {
				return err
			}
			return a.workAway(c.Context(), cfg)
		},
	}
	config.BindFlags(c.Flags())
	return c
}

// workAway works over the network until ctx ends.
func (a *app) workAway(ctx context.Context, cfg config.Config) (err error) {
	defer a.reloading(ctx, cfg)()
	leaveLittleGarbage()
	o, err := a.openOutpost(ctx, cfg, config.Worker)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = errors.Join(err, o.close()) }()
	handlers, err := handlers(cfg, o.cache, o, o.log)
	if err != nil {
		return err
	}
	err = worker.Run(ctx, o.connect, workerConfig(cfg, handlers, cfg.Slots, o.log))
	if errors.Is(err, worker.ErrStuck) {
		return errors.Join(err, restart())
	}
	return err
}

// leaveLittleGarbage has the heap grow by a quarter between collections, unless the
// environment's GOGC says otherwise. What a worker allocates is little and large, so
// that costs nearly nothing, and many workers share a machine (docs/benchmarks.md).
func leaveLittleGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(25)
	}
}

// labour runs one worker with one slot until ctx ends. One whose handler is stuck
// is replaced: what is stuck cannot be ended, but its task goes on to another
// worker, and in the end to the dead letters.
func labour(ctx context.Context, connect status.Connect, cfg config.Config, handlers map[string]worker.Handler, log *slog.Logger) error {
	for {
		err := worker.Run(ctx, connect, workerConfig(cfg, handlers, 1, log))
		if ctx.Err() != nil || !errors.Is(err, worker.ErrStuck) {
			return err
		}
		log.Error("a worker is replaced", "error", err)
	}
}

// handlers are those of the actions that a worker is configured to serve. What they keep
// of episodes is below a folder.
func handlers(cfg config.Config, cache string, media research.Media, log *slog.Logger) (map[string]worker.Handler, error) {
	episodes, err := fingerprint.Open(filepath.Join(cache, "episodes"), cfg.EpisodeBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	all := map[string]worker.Handler{
		models.ActionResearch: research.New(media, episodes, research.Options{Match: match.Options{Threshold: cfg.MatchThreshold}, Log: log}),
	}
	served := map[string]worker.Handler{}
	for _, action := range cfg.Actions {
		served[action] = all[action]
	}
	return served, nil
}

func workerConfig(cfg config.Config, handlers map[string]worker.Handler, slots int, log *slog.Logger) worker.Config {
	return worker.Config{
		Handlers: handlers, Slots: slots, Heartbeat: cfg.Heartbeat, Drain: cfg.Drain, Grace: grace, Log: log,
	}
}
