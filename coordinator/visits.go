package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/tuple"
)

// visits puts a visit for each due origin while managers have free slots, and records the outcomes.
//
//	store ─ claim ─▶ visit tuple ─▶ manager ─▶ result ─ record ─▶ store, catalog
//
// A claim is on disk before the tuple is put, and an outcome is recorded before the hold
// of its result ends. So after a crash at any point, repeating a step changes nothing.
type scheduler struct {
	coordinator *Coordinator
	store       *visits.Store
	client      visit.Client
	work        work.Client
	rest        []models.Visit // visits that start could not put yet; schedule puts them
}

func newScheduler(c *Coordinator, s *visits.Store, repo space.Repository) *scheduler {
	return &scheduler{coordinator: c, store: s, client: visit.Client{Repo: repo}, work: work.Client{Repo: repo}}
}

// start puts the visits under way again, except those of programs. Putting one that is still in the spaces
// changes nothing. A visit in the spaces counts as under way, too, if the store does not know it because its file
// is an old copy. Visits that the spaces refuse for now are left in v.rest. It is called before run.
func (v *scheduler) start(ctx context.Context) error {
	underWay, err := v.visitsInSpaces(ctx)
	var claimed []models.Visit
	if err == nil {
		err = catalog.RetryOwn(ctx, v.coordinator.Log, func() (err error) {
			if err = v.store.AdoptInFlight(ctx, time.Now(), underWay); err == nil {
				claimed, err = v.store.Claimed(ctx)
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("coordinator: visits: %w", err)
	}
	for n, x := range claimed {
		if x.Origin.Kind.IsProgram() {
			continue // a program has it, until its deadline
		}
		// A refused put must not delay the start, because memory and disk are freed only by
		// the managers and workers that connect afterwards.
		err := visit.Client{Repo: space.Once(v.client.Repo)}.Put(ctx, x)
		if retry.CanPass(err) {
			v.rest = claimed[n:]
			return nil
		}
		if err != nil {
			return fmt.Errorf("coordinator: visit %s: %w", x.Origin.URI, err)
		}
	}
	return nil
}

// visitsInSpaces returns the ids of the visits that wait, are held, or have ended and are not recorded, by the id
// of their origin. It reads the visits before the results, so that one that ends meanwhile is found.
func (v *scheduler) visitsInSpaces(ctx context.Context) (underWay map[string]string, err error) {
	underWay = map[string]string{}
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
			underWay[k.Origin] = k.Visit
		}
	}
	return underWay, nil
}

// put puts visits, once each. While the spaces refuse them, it repeats its calls (the repository of v.client
// does). Users and passwords in the addresses are removed, because managers read the origin from the catalog.
func (v *scheduler) put(ctx context.Context, all []models.Visit) error {
	for _, x := range all {
		x.Origin.URI = models.Redact(x.Origin.URI)
		if err := v.client.Put(ctx, x); err != nil {
			return fmt.Errorf("coordinator: visit %s: %w", x.Origin.URI, err)
		}
	}
	return nil
}

// run schedules and records until ctx ends, which is nil, or until one of the two fails: it ends
// the other one then, and returns the error. It waits for both.
func (v *scheduler) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var scheduled error
	var running sync.WaitGroup
	running.Go(func() {
		defer cancel()
		scheduled = unlessEnded(ctx, v.schedule(ctx))
	})
	recorded := unlessEnded(ctx, v.record(ctx))
	cancel()
	running.Wait()
	return errors.Join(recorded, scheduled)
}

// schedule claims visits for the free slots of managers, whenever there may be some, and puts them.
func (v *scheduler) schedule(ctx context.Context) error {
	if err := v.put(ctx, v.rest); err != nil {
		return err
	}
	for {
		free, err := v.client.Capacity(ctx)
		if err != nil {
			return err
		}
		var claimed []models.Visit
		if free > 0 {
			claimed, err = v.claim(ctx, min(free, maxClaim))
		}
		if err == nil {
			err = v.put(ctx, claimed)
		}
		if err == nil {
			allSlotsTaken := free == len(claimed)
			err = v.sleep(ctx, allSlotsTaken)
		}
		if err != nil {
			return err
		}
	}
}

// claim claims up to n visits. After a failure it returns all visits under way, because a database that lost only its
// answer has claimed some: putting a visit again changes nothing while the spaces have it.
func (v *scheduler) claim(ctx context.Context, n int) (claimed []models.Visit, err error) {
	failed := false
	err = catalog.RetryOwn(ctx, v.coordinator.Log, func() (err error) {
		if failed {
			claimed, err = v.store.Claimed(ctx)
			claimed = slices.DeleteFunc(claimed, func(x models.Visit) bool { return x.Origin.Kind.IsProgram() }) // a program has it
			return err
		}
		claimed, err = v.store.Claim(ctx, time.Now(), n)
		failed = err != nil
		return err
	})
	return claimed, err
}

// maxClaim is how many visits one transaction claims.
const maxClaim = 1000

const (
	// pollInterval is how often to check for free slots while none is free, because no
	// event reports that a manager has taken a visit.
	pollInterval = time.Second
	// longestSleep is the maximum wait for an origin to become due, because the clock
	// may be set meanwhile.
	longestSleep = time.Minute
)

