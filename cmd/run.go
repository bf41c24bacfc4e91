package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/process/retry"
)

// newRun is `leasehold run`.
func (a *app) newRun() *cobra.Command {
	var untilIdle bool
	var kind string
	c := &cobra.Command{
		Use:   "run [PATH…]",
		Short: "run a coordinator, a manager and workers in one process",
		Long: `Add the origins at each PATH (a feed, a folder of episodes, a folder of clips, a
repository, or a folder with a manifest origins.yaml), and work on all origins
of the data folder. Coordinator, manager and workers run in this one process.`,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := a.load(c)
			if err != nil {
				return err
			}
			return a.runLocal(c.Context(), cfg, args, kind, untilIdle)
		},
	}
	c.Flags().BoolVar(&untilIdle, "until-idle", false, "stop when no work is left and print the findings")
	c.Flags().StringVar(&kind, "kind", "", kindHelp())
	bindSettings(c, config.KeysOf(config.Run)...)
	return c
}

// runLocal adds the origins at paths, which are of the given kind unless it is empty, and works
// on all origins of the data folder until ctx ends, or, with untilIdle, until no work is left. It
// prints the summary in both cases; an end of ctx is an error only with untilIdle, because then
// work is left.
func (a *app) runLocal(ctx context.Context, cfg config.Config, paths []string, kind string, untilIdle bool) (err error) {
	// Not a rule of settings, because config show and config check read those of a coordinator too.
	if cfg.Journal == config.JournalPostgres {
		return config.Invalid{{Key: "journal", Text: "journal must not be postgres: leasehold run works alone, in its data folder; start a coordinator, a manager and workers"}}
	}
	log, stop := a.reloadingLogger(ctx, cfg)
	defer stop()
	d, err := node.OpenDataDir(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	named, err := node.DetectOrigins(paths, kind)
	if err != nil {
		return err
	}
	const keepPriority = true
	if err := d.AddOrigins(ctx, named, keepPriority); err != nil {
		return err
	}
	if err := a.tellDetected(a.err, named, paths, kind); err != nil {
		return err
	}
	origins, err := d.Catalog.Origins(ctx)
	if err != nil {
		return err
	}
	if len(origins) == 0 {
		return usagef("%s has no origins; add one, for example with leasehold run examples/podcast or leasehold origin add PATH", cfg.Data)
	}
	// With --until-idle all local origins are visited too, because it costs little.
	if err := d.VisitNow(ctx, named, untilIdle); err != nil {
		return err
	}
	var idle bool
	s := summary{began: time.Now()}
	err = node.RunLocal(ctx, d, func(ctx context.Context, l *node.Local) (err error) {
		idle, err = a.showProgress(ctx, l, untilIdle)
		return errors.Join(err, s.read(l))
	})
	if err != nil {
		return err
	}
	if untilIdle && !idle {
		err = errors.New("interrupted before all work was done; run again to continue")
	}
	return errors.Join(err, a.printSummary(s))
}

// refreshEvery is how often progress is read.
const refreshEvery = 100 * time.Millisecond

// showProgress shows progress until ctx ends or, with untilIdle, until no work is left. idle is
// true in the second case; err is nil in both. An error of reading the progress ends it too.
func (a *app) showProgress(ctx context.Context, l *node.Local, untilIdle bool) (idle bool, err error) {
	p := a.newRunProgress()
	defer p.close()
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
		totals, err := l.Catalog.Totals(ctx)
		if err == nil {
			p.show(totals, func() string { return costsOf(ctx, l) })
			idle, err = l.Idle(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return false, nil
		case retry.CanPass(err): // the catalog cannot be used for now; the work itself is repeated, too
		case err != nil:
			return false, err
		case idle && untilIdle:
			return true, nil
		}
	}
}
