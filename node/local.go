package node

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"leasehold/coordinator/api"
	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
)

// Local is a coordinator with a manager and workers in the same process.
type Local struct {
	*hosted
	repo    space.Repository
	initial map[string]int64 // lease.Totals at the start of the run
}

// RunLocal runs a coordinator, a manager and cfg.Workers workers on a data folder, without a network. They end
// when main returns, one of them fails or ctx ends. main runs when the coordinator is ready, and its context ends
// with the run.
func RunLocal(ctx context.Context, d *DataDir, main func(context.Context, *Local) error) (err error) {
	if err := d.openFetcher(); err != nil {
		return err
	}
	if err := d.trustOrigins(ctx); err != nil {
		return err
	}
	if err := d.hostIndex(ctx); err != nil {
		return err
	}
	// A person who runs the program again expects it to try again what could not be fetched.
	err = catalog.RetryOwn(ctx, d.log, func() error {
		_, err := d.Catalog.Retry(ctx, catalog.About{}, false)
		return err
	})
	if err != nil {
		return err
	}
	files, closeFiles := newIndexing(ctx, d.index, nil, d.log)
	defer func() { err = errors.Join(err, closeFiles()) }()
	handlers, err := newHandlers(d.cfg, filepath.Join(d.cfg.Data, cacheDir), media{d.fetcher, d.Catalog, d.log}, files, d.log)
	if err != nil {
		return err
	}
	x, err := openIndexer(d.cfg, d.cfg.Data, d.fetcher, nil, d.log)
	if err != nil {
		return err
	}
	return host(ctx, d, func(h *hosted) (_ supervisor.Task, helpers []supervisor.Task) {
		l := &Local{hosted: h}
		helpers = []supervisor.Task{func(ctx context.Context) error {
			return x.runBeside(ctx, func(ctx context.Context) error {
				return manager.Run(ctx, l.connect(config.Manager), managerConfig(d.cfg, d.fetcher, newFlows(d.cfg, d.Catalog, d.fetcher, x, d.index, d.log), d.log))
			})
		}}
		for range d.cfg.Workers {
			helpers = append(helpers, func(ctx context.Context) error {
				return runWorker(ctx, l.connect(config.Worker), workerConfig(d.cfg, handlers, 1, h.spans, d.log))
			})
		}
		return func(ctx context.Context) error {
			if err := l.begin(ctx); err != nil {
				return err
			}
			return main(ctx, l)
		}, helpers
	})
}

// begin opens the session of main, and reads the totals of leases from which those of this run are counted.
func (l *Local) begin(ctx context.Context) error {
	repo, err := l.Connect(ctx, "run", 0)
	if err != nil {
		return err
	}
	l.repo = space.Retrying(repo, &retry.Loop{Message: "the spaces refuse calls for now; repeating them", Log: l.log})
	l.initial, err = lease.Totals(ctx, l.repo)
	return err
}

// trustOrigins allows the fetcher to read what the operator's origins name. A missing folder is only logged,
// because its visit will fail.
func (d *DataDir) trustOrigins(ctx context.Context) error {
	origins, err := d.Catalog.Origins(ctx)
	if err != nil {
		return err
	}
	for _, o := range origins {
		if err := d.fetcher.Trust(o); err != nil {
			d.log.Warn("cannot read an origin", "origin", o.URI, "error", err)
		}
	}
	return nil
}

// connect returns a function that opens sessions of a mode. They have no TTL (0), because they end
// with this process.
func (l *Local) connect(mode string) func(context.Context) (space.Repository, error) {
	return func(ctx context.Context) (space.Repository, error) { return l.Connect(ctx, mode, 0) }
}

// Idle reports whether nothing is left to do: see coordinator.Coordinator.Idle, also for the error.
func (l *Local) Idle(ctx context.Context) (bool, error) { return l.Coordinator.Idle(ctx, l.repo) }

// Costs returns what the tasks of this run took, by action and by how they were done.
func (l *Local) Costs(ctx context.Context) ([]models.Cost, error) { return api.Costs(ctx, l.repo) }

// LeaseTotals returns how often each event of lease.Totals has happened in this run. The spaces count over all
// runs, so the totals at the start are subtracted.
func (l *Local) LeaseTotals(ctx context.Context) (map[string]int64, error) {
	totals, err := lease.Totals(ctx, l.repo)
	for event, n := range l.initial {
		totals[event] -= n
	}
	return totals, err
}

// mostResting bounds how many origins Resting looks at, because each needs a transaction.
const mostResting = 10_000

// Resting returns the schedules of those of the origins that rest now. It looks at the first mostResting ids.
func (l *Local) Resting(ctx context.Context, ids []string) ([]types.Schedule, error) {
	var resting []types.Schedule
	now := time.Now()
	for _, id := range ids[:min(len(ids), mostResting)] {
		o, err := l.Coordinator.Visits.Schedule(ctx, now, id)
		switch s := api.ScheduleOf(o); {
		case errors.Is(err, fault.ErrNotFound): // removed since
		case err != nil:
			return nil, err
		case s.Visit == "" && s.Until.After(now):
			resting = append(resting, s)
		}
	}
	return resting, nil
}
