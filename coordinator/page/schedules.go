package page

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"leasehold/shared/api/types"
)

// maxSchedules is how many schedules the page shows.
const maxSchedules = 200

type schedulesPage struct {
	Schedules []scheduleRow
	Total     int
}

type scheduleRow struct{ types.TaskSchedule }

// When tells when it runs.
func (s scheduleRow) When() string {
	if s.Cron != "" {
		when := s.Cron
		if s.Zone != "" {
			when += " " + s.Zone
		}
		return when
	}
	return "every " + duration(s.Every.Duration().Round(time.Millisecond))
}

func readSchedules(v *visit) (any, error) {
	var all types.Page[types.TaskSchedule]
	err := v.get(v.Context(), path("schedules"), url.Values{"limit": {strconv.Itoa(maxSchedules)}}, &all)
	page := schedulesPage{Total: all.Total}
	for _, s := range all.Items {
		page.Schedules = append(page.Schedules, scheduleRow{s})
	}
	return page, err
}

// runSchedule creates a task of a schedule now, as if a person had created it: the due times stay, and so does the task of
// the last one.
func runSchedule(v *visit, of string) error {
	var s types.TaskSchedule
	if err := v.get(v.Context(), path("schedules", of), nil, &s); err != nil {
		return err
	}
	t := s.Task
	n := types.NewTask{Action: t.Action, Subject: t.Subject, Data: t.Data, Priority: t.Priority}
	if t.Timeout > 0 {
		n.Timeout = &t.Timeout
	}
	n.MaxAttempts, n.Backoff, n.Group, n.Limits, n.OnLimit = t.MaxAttempts, t.Backoff, t.Group, t.Limits, t.OnLimit
	n.Tags = append(slices.Clone(t.Tags), "schedule:"+s.Name)
	return v.do(v.Context(), http.MethodPost, path("tasks"), n, nil)
}
