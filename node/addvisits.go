package node

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"leasehold/coordinator"
	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/fault"
)

// AddVisit is the outcome of the first visit of an origin, made while no coordinator runs on the
// data folder.
type AddVisit struct {
	Origin  models.Origin
	Items   int       // that the visit found
	Skipped bool      // not visited, because its host did not serve another origin
	Opens   time.Time // not visited, because its hours begin then; zero: visited
	Err     error     // why the visit failed
}

// VisitAll visits origins in this process and records the outcomes, also those of visits that
// failed. It calls done once for each origin, one call at a time. The origins of one host are
// visited one after the other, and as many hosts at once as a manager has slots. When a visit
// of a URL fails with fault.ErrUnavailable (no answer, a server error), the other origins of its
// host are skipped, because each might wait for its own timeout.
func (d *DataDir) VisitAll(ctx context.Context, origins []models.Origin, done func(AddVisit)) error {
	if err := d.openFetcher(); err != nil {
		return err
	}
	mirrors, err := openMirrors(d.cfg, d.cfg.Data, d.fetcher, d.log)
	if err != nil {
		return err
	}
	var noIndex codeIndex // repositories are visited by their refs only
	v := addVisits{dir: d, flows: newFlows(d.cfg, d.Catalog, d.fetcher, mirrors, noIndex, d.log), done: done}
	slots := make(chan struct{}, d.cfg.VisitSlots)
	var running sync.WaitGroup
	for _, ofHost := range byHost(origins) {
		slots <- struct{}{} // waits for a free slot
		running.Go(func() {
			defer func() { <-slots }()
			v.visitHost(ctx, ofHost)
		})
	}
	running.Wait()
	return ctx.Err()
}

// byHost groups origins by the host of their URLs. All folders are one group, of the host "".
func byHost(origins []models.Origin) map[string][]models.Origin {
	groups := map[string][]models.Origin{}
	for _, o := range origins {
		host := ""
		if u, err := url.Parse(o.URI); err == nil {
			host = u.Host
		}
		groups[host] = append(groups[host], o)
	}
	return groups
}

// addVisits visits origins for VisitAll.
type addVisits struct {
	dir   *DataDir
	flows map[models.FlowName]manager.Flow
	mu    sync.Mutex // held while done is called
	done  func(AddVisit)
}

// visitHost visits the origins of one host one after the other, and passes each outcome to done. If
// a URL is unavailable, it skips the others.
func (a *addVisits) visitHost(ctx context.Context, origins []models.Origin) {
	unavailable := false
	for _, o := range origins {
		v := AddVisit{Origin: o, Skipped: unavailable}
		if !unavailable {
			v.Opens, v.Err = a.dir.Visits.Opens(ctx, time.Now(), o.ID)
		}
		if !unavailable && v.Err == nil && v.Opens.IsZero() {
			v.Items, v.Err = a.visit(ctx, o)
			unavailable = models.IsWebURL(o.URI) && errors.Is(v.Err, fault.ErrUnavailable)
		}
		if errors.Is(v.Err, fault.ErrUnavailable) {
			// Without its kind, because the exit code of that means that no coordinator answers.
			v.Err = errors.New(v.Err.Error())
		}
		a.mu.Lock()
		a.done(v)
		a.mu.Unlock()
	}
}

// visit visits one origin and records the outcome, and returns how many items the visit found. The
// error is why the visit failed, or why the outcome cannot be recorded.
func (a *addVisits) visit(ctx context.Context, o models.Origin) (items int, err error) {
	d := a.dir
	if err := d.fetcher.Trust(o); err != nil {
		d.log.Warn("cannot read an origin", "origin", o.URI, "error", err)
	}
	outcome, visitErr := manager.Visit(ctx, a.flows, models.Visit{ID: "add-" + o.ID, Origin: o})
	if _, err := coordinator.Record(ctx, d.Catalog, d.Visits, outcome); err != nil {
		return 0, err
	}
	if visitErr != nil {
		return 0, fmt.Errorf("%s %s was added, but the visit failed: %w", o.Kind, o.URI, visitErr)
	}
	return outcome.Items, nil
}
