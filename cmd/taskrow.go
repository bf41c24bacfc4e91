package cmd

import (
	"fmt"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// taskRow is a task or a dead letter as a row.
type taskRow struct{ types.Task }

func (r taskRow) columns() []column {
	state, note := r.State, r.Note
	if r.CurrentClaimant != nil {
		state += " by " + *r.CurrentClaimant
	}
	progress := ""
	if r.Progress != nil {
		progress = strings.TrimSpace(fmt.Sprintf("%.0f %% %s", 100*r.Progress.Fraction, r.Progress.Text))
	}
	if r.Why != nil {
		note = r.Why.Text
	}
	claimed, ended, duration := "", "", ""
	if r.ClaimedAt != nil {
		claimed = when(*r.ClaimedAt)
	}
	if !r.EndedAt.IsZero() {
		ended = when(r.EndedAt)
	}
	if r.Duration != nil {
		duration = r.Duration.Duration().Round(time.Millisecond).String()
	}
	history := strings.Join(models.Errors(r.History), "; ")
	return []column{
		{head: "task", cell: r.ID}, {head: "action", cell: r.Action}, {head: "state", cell: state, fit: cut},
		{head: "priority", cell: fmt.Sprint(r.Priority)}, {head: "attempts", cell: fmt.Sprint(r.Attempts)},
		{head: "subject", cell: r.Subject, fit: cut}, {head: "note", cell: note, fit: wrap},
		{head: "parts", cell: strings.Join(r.Parts, ", "), detail: true},
		{head: "lease", cell: r.Lease, detail: true},
		{head: "session", cell: r.Session, detail: true},
		{head: "lost", cell: countOrNone(r.Lost), detail: true},
		{head: "progress", cell: progress, detail: true},
		{head: "timeout", cell: r.Timeout.Duration().String(), detail: true},
		{head: "not before", cell: whenSet(r.NotBefore), detail: true},
		{head: "expires", cell: whenSet(r.ExpiresAt), detail: true},
		{head: "unique key", cell: r.UniqueKey, detail: true},
		{head: "group", cell: r.Group, detail: true},
		{head: "tags", cell: strings.Join(r.Tags, ", "), detail: true},
		{head: "after", cell: strings.Join(r.After, ", "), detail: true},
		{head: "limits", cell: strings.Join(r.Limits, ", "), detail: true},
		{head: "claimants", cell: strings.Join(r.Claimants, ", "), detail: true},
		{head: "created", cell: when(r.CreatedAt), detail: true},
		{head: "claimed", cell: claimed, detail: true},
		{head: "ended", cell: ended, detail: true},
		{head: "worker", cell: r.Worker, detail: true},
		{head: "duration", cell: duration, detail: true},
		{head: "result", cell: string(r.Result), detail: true},
		{head: "history", cell: history, detail: true},
		{head: "data", cell: string(r.Data), detail: true},
	}
}

func taskRows(tasks []types.Task) []taskRow {
	return rowsOf(tasks, func(t types.Task) taskRow { return taskRow{t} })
}

// countOrNone returns a number as text; empty for 0.
func countOrNone(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
