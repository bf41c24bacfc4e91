package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
)

// Run ingests results and issues the batches of visits until ctx ends or the session of repo does (work.Loop).
// Without an index there is nothing to do, so it waits for the end of ctx and returns nil.
func (f *Flow) Run(ctx context.Context, repo space.Repository) error {
	if f.Index == nil {
		<-ctx.Done()
		return nil
	}
	f.setSession(repo)
	defer f.setSession(nil)
	return work.Loop{
		Client: work.Client{Repo: repo}, Action: models.ActionIndex, Look: f.Look, Wake: f.queue.wake,
		Ingest: func(ctx context.Context, client work.Client, h *work.Held) (more bool, err error) {
			err = f.ingest(ctx, client, h)
			return f.queue.first() != nil, err
		},
		Issue: func(ctx context.Context, client work.Client) (more bool, err error) {
			err = f.issueAll(ctx, client)
			return f.queue.first() != nil, err
		},
		Log: f.Log,
	}.Run(ctx)
}

// ingest passes the outcome of a batch to the manager that visits its repository, and then ends the hold of the
// result; in this order, because a crash in between repeats the outcome instead of losing it. A malformed result
// is logged and dropped, because a retry would not help; requeueLost issues its batch again. A stale token means
// that the result was ingested already.
func (f *Flow) ingest(ctx context.Context, client work.Client, h *work.Held) error {
	r, err := decodeResult(h)
	if err != nil {
		f.Log.Error("index: a result is dropped", "repository", h.Subject, "batch", h.Part, "worker", h.Worker, "error", err)
	} else {
		if r.Failed != "" {
			status.Tell(f.Log, slog.LevelWarn, h.Worker, "indexing a batch of %s failed: %s", h.Subject, r.Failed)
		}
		failpoint.Reached("index.ingest", "")
		if err := (batch.Client{Repo: client.Repo}).Put(ctx, r); err != nil {
			return fmt.Errorf("index: outcome of batch %s: %w", r.Batch, err)
		}
	}
	if err := client.Ingested(ctx, h); err != nil && !errors.Is(err, fault.ErrStaleToken) {
		return err
	}
	return nil
}

// decodeResult decodes the body of a result: a worker's models.Indexed, or the models.Failure of a dead letter;
// then Failed has the reason. Repository and batch are taken from the hold, because a worker could name others.
func decodeResult(h *work.Held) (models.Indexed, error) {
	var failure models.Failure
	if err := json.Unmarshal([]byte(h.Body), &failure); err != nil {
		return models.Indexed{}, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	var r models.Indexed
	if failure.Task != nil {
		r.Failed = failure.Problem
	} else if err := json.Unmarshal([]byte(h.Body), &r); err != nil {
		return r, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	r.Repository, r.Batch = h.Subject, h.Part
	return r, nil
}

// conflictsInARow is how often a batch is tried again at once after a conflict.
const conflictsInARow = 32

// issueAll issues the batches that wait, the oldest first, as long as there is capacity. It
// returns nil also if it stops because the spaces are busy or after conflictsInARow: work.Loop
// calls it again at its next tick. A conflict means that a result of the repository was ingested
// meanwhile, or that another manager has the batch. Another error of issue ends it, and is
// returned.
func (f *Flow) issueAll(ctx context.Context, client work.Client) error {
	for conflicts := 0; conflicts < conflictsInARow; {
		p := f.queue.first()
		if p == nil {
			return nil
		}
		issued, err := f.issue(ctx, client, p)
		switch {
		case errors.Is(err, fault.ErrConflict):
			conflicts++
		case err != nil || !issued:
			return err
		default:
			conflicts = 0
			f.queue.remove(p)
		}
	}
	return nil
}

// issue puts a batch into the space as a work-item. It returns false and nil if the managers' work-items fill the
// capacity.
func (f *Flow) issue(ctx context.Context, client work.Client, p *plan) (issued bool, err error) {
	seen, err := client.InProgress(ctx, models.ActionIndex)
	if err != nil {
		return false, err
	}
	data, err := json.Marshal(models.IndexBatch{
		Repository: p.origin.ID, Batch: p.id, Content: f.Content.URL(), Files: len(p.entries), Bytes: p.bytes,
	})
	if err != nil {
		return false, fmt.Errorf("batch %s: %w", p.id, err)
	}
	issued, err = client.Issue(ctx, seen, models.Task{
		Action: models.ActionIndex, Subject: p.origin.ID, Parts: []string{p.id}, Data: data, Timeout: models.SecondsOf(f.Timeout),
	}, p.origin.Priority)
	if issued {
		failpoint.Reached("index.issued", "")
	}
	return issued, err
}
