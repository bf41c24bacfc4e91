package clips

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
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

// Visit curates the recordings that the origin lists, and checks whether the audio of some episodes of a feed was
// replaced. It reads the origin from the catalog and takes only the id from the visit, because any client may put
// a visit, and only the operator decides which origins are read. The known state counts only if the catalog has
// the result of that visit. The catalog is written before the outcome is returned. With an error, the outcome has
// at most the Retry-After of the server.
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
		known = models.Known{}
	}
	if v.Unconditional {
		known.ETag, known.Modified = "", ""
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
		ChangedAt: seen.times, Size: seen.size, FreshFor: models.SecondsOf(seen.freshFor), Skip: seen.skip, Hub: seen.hub, Move: seen.move,
		Window: seen.window, Unmodified: seen.same,
	}
	if seen.move != nil && seen.move.Answers {
		status.Tell(f.Log, slog.LevelInfo, "", "%s moves to %s", o.URI, seen.move.To)
	}
	changes, err := f.curate(ctx, o, seen)
	if err != nil {
		return models.Outcome{}, err
	}
	if o.Kind == models.Feed && !seen.same {
		outcome.New = &changes.New
		if len(seen.times) == 0 && known.Digest != "" {
			outcome.Changes = changes.New
		}
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
		default: // an earlier visit has woken Run already
		}
	}
	return outcome, nil
}

// curate writes the listing of an origin to the catalog, and returns what it changed: nothing if the origin is
// the same as at the visit before.
func (f *Flow) curate(ctx context.Context, o models.Origin, seen observed) (changes catalog.Curated, err error) {
	if seen.same {
		return changes, nil
	}
	err = catalog.RetryUnavailable(ctx, f.Log, func() (err error) {
		changes, err = f.Catalog.Curate(ctx, o.ID, time.Now().UTC(), seen.Listing)
		return err
	})
	if err == nil && changes.Eventful() {
		status.Tell(f.Log, slog.LevelInfo, "", "curated %s: %d new, %d changed, %d gone", o.URI, changes.New, changes.Changed, changes.Gone)
	}
	return changes, err
}

// Run ingests results and issues work-items until ctx ends (work.Loop).
func (f *Flow) Run(ctx context.Context, repo space.Repository) error {
	return work.Loop{
		Client: work.Client{Repo: repo}, Action: models.ActionResearch, Look: f.Look, Wake: f.curated, More: true,
		Ingest: func(ctx context.Context, client work.Client, h *work.Held) (more bool, err error) {
			return true, f.ingest(ctx, client, h)
		},
		Issue: f.issueAll,
		Log:   f.Log,
	}.Run(ctx)
}

// busy converts the parts that must not be selected for the catalog. Of a sweep, the subject is
// the clip and the parts are episodes.
func busy(claimed []work.Reserved) []catalog.Busy {
	all := make([]catalog.Busy, len(claimed))
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
