package page

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"leasehold/shared/api/types"
)

const (
	maxActions = 50    // that the overview shows
	maxSummed  = 1_000 // that are read for the sums
)

// figures are those of one action. It has a name of its own, so that .Action in a template is the name of the action.
type figures = types.Action

// actionRow is an action of the overview.
type actionRow struct {
	figures
	Oldest time.Time     // since when the oldest task that a worker could claim waits; zero: there is none
	Spark  template.HTML // the tasks done a minute in the last hour; empty: none
}

// Waiting is how many of its tasks wait for a worker.
func (a actionRow) Waiting() int64 { return a.Tasks["waiting"] + a.Tasks["paused"] }

// Unserved reports that tasks wait and no worker serves it.
func (a actionRow) Unserved() bool { return a.Workers == 0 && a.Waiting() > 0 }

// actionsTable is the actions of the overview, and their sums.
type actionsTable struct {
	Rows                         []actionRow
	More                         int // actions that are not shown
	Waiting, Dead, Ended, Failed int64
	Oldest                       time.Time // zero: no task could be claimed
}

// addSparks adds the pictures of actions.
func (t *actionsTable) addSparks(sparks map[string]template.HTML) {
	for i := range t.Rows {
		t.Rows[i].Spark = sparks[t.Rows[i].Action]
	}
}

// readActions reads the figures of the actions; nil if this coordinator computes none. Those with the most waiting tasks
// are shown.
func (v *visit) readActions() (*actionsTable, error) {
	var all types.Page[types.Action]
	there, err := v.getOptional(v.Context(), path("actions"), url.Values{"limit": {strconv.Itoa(maxSummed)}}, &all)
	if !there || err != nil {
		return nil, err
	}
	t := &actionsTable{}
	for _, f := range all.Items {
		row := actionRow{figures: f}
		if f.OldestClaimable != nil {
			row.Oldest = v.now.Add(-f.OldestClaimable.Duration()).Round(time.Second)
			if t.Oldest.IsZero() || row.Oldest.Before(t.Oldest) {
				t.Oldest = row.Oldest
			}
		}
		t.Waiting += row.Waiting()
		t.Dead += f.Tasks["dead"]
		t.Ended += f.EndedPerMinute
		t.Failed += f.FailedPerMinute
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > maxActions {
		slices.SortStableFunc(t.Rows, func(a, b actionRow) int { return cmp.Compare(b.Waiting(), a.Waiting()) })
		t.Rows = t.Rows[:maxActions]
		slices.SortStableFunc(t.Rows, func(a, b actionRow) int { return cmp.Compare(a.Action, b.Action) })
	}
	t.More = all.Total - len(t.Rows)
	return t, nil
}

// pauseAction pauses an action, with the reason of the form.
func pauseAction(v *visit, of string) error {
	body := map[string]string{}
	if reason := v.PostFormValue("reason"); reason != "" {
		body["reason"] = reason
	}
	return v.do(v.Context(), http.MethodPost, path("actions", of, "pause"), body, nil)
}
