package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/work"
)

// Flow is the archive's flow (manager.Flow). Several flows, in one process or in many,
// may work on one catalog.
type Flow struct {
	Catalog   catalog.Catalog
	Lister    *Lister
	ClipLimit int           // clips in one work-item, at least 1
	Timeout   time.Duration // of a research task between two reports
	Look      time.Duration // how often to check for capacity when no event arrives
	Log       *slog.Logger

	// curated wakes Run after a visit has brought something to research.
	curated chan struct{}
	// unswept is the clips of sweeps whose worker knew less than half of the episodes, the latest last.
	// Their other episodes are issued one by one. Only Run uses it.
	unswept []string
}

// NewFlow returns f ready to run.
func NewFlow(f Flow) *Flow {
	f.curated = make(chan struct{}, 1)
	if f.Log == nil {
		f.Log = slog.Default()
	}
	return &f
}

// Visit curates the recordings that the origin lists, and checks whether the audio of some
// episodes of a feed was replaced. It reads the origin from the
// catalog and takes only the id from the visit, because any client may put a visit, and
// only the operator decides which origins are read.
func (f *Flow) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	o, err := catalog.Find(ctx, f.Log, f.Catalog, v.Origin.ID)
	if err != nil {
		return models.Outcome{}, err
	}
	o.Listed = o.Listed || v.Listed
	if err := f.Lister.Fetch.Trust(o); err != nil {
		return models.Outcome{}, fmt.Errorf("%s %s: %w", o.Kind, o.URI, err)
	}
	known := v.Known
	if o.LastVisit.IsZero() || !strings.HasPrefix(known.Digest, prefix(o)) {
		known = models.Known{} // the catalog does not have the result of that visit
	}
	var seen observed
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		seen, err = f.Lister.read(ctx, o, known)
		return err
	})
	if err != nil {
		return models.Outcome{RetryAfter: models.SecondsOf(fetch.RetryAfter(err))}, err
	}
	outcome := models.Outcome{
		Status: models.Uneventful, Items: len(seen.Episodes) + len(seen.Clips), Digest: seen.digest, ETag: seen.etag, Modified: seen.modified,
		ChangedAt: seen.times, Size: seen.size, FreshFor: models.SecondsOf(seen.freshFor),
	}
	var changes catalog.Curated
	if !seen.same {
		err = catalog.RetryUnavailable(ctx, f.Log, func() (err error) {
			changes, err = f.Catalog.Curate(ctx, o.ID, time.Now().UTC(), seen.Listing)
			return err
		})
		if err != nil {
			return models.Outcome{}, err
		}
	}
	if changes.Eventful() {
		status.Tell(f.Log, slog.LevelInfo, "", "curated %s: %d new, %d changed, %d gone", o.URI, changes.New, changes.Changed, changes.Gone)
	}
	replaced := 0
	if o.Kind == models.Feed {
		if replaced, err = f.checkAudio(ctx, o); err != nil {
			return models.Outcome{}, err
		}
	}
	if changes.Eventful() || replaced > 0 {
		outcome.Status = models.Eventful
		select {
		case f.curated <- struct{}{}:
		default:
		}
	}
	return outcome, nil
}

// Run ingests results and issues work-items until ctx ends. Results come before new
// work. One call of Next is pending at any time and is not canceled when another event
// arrives, because its answer may be a result that is held for this manager; such an
// event makes Run issue in addition.
func (f *Flow) Run(ctx context.Context, repo space.Repository) error {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	client := work.Client{Repo: repo}
	look := time.NewTicker(f.Look)
	defer look.Stop()
	steps := make(chan answer, 1)
	ask := func(hungry bool) {
		asking.Go(func() {
			step, err := client.Next(ctx, models.ActionResearch, hungry)
			steps <- answer{step, err}
		})
	}
	ask(true)
	for {
		hungry := true // for capacity, because there may be something to select
		var err error
		select {
		case a := <-steps:
			if hungry, err = f.step(ctx, client, a); err == nil {
				ask(hungry)
			}
		case <-f.curated:
			_, err = f.issueAll(ctx, client)
		case <-look.C:
			if err = (task.Client{Repo: repo}).ReviveStuck(ctx, models.ActionResearch); err == nil {
				_, err = f.issueAll(ctx, client)
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer is the result of Client.Next.
type answer struct {
	step work.Step
	err  error
}

// step ingests a result, or issues work-items while there is capacity. It reports
// whether there may be more to issue.
func (f *Flow) step(ctx context.Context, client work.Client, a answer) (hungry bool, err error) {
	switch {
	case a.err != nil:
		return false, a.err
	case a.step.Result != nil:
		return true, f.ingest(ctx, client, a.step.Result)
	}
	return f.issueAll(ctx, client)
}

// busy converts the parts that must not be selected for the catalog.
func busy(claimed []work.Reserved) []catalog.Busy {
	all := make([]catalog.Busy, len(claimed)) // of a sweep, the subject is the clip
	for i, c := range claimed {
		all[i] = catalog.Busy{Episode: c.Subject, Clips: c.Parts}
	}
	return all
}

// permanent reports whether an error is a property of the input, so that a retry would
// not help.
func permanent(err error) bool {
	return errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrTooLarge)
}
