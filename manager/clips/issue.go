package clips

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/protocol/work"
)

// conflictsInARow is how often a flow selects again at once after a conflict. More
// conflicts do not come from faster managers, but from a lease that InProgress does not
// show.
const conflictsInARow = 32

const (
	// sweepEpisodes is how many episodes a sweep has at most: few enough for several workers to have a
	// share of a large archive, and for its results to come soon.
	sweepEpisodes = 500
	// sweepBytes bounds the data of a sweep, whose episodes may have long titles and URIs.
	sweepBytes = 256 << 10
)

// issueAll issues work-items until there is no capacity or nothing is left to select. more reports that the capacity was used up, so that something may be
// left to select; otherwise work.Loop calls it again at its next tick, and has ingested results by
// then, which takes tuples out of the spaces. A conflict means that another manager was faster:
// then it selects again, at most conflictsInARow times. Any other error ends it and is returned.
func (f *Flow) issueAll(ctx context.Context, client work.Client) (more bool, err error) {
	for conflicts := 0; conflicts < conflictsInARow; {
		issued, err := f.issue(ctx, client)
		switch {
		case errors.Is(err, fault.ErrNotFound):
			return false, nil
		case errors.Is(err, fault.ErrConflict):
			conflicts++
		case err != nil || !issued:
			return true, err
		default:
			conflicts = 0
		}
	}
	return false, nil
}

// issue selects the next research from the catalog and issues it as a work-item. It returns false if there is no
// capacity. It fails with fault.ErrNotFound if nothing is left to select, and with fault.ErrConflict if another
// manager has taken a part of it since. A sweep with more than sweepBytes of data is halved until it fits.
func (f *Flow) issue(ctx context.Context, client work.Client) (issued bool, err error) {
	seen, err := client.InProgress(ctx, models.ActionResearch)
	if err != nil {
		return false, err
	}
	limits := catalog.Limits{Clips: f.ClipLimit, Episodes: sweepEpisodes, Unswept: f.unswept}
	var research models.Research
	var priority int64
	err = catalog.RetryUnavailable(ctx, f.Log, func() (err error) {
		research, priority, err = f.Catalog.Select(ctx, busy(seen.Reserved), limits)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("archive: select: %w", err)
	}
	data, err := json.Marshal(research)
	for err == nil && len(data) > sweepBytes && len(research.Episodes) > 1 {
		research.Episodes = research.Episodes[:len(research.Episodes)/2]
		data, err = json.Marshal(research)
	}
	t := models.Task{Action: models.ActionResearch, Data: data, Timeout: models.SecondsOf(f.Timeout)}
	t.Subject, t.Parts = research.Work()
	if err != nil {
		return false, fmt.Errorf("archive: research of %s: %w", t.Subject, err)
	}
	issued, err = client.Issue(ctx, seen, t, priority)
	failpoint.Reached("issue.after", "")
	return issued, err
}
