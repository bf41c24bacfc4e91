package types

import "time"

// History has the counts of tasks in the last hour, day or two weeks, and how many tuples spaces had.
type History struct {
	Action  string          `json:"action,omitempty" doc:"absent: the sum of all actions"`
	Span    string          `json:"span" doc:"hour, day or two-weeks"`
	StepS   int             `json:"step_s" doc:"length of an interval in seconds: 60 or 600"`
	Points  []HistoryPoint  `json:"points" doc:"the oldest first; an interval in which the coordinator did not run is absent, and the latest one has ended"`
	Actions []ActionHistory `json:"actions,omitempty" doc:"each action by itself, if the request asks with by: action"`
	Spaces  []SpaceHistory  `json:"spaces,omitempty" doc:"the space that the request names, or each with by: space"`
}

// ActionHistory has the counts of one action.
type ActionHistory struct {
	Action string         `json:"action" doc:"other: the sum of those without counts of their own"`
	Points []HistoryPoint `json:"points" doc:"an interval of the whole history that is absent here has no counts"`
}

// SpaceHistory has the tuples of one space.
type SpaceHistory struct {
	Space  string       `json:"space" doc:"other: the sum of those without counts of their own"`
	Points []SpacePoint `json:"points" doc:"an interval of the whole history that is absent here ended without tuples"`
}

// SpacePoint has the tuples at the end of one interval.
type SpacePoint struct {
	At      time.Time `json:"at" doc:"begin of the interval"`
	Visible int64     `json:"visible"`
	Held    int64     `json:"held"`
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
