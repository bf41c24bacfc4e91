package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	schedule "leasehold/coordinator/visit"
	"leasehold/coordinator/visit/store"
	"leasehold/models"
	"leasehold/shared/browse"
	"leasehold/shared/catalog"
	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
	"leasehold/shared/visit"
	"leasehold/shared/work"
)

// visits has origins visited when their turn has come and there is room, and
// records the outcomes.
//
//	store ─ claim ─▶ visit tuple ─▶ manager ─▶ result ─ record ─▶ store, catalog
//
// What is claimed is on disk before the tuple is put, and what is recorded before
// the result is done; so whatever dies, repeating it changes nothing.
type visits struct {
	c      *Coordinator
	store  *store.Store
	client visit.Client
	work   work.Client
}

func newVisits(c *Coordinator, s *store.Store, repo space.Repository) *visits {
	return &visits{c: c, store: s, client: visit.Client{Repo: repo}, work: work.Client{Repo: repo}}
}

// start brings the store to what the catalog knows, and puts again the visits that
// were under way: those that somebody still has are not put twice. A visit in the
// spaces that the store does not know, because its file was lost or is an old copy,
// is one under way.
func (v *visits) start(ctx context.Context) error {
	all, err := v.c.Catalog.Origins(ctx)
	if err != nil {
		return fmt.Errorf("coordinator: visits: %w", err)
	}
	var visited []models.Origin
	for _, o := range all {
		if o.Kind.Visited() { // its curator comes by itself
			visited = append(visited, o)
		}
	}
	if err := v.store.Sync(ctx, time.Now(), visited); err != nil {
		return fmt.Errorf("coordinator: visits: %w", err)
	}
	under, err := v.inSpaces(ctx)
	if err == nil {
		err = v.store.Adopt(ctx, time.Now(), under)
	}
	if err != nil {
		return fmt.Errorf("coordinator: visits: %w", err)
	}
	claimed, err := v.store.Claimed(ctx)
	if err != nil {
		return fmt.Errorf("coordinator: visits: %w", err)
	}
	return v.put(ctx, claimed)
}

// inSpaces returns the visits that wait, are held, or have ended and are not
// recorded, by their origin.
func (v *visits) inSpaces(ctx context.Context) (under map[string]string, err error) {
	under = map[string]string{}
	for _, in := range []struct {
		space   string
		matches tuple.Template
		key     func(tuple.Tuple) visit.Key
	}{{visit.Space, visit.Any(), visit.DecodeKey}, {task.Result, task.AnyResult(visit.Action), visit.ResultKey}} {
		page, err := browse.Client{Repo: v.client.Repo}.Page(ctx, browse.Query{Space: in.space, Template: in.matches, Held: true, Limit: math.MaxInt32})
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			k := in.key(e.Tuple)
			under[k.Origin] = k.Visit
		}
	}
	return under, nil
}

// put puts visits, once each; while the disk is full, it waits for room.
func (v *visits) put(ctx context.Context, all []models.Visit) error {
	for _, x := range all {
		if err := catalog.Patiently(ctx, v.c.Log, func() error { return v.client.Put(ctx, x) }); err != nil {
			return fmt.Errorf("coordinator: visit %s: %w", x.Origin.URI, err)
		}
	}
	return nil
}

// run schedules and records until ctx ends or one of them fails.
func (v *visits) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var scheduled error
	var running sync.WaitGroup
	running.Go(func() {
		defer cancel()
		scheduled = ended(ctx, v.schedule(ctx))
	})
	recorded := ended(ctx, v.record(ctx))
	cancel()
	running.Wait()
	return errors.Join(recorded, scheduled)
}

// schedule claims visits for the room that there is, whenever there may be some.
func (v *visits) schedule(ctx context.Context) error {
	for {
		room, err := v.client.Capacity(ctx)
		if err != nil {
			return err
		}
		var claimed []models.Visit
		if room > 0 {
			err = catalog.Patiently(ctx, v.c.Log, func() (err error) {
				claimed, err = v.store.Claim(ctx, time.Now(), min(room, maxClaim))
				return err
			})
		}
		if err == nil {
			err = v.put(ctx, claimed)
		}
		if err == nil {
			err = v.sleep(ctx, room == len(claimed))
		}
		if err != nil {
			return err
		}
	}
}

// maxClaim is how many visits one transaction claims.
const maxClaim = 1000

const (
	// lookAgain is how often to look for room when nothing has told of it: visits
	// are taken without a word.
	lookAgain = time.Second
	// longestSleep is how long to wait at most for a rest to be over: the clock may
	// be set meanwhile.
	longestSleep = time.Minute
)

// sleep waits until something may be claimed. When all room is full, only a visit
// that is taken or ends makes room.
func (v *visits) sleep(ctx context.Context, full bool) error {
	length := lookAgain
	if !full {
		at, err := v.store.Wake(ctx)
		if err != nil {
			return err
		}
		length = longestSleep
		if !at.IsZero() {
			length = min(max(time.Until(at), 10*time.Millisecond), longestSleep)
		}
	}
	wake := time.NewTimer(length)
	defer wake.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake.C:
	case <-v.store.Changed():
	}
	return nil
}

// record keeps outcomes until ctx ends.
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
		o = models.Outcome{Origin: h.Subject, Visit: h.Part, Status: models.Lost, At: time.Now().UTC()}
	}
	_, err := Record(ctx, v.c.Catalog, v.store, o)
	return err
}

// Record records an outcome, wherever it comes from: the catalog first, then when
// to look again. What a lister named becomes origins. It returns why the outcome
// was ignored, empty if it was not.
func Record(ctx context.Context, c catalog.Catalog, s *store.Store, o models.Outcome) (ignored string, err error) {
	if o.Listed != nil && o.Status != models.Lost {
		if err := list(ctx, c, s, o); err != nil {
			return "", err
		}
	}
	now := time.Now()
	effects, err := s.Record(ctx, now, []models.Outcome{o})
	if err != nil {
		return "", err
	}
	switch ignored = effects[0].Ignored; ignored {
	case "", store.GivenUp, schedule.NotNewer: // the catalog may have missed it then
	case store.UnknownOrigin: // removed meanwhile, or one that is never visited
	default:
		return ignored, nil
	}
	o.Listed = nil
	if err := c.RecordOutcome(ctx, o); err != nil && !errors.Is(err, fault.ErrNotFound) {
		return "", err
	}
	return ignored, nil
}
