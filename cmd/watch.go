package cmd

import (
	"context"
	"slices"
	"time"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/lease"
)

// lookEvery is how often progress is looked at.
const lookEvery = 100 * time.Millisecond

// watch shows progress until ctx ends, or until nothing is left to do if untilIdle
// says so; it reports whether that was so.
func (a *app) watch(ctx context.Context, w *crew, untilIdle bool) (idle bool, err error) {
	p := a.newProgress()
	defer p.done()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
		totals, err := w.catalog.Totals(ctx)
		if err == nil {
			p.show(totals, func() string { return w.cost(ctx) })
			idle, err = w.coordinator.Idle(ctx, w.repo)
		}
		switch {
		case ctx.Err() != nil:
			return false, nil
		case err != nil:
			return false, err
		case idle && untilIdle:
			return true, nil
		}
	}
}

// tally is what a run did.
type tally struct {
	leases   map[string]int64
	catalog  catalog.Totals
	origins  []models.Origin
	findings []catalog.Finding
	problems []catalog.Problem
	cost     string
}

// tally reads what was done, also when the run was interrupted.
func (w *crew) tally(t *tally) (err error) {
	ctx := context.Background()
	t.cost = w.cost(ctx)
	if t.leases, err = lease.Totals(ctx, w.repo); err != nil {
		return err
	}
	for ending, n := range w.before {
		t.leases[ending] -= n
	}
	if t.catalog, err = w.catalog.Totals(ctx); err != nil {
		return err
	}
	if t.origins, err = w.catalog.Origins(ctx); err != nil {
		return err
	}
	if t.findings, err = w.catalog.Findings(ctx); err != nil {
		return err
	}
	t.problems, err = w.catalog.Problems(ctx)
	return err
}

// cost is costLine of this run; "" if it cannot be asked.
func (w *crew) cost(ctx context.Context) string {
	costs, err := api.Costs(ctx, w.repo)
	if err != nil {
		return ""
	}
	return costLine(costs)
}

// nothingDone says that there was something to do and none of it could be done:
// an origin could not be visited, or there were pairs to research.
func (t tally) nothingDone() bool {
	failed := slices.ContainsFunc(t.origins, func(o models.Origin) bool {
		return o.LastOutcome == models.Failed || o.LastOutcome == models.NotFound
	})
	pairs := t.catalog.Episodes * t.catalog.Clips
	return t.catalog.Researched == 0 && len(t.problems) > 0 && (failed || pairs > 0)
}