// sleep waits until it is worthwhile to claim visits again; it may return early. If full is
// true, no slot is free, so it waits for pollInterval at most. Otherwise it waits until the
// next origin is due. In both cases a change of the schedule ends the wait. The error is
// ctx.Err() or the store's.
func (v *scheduler) sleep(ctx context.Context, full bool) error {
	length := pollInterval
	if !full {
		var at time.Time
		err := catalog.RetryOwn(ctx, v.coordinator.Log, func() (err error) {
			at, err = v.store.Wake(ctx, time.Now())
			return err
		})
		if err != nil {
			return err
		}
		length = longestSleep
		if !at.IsZero() {
			length = min(max(time.Until(at), 10*time.Millisecond), longestSleep) // not in a busy loop
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

// An ending is a visit that a manager has ended.
type ending struct {
	result  *work.Held
	outcome models.Outcome
}

const (
	// takers is how many results are taken at a time. Each may list what a lister named,
	// which takes a second or two, and the others go on meanwhile.
	takers = 16
	// maxRecorded is how many outcomes are recorded together.
	maxRecorded = 256
)

// record records outcomes until ctx ends or one of its parts fails, and returns the first error.
// Takers hold the results and list what listers named; the outcomes that have come meanwhile are
// recorded together, because a transaction of the store takes long. It waits for all parts.
func (v *scheduler) record(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	endings := make(chan ending, maxRecorded)
	parts := []func(context.Context, chan ending) error{v.recordEndings}
	for range takers {
		parts = append(parts, v.takeResults)
	}
	failed := make(chan error, len(parts))
	var running sync.WaitGroup
	for _, part := range parts {
		running.Go(func() {
			failed <- part(ctx, endings)
			cancel()
		})
	}
	running.Wait()
	return <-failed // the first error; the others followed from it
}

// takeResults holds the result of a visit, adds what a lister named to the catalog, and passes the held result
// with its outcome to recordEndings, until ctx ends or one of the steps fails. A malformed outcome counts as a
// lost visit, after which the origin is visited again, unless several visits were lost.
func (v *scheduler) takeResults(ctx context.Context, endings chan ending) error {
	for {
		h, err := v.work.NextResult(ctx, visit.Action)
		if err != nil {
			return err
		}
		o := models.Outcome{}
		if err := json.Unmarshal([]byte(h.Body), &o); err != nil {
			v.coordinator.Log.Error("coordinator: malformed outcome of a visit, dropped", "origin", h.Subject, "worker", h.Worker, "error", err)
			o = models.Outcome{Origin: h.Subject, Visit: h.Part, Status: models.Lost, At: time.Now().UTC()}
		}
		err = catalog.RetryOwn(ctx, v.coordinator.Log, func() error { return addListed(ctx, v.coordinator.Catalog, v.store, o) })
		if err != nil {
			return fmt.Errorf("coordinator: listing of %s: %w", h.Subject, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case endings <- ending{h, o}:
		}
	}
}

// recordEndings records outcomes together with those that have come meanwhile, and ends the holds of their
// results once they are on disk, until ctx ends or one of them fails.
func (v *scheduler) recordEndings(ctx context.Context, endings chan ending) error {
	for {
		batch, err := nextEndings(ctx, endings)
		if err != nil {
			return err
		}
		var outcomes []models.Outcome
		for _, e := range batch {
			outcomes = append(outcomes, e.outcome)
		}
		err = catalog.RetryOwn(ctx, v.coordinator.Log, func() error {
			_, err := v.store.Record(ctx, time.Now(), outcomes)
			return err
		})
		if err != nil {
			return fmt.Errorf("coordinator: outcomes of visits: %w", err)
		}
		failpoint.Reached("outcome.stored", "")
		if err := v.endHolds(ctx, batch); err != nil {
			return err
		}
	}
}

// nextEndings waits for an ending, and returns it with those that have come meanwhile, at most
// maxRecorded. It fails only when ctx ends. It must be the only receiver of the channel, because
// the channel's length tells how many endings it can receive without waiting.
func nextEndings(ctx context.Context, endings <-chan ending) (batch []ending, err error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case e := <-endings:
		batch = append(batch, e)
	}
	for len(endings) > 0 && len(batch) < maxRecorded {
		batch = append(batch, <-endings)
	}
	return batch, nil
}

// endHolds ends the holds of the results of a batch, all at once, because each waits for the disk. A hold that
// has ended already (fault.ErrStaleToken) is skipped: the result is offered again, and recording an outcome again
// changes nothing.
func (v *scheduler) endHolds(ctx context.Context, batch []ending) error {
	failed := make([]error, len(batch))
	var running sync.WaitGroup
	for i, e := range batch {
		running.Go(func() {
			if err := v.work.Ingested(ctx, e.result); !errors.Is(err, fault.ErrStaleToken) {
				failed[i] = err
			}
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// Record records an outcome from the API or this process: it adds the origins that a lister named, and then
// decides when the next visit is due and updates the catalog. It returns why the outcome was ignored, or "" if it
// was not. The call may be repeated after an error.
func Record(ctx context.Context, c catalog.Catalog, s *visits.Store, o models.Outcome) (ignored string, err error) {
	if err := addListed(ctx, c, s, o); err != nil {
		return "", err
	}
	effects, err := s.Record(ctx, time.Now(), []models.Outcome{o})
	if err != nil {
		return "", err
	}
	return effects[0].Ignored, nil
}
