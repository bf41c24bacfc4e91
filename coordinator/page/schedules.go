package page

import (
	"net/url"
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
