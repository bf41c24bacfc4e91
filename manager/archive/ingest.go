package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/status"
	"leasehold/shared/work"
)

// ingest commits a result to the catalog and then ends its hold. A malformed result is
// logged and dropped, because a retry would not help.
func (f *Flow) ingest(ctx context.Context, client work.Client, h *work.Held) error {
	log := f.Log.With("episode", h.Subject, "part", h.Part, "worker", h.Worker)
	r, err := researched(h)
	if err == nil {
		failpoint.Reached("ingest.before", "")
		err = catalog.RetryUnavailable(ctx, log, func() error { return f.Catalog.Ingest(ctx, r, time.Now().UTC()) })
	}
	switch {
	case err != nil && permanent(err):
		log.Error("archive: a result is dropped", "error", err)
	case err != nil:
		return fmt.Errorf("archive: ingest the result of %s for %s: %w", h.Worker, h.Subject, err)
	}
	if err == nil && r.Problem != "" {
		status.Tell(f.Log, slog.LevelWarn, h.Worker, "research of episode %s: %s", h.Subject, r.Problem)
	}
	failpoint.Reached("ingest.stored", "")
	if err := client.Ingested(ctx, h); err != nil && !errors.Is(err, fault.ErrStaleToken) {
		return err
	}
	failpoint.Reached("ingest.after", "")
	return nil
}

// researched decodes the body of a result: the findings of a worker, or the failure that
// a dead task left.
func researched(h *work.Held) (models.Researched, error) {
	var failure models.Failure
	if err := json.Unmarshal([]byte(h.Body), &failure); err != nil {
		return models.Researched{}, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	if failure.Task != nil {
		return problemOf(failure)
	}
	var r models.Researched
	if err := json.Unmarshal([]byte(h.Body), &r); err != nil {
		return r, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	if r.Episode != h.Subject {
		return r, fmt.Errorf("body is of episode %q: %w", r.Episode, fault.ErrInvalid)
	}
	return r, nil
}

// problemOf turns the failure of a dead task into a problem of each of its pairs.
func problemOf(f models.Failure) (models.Researched, error) {
	var research models.Research
	if err := json.Unmarshal(f.Task.Data, &research); err != nil {
		return models.Researched{}, fmt.Errorf("data of dead task %s: %w: %w", f.Task.ID, fault.ErrInvalid, err)
	}
	r := models.Researched{
		Episode: research.Episode.ID, Problem: f.Problem, Scope: models.ScopePair,
		EpisodeMedia: research.Episode.Media, ClipMedia: map[string]models.MediaRef{},
	}
	for _, c := range research.Clips {
		r.Clips = append(r.Clips, c.ID)
		r.ClipMedia[c.ID] = c.Media
	}
	return r, nil
}
