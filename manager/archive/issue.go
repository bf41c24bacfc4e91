package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/work"
)

// issue selects what to research next and issues it as a work-item. It returns
// false when nothing is left to select.
func (f *Flow) issue(ctx context.Context, client work.Client) (more bool, err error) {
	claimed, err := client.Busy(ctx, models.ActionResearch)
	if err != nil {
		return false, err
	}
	research, priority, err := f.Catalog.Select(ctx, busy(claimed), f.ClipLimit)
	if errors.Is(err, fault.ErrNotFound) {
		return false, nil
	}
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
	_, err = client.Issue(ctx, t, priority)
	if errors.Is(err, fault.ErrConflict) {
		return true, nil // another manager was quicker: select again
	}
	return true, err
}
