package clips

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/work"
)

// ingest commits a result to the catalog and then ends its hold, in this order, because a crash in between
// repeats the result instead of losing it. A malformed result, or one that the catalog refuses for good, is
// logged and dropped, because a retry would not help. A hold that has ended meanwhile counts as ended.
func (f *Flow) ingest(ctx context.Context, client work.Client, h *work.Held) error {
	log := f.Log.With("episode", h.Subject, "part", h.Part, "worker", h.Worker)
	results, err := f.decodeResults(h)
	failpoint.Reached("ingest.before", "")
	for _, r := range results {
		err = catalog.RetryUnavailable(ctx, log, func() error { return f.Catalog.Ingest(ctx, r, time.Now().UTC()) })
		if err != nil {
			break
		}
	}
	switch {
	case err != nil && permanent(err):
		log.Error("archive: a result is dropped", "error", err)
	case err != nil:
		return fmt.Errorf("archive: ingest the result of %s for %s: %w", h.Worker, h.Subject, err)
	}
	if err == nil && len(results) > 0 && results[0].Problem != "" {
		status.Tell(f.Log, slog.LevelWarn, h.Worker, "research of episode %s: %s", results[0].Episode, results[0].Problem)
	}
	failpoint.Reached("ingest.stored", "")
	if err := client.Ingested(ctx, h); err != nil && !errors.Is(err, fault.ErrStaleToken) {
		return err
	}
	failpoint.Reached("ingest.after", "")
	return nil
}

// decodeResults decodes the body of a result: the findings of a worker, those of a sweep, or the
// failure that a dead task left. A malformed body, and one of another episode than the result's
// subject, give fault.ErrInvalid.
func (f *Flow) decodeResults(h *work.Held) ([]models.Researched, error) {
	var body struct {
		models.Failure
		Swept map[string]json.RawMessage `json:"swept"`
	}
	if err := json.Unmarshal([]byte(h.Body), &body); err != nil {
		return nil, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	switch {
	case body.Task != nil:
		return problemsOf(body.Failure)
	case body.Swept != nil:
		return f.decodeSwept(h)
	}
	var r models.Researched
	if err := json.Unmarshal([]byte(h.Body), &r); err != nil {
		return nil, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	if r.Episode != h.Subject {
		return nil, fmt.Errorf("body is of episode %q: %w", r.Episode, fault.ErrInvalid)
	}
	return []models.Researched{r}, nil
}

// problemsOf turns the failure of a dead task into a problem of each of its pairs.
func problemsOf(f models.Failure) (all []models.Researched, err error) {
	var research models.Research
	if err := json.Unmarshal(f.Task.Data, &research); err != nil {
		return nil, fmt.Errorf("data of dead task %s: %w: %w", f.Task.ID, fault.ErrInvalid, err)
	}
	for _, p := range research.Pairs() {
		r := models.Researched{
			Episode: p.Episode.ID, Problem: f.Problem, Scope: models.ScopePair,
			EpisodeMedia: p.Episode.Media, ClipMedia: map[string]models.MediaRef{},
		}
		for _, c := range p.Clips {
			r.Clips = append(r.Clips, c.ID)
			r.ClipMedia[c.ID] = c.Media
		}
		all = append(all, r)
	}
	return all, nil
}

// maxUnswept bounds how many clips a flow remembers not to sweep.
const maxUnswept = 1000

// decodeSwept decodes a result of a sweep. If the worker knew less than half of the episodes, the clip is not
// swept again, unless maxUnswept others follow.
func (f *Flow) decodeSwept(h *work.Held) ([]models.Researched, error) {
	var s models.Swept
	if err := json.Unmarshal([]byte(h.Body), &s); err != nil {
		return nil, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	if s.Clip != h.Subject {
		return nil, fmt.Errorf("body is of clip %q: %w", s.Clip, fault.ErrInvalid)
	}
	if s.Less && !slices.Contains(f.unswept, s.Clip) {
		f.unswept = append(f.unswept[max(0, len(f.unswept)+1-maxUnswept):], s.Clip)
	}
	return s.Results(), nil
}
