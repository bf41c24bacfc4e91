package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/work"
)

// Flow is the archive's work: it implements manager.Flow. Several flows, in one
// process or in many, may work on one catalog.
type Flow struct {
	Catalog   catalog.Catalog
	Lister    *Lister
	ClipLimit int           // clips in one work-item, at least 1
	Timeout   time.Duration // of a research task between two reports
	Look      time.Duration // how often to look for room when nothing changes
	Log       *slog.Logger

	// curated wakes Run after a visit has brought something to research.
	curated chan struct{}
}

// NewFlow returns f ready to run.
func NewFlow(f Flow) *Flow {
	f.curated = make(chan struct{}, 1)
	if f.Log == nil {
		f.Log = slog.Default()
	}
	return &f
}

// Kinds implements manager.Flow.
func (f *Flow) Kinds() []models.OriginKind {
	return []models.OriginKind{models.Feed, models.Media, models.Clips}
}

// Visit implements manager.Flow: it curates what the origin lists. What may be
// read is the operator's to say, so the origin is the catalog's, whatever the
// visit, which anybody may have put, says of it.
func (f *Flow) Visit(ctx context.Context, o models.Origin) (models.Outcome, error) {
	o, err := f.Catalog.Origin(ctx, o.ID)
	if err != nil {
		return models.Outcome{}, err
	}
	if err := f.Lister.Fetch.Trust(o); err != nil {
		return models.Outcome{}, fmt.Errorf("%s %s: %w", o.Kind, o.URI, err)
	}
	listing, err := f.Lister.List(ctx, o)
	if err != nil {
		return models.Outcome{}, err
	}
	changes, err := f.Catalog.Curate(ctx, o.ID, time.Now().UTC(), listing)
	if err != nil {
		return models.Outcome{}, err
	}
	outcome := models.Outcome{Status: models.Uneventful, Items: len(listing.Episodes) + len(listing.Clips)}
	if changes.Eventful() {
		outcome.Status = models.Eventful
		select {
		case f.curated <- struct{}{}:
		default:
		}
	}
	return outcome, nil
}

// Run implements manager.Flow. It ingests before it issues. It is hungry for room
// while there may be something to select.
func (f *Flow) Run(ctx context.Context, repo space.Repository) error {
	client := work.Client{Repo: repo}
	for hungry := true; ; {
		step, err := f.next(ctx, client, hungry)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errLook):
			hungry = true
			if err := (task.Client{Repo: repo}).Unstick(ctx, models.ActionResearch); err != nil {
				return ended(ctx, err)
			}
		case err != nil:
			return err
		case step.Result != nil:
			hungry = true
			if err := f.ingest(ctx, client, step.Result); err != nil {
				return ended(ctx, err)
			}
		default:
			if hungry, err = f.issue(ctx, client); err != nil {
				return ended(ctx, err)
			}
		}
	}
}

// ended makes the end of ctx no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// errLook says that it is time to look again although nothing was announced.
var errLook = errors.New("time to look")

// next is Client.Next, cut short by a visit that curated something, and by the
// look that is due anyway.
func (f *Flow) next(ctx context.Context, client work.Client, hungry bool) (work.Step, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, f.Look, errLook)
	defer cancel()
	interrupted, interrupt := context.WithCancelCause(waiting)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-f.curated:
			interrupt(errLook)
		case <-done:
		}
	}()
	step, err := client.Next(interrupted, models.ActionResearch, hungry)
	close(done)
	<-watched
	interrupt(nil)
	if err != nil && ctx.Err() == nil && interrupted.Err() != nil {
		return work.Step{}, errLook
	}
	return step, err
}

// busy is what is not to be selected, in the catalog's words.
func busy(claimed []work.Claimed) []catalog.Busy {
	all := make([]catalog.Busy, len(claimed))
	for i, c := range claimed {
		all[i] = catalog.Busy{Episode: c.Subject, Clips: c.Parts}
	}
	return all
}

// isBad reports whether an error is a property of what was given, so that trying
// again would not help.
func isBad(err error) bool {
	return errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrTooLarge)
}
