package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/browse"
	"leasehold/shared/catalog"
	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/visit"
	"leasehold/shared/work"
)

// maxLost is how often in a row an origin's visit may be lost before the
// coordinator waits for its next start.
const maxLost = 3

// visits has every origin visited once at each start, and records the outcomes.
type visits struct {
	c      *Coordinator
	client visit.Client
	work   work.Client
	browse browse.Client
	lost   map[string]int // by origin, in a row
}

func newVisits(c *Coordinator, repo space.Repository) *visits {
	return &visits{c: c, client: visit.Client{Repo: repo}, work: work.Client{Repo: repo}, browse: browse.Client{Repo: repo}, lost: map[string]int{}}
}

// start sees that a visit of every origin is on its way.
func (v *visits) start(ctx context.Context) error {
	origins, err := v.c.Catalog.Origins(ctx)
	if err != nil {
		return fmt.Errorf("coordinator: visits: %w", err)
	}
	for _, o := range origins {
		if o.Kind == models.API {
			continue // its curator comes by itself
		}
		if err := v.put(ctx, o); err != nil {
			return fmt.Errorf("coordinator: visit %s: %w", o.URI, err)
		}
	}
	return nil
}

// put has an origin visited, unless a visit of it is on its way, as one may be
// that outlived the last coordinator.
func (v *visits) put(ctx context.Context, o models.Origin) error {
	of := visit.Any()
	of[2] = o.ID
	page, err := v.browse.Look(ctx, browse.Query{Space: visit.Space, Template: of, Held: true})
	if err != nil || page.Total > 0 {
		return err
	}
	return v.client.Put(ctx, models.Visit{ID: SessionID("visit"), Origin: o})
}

// record puts outcomes into the catalog until ctx ends.
func (v *visits) record(ctx context.Context) error {
	for {
		step, err := v.work.Next(ctx, visit.Action, false)
		if err != nil {
			return err
		}
		err = catalog.Patiently(ctx, v.c.Log, func() error { return v.recordOne(ctx, step.Result) })
		if err != nil {
			return fmt.Errorf("coordinator: outcome of a visit of %s: %w", step.Result.Subject, err)
		}
		failpoint.Reached("outcome.stored", "")
		if err := v.work.Ingested(ctx, step.Result); err != nil && !errors.Is(err, fault.ErrStaleToken) {
			return err
		}
	}
}

// recordOne records one outcome. A lost visit is no outcome: the origin is visited
// again, unless that was in vain several times.
func (v *visits) recordOne(ctx context.Context, h *work.Held) error {
	var o models.Outcome
	if err := json.Unmarshal([]byte(h.Body), &o); err != nil {
		v.c.Log.Error("coordinator: the outcome of a visit cannot be read; it is dropped", "origin", h.Subject, "worker", h.Worker, "error", err)
		return nil
	}
	origin, err := v.c.Catalog.Origin(ctx, o.Origin)
	if errors.Is(err, fault.ErrNotFound) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	if o.Status == models.Lost && v.lost[o.Origin] < maxLost {
		err := v.put(ctx, origin)
		if err == nil {
			v.lost[o.Origin]++
		}
		return err
	}
	delete(v.lost, o.Origin)
	return v.c.Catalog.RecordOutcome(ctx, o)
}
