package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// actionRow is an action as a row.
type actionRow struct{ types.Action }

func (r actionRow) columns() []column {
	state := "running"
	if r.Paused {
		state = "paused since " + when(r.Since)
		if r.PausedBy != "" {
			state += " by " + r.PausedBy
		}
		if r.Why != "" {
			state += ": " + r.Why
		}
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	return []column{
		{head: "action", cell: r.Action.Action}, {head: "waiting", cell: number(r.Tasks["waiting"])}, {head: "oldest", cell: secondsCell(r.OldestClaimable)},
		{head: "claimed", cell: number(r.Tasks["claimed"])}, {head: "slots", cell: fmt.Sprintf("%d of %d", r.SlotsInUse, r.Slots)},
		{head: "later", cell: number(r.Tasks["delayed"] + r.Tasks["blocked"] + r.Tasks["paused"])}, {head: "dead", cell: number(r.Tasks["dead"])},
		{head: "created/min", cell: number(r.CreatedPerMinute)}, {head: "ended/min", cell: number(r.EndedPerMinute)}, {head: "failed/min", cell: number(r.FailedPerMinute)},
		{head: "median", cell: secondsCell(r.Median)}, {head: "p95", cell: secondsCell(r.P95)}, {head: "state", cell: state},
	}
}

// secondsCell shows a duration that may not be known; "-" stands for that.
func secondsCell(s *models.Seconds) string {
	if s == nil {
		return "-"
	}
	d := s.Duration()
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// newActions is `leasehold actions`.
func (a *app) newActions() *cobra.Command {
	c := &cobra.Command{
		Use:   "actions",
		Short: "print each action with its tasks, workers, rates and durations",
		Long: `Print each action with its tasks: how many wait, since when the oldest one could
be claimed, how many are claimed, how many slots of live workers are in use, how
many were created, ended and failed in the last minute, and how long attempts
run.`,
	}
	asRow := func(x types.Action) actionRow { return actionRow{x} }
	return listCommand(a, c, (*client.Client).Actions, asRow, "no actions")
}
