package types

import "time"

// History has the counts of tasks in the last hour, day or two weeks.
type History struct {
	Action string         `json:"action,omitempty" doc:"absent: the sum of all actions"`
	Span   string         `json:"span" doc:"hour, day or two-weeks"`
	StepS  int            `json:"step_s" doc:"length of an interval in seconds: 60 or 600"`
	Points []HistoryPoint `json:"points" doc:"the oldest first; an interval in which the coordinator did not run is absent, and the latest one has ended"`
}

// HistoryPoint has the counts of one interval.
type HistoryPoint struct {
	At      time.Time `json:"at" doc:"begin of the interval"`
	Created int64     `json:"created" doc:"tasks"`
	Done    int64     `json:"done" doc:"tasks that were resolved"`
	Failed  int64     `json:"failed" doc:"attempts that failed"`
	Dead    int64     `json:"dead" doc:"tasks that became dead letters"`
	Waiting int64     `json:"waiting" doc:"tasks that waited for a worker at the end of the interval, those of paused actions included"`
}
