package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/retry"
	"leasehold/shared/work"
)

// conflictsInARow is how often a flow selects again at once after a conflict. More
// conflicts do not come from faster managers, but from a lease that InProgress does not
// show.
const conflictsInARow = 32

// issueAll issues work-items until there is no capacity or nothing is left to select. It
// reports whether something may be left to select.
func (f *Flow) issueAll(ctx context.Context, client work.Client) (more bool, err error) {
	for conflicts := 0; conflicts < conflictsInARow; {
		issued, err := f.issue(ctx, client)
		switch {
		case errors.Is(err, fault.ErrNotFound):
			return false, nil
		case errors.Is(err, fault.ErrConflict):
			conflicts++ // another manager was faster: select again
		case retry.CanPass(err):
			return false, nil // the spaces take nothing new for now: ingest results, which drains them, and try again at the next tick
		case err != nil || !issued:
			return true, err
		default:
			conflicts = 0
		}
	}
	return false, nil // try again at the next tick
}

// issue selects the next research from the catalog and issues it as a work-item. It
// returns false if there is no capacity. fault.ErrNotFound means that nothing is left to
// select, and fault.ErrConflict that another manager has taken a part of it since.
func (f *Flow) issue(ctx context.Context, client work.Client) (issued bool, err error) {
	seen, err := client.InProgress(ctx, models.ActionResearch)
	if err != nil {
		return false, err
	}
	var research models.Research
	var priority int64
	err = catalog.RetryUnavailable(ctx, f.Log, func() (err error) {
		research, priority, err = f.Catalog.Select(ctx, busy(seen.Reserved), f.ClipLimit)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("archive: select: %w", err)
	}
	data, err := json.Marshal(research)
	if err != nil {
		return false, fmt.Errorf("archive: research of %s: %w", research.Episode.ID, err)
	}
	t := models.Task{
		Action: models.ActionResearch, Subject: research.Episode.ID, Data: data,
		Timeout: models.SecondsOf(f.Timeout),
	}
	for _, c := range research.Clips {
		t.Parts = append(t.Parts, c.ID)
	}
	issued, err = client.Issue(ctx, seen, t, priority)
	failpoint.Reached("issue.after", "")
	return issued, err
}
