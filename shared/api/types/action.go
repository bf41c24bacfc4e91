package types

import (
	"time"

	"leasehold/models"
)

// Action has the figures of one action. A field that is not measured is absent.
type Action struct {
	Action   string           `json:"action"`
	Paused   bool             `json:"paused"`
	Since    time.Time        `json:"since,omitzero" doc:"when it was paused"`
	PausedBy string           `json:"paused_by,omitempty" doc:"the identity that paused it; absent without authentication"`
	Why      string           `json:"why,omitempty" doc:"the reason of the pause"`
	Tasks    map[string]int64 `json:"tasks" doc:"tasks that are alive, by state, and dead letters"`

	Workers         int64           `json:"workers" doc:"live sessions that serve it"`
	Slots           int64           `json:"slots" doc:"of these sessions"`
	SlotsInUse      int64           `json:"slots_in_use" doc:"of these slots; tasks of other actions use them too"`
	Wanted          int64           `json:"wanted_slots" doc:"slots with which a task would wait for at most target_wait, by the tasks that wait and arrive and the mean of the latest attempts"`
	OldestClaimable *models.Seconds `json:"oldest_claimable,omitempty" doc:"seconds since the oldest task that a worker could claim joined the queue; absent: there is none"`
	OldestTask      string          `json:"oldest_task,omitempty" doc:"id of that task"`

	CreatedPerMinute int64           `json:"created_per_minute" doc:"tasks created in the last minute"`
	EndedPerMinute   int64           `json:"ended_per_minute" doc:"tasks resolved, cancelled or dead in the last minute"`
	FailedPerMinute  int64           `json:"failed_per_minute" doc:"attempts that failed in the last minute"`
	Runs             int64           `json:"runs,omitempty" doc:"number of attempts of median and p95: the latest that resolved their tasks, at most 128, since the coordinator started"`
	Median           *models.Seconds `json:"median,omitempty" doc:"seconds from the claim to the end"`
	P95              *models.Seconds `json:"p95,omitempty" doc:"seconds within which 95 % of them ended"`
}

// NewPause is the body that pauses an action.
type NewPause struct {
	Reason string `json:"reason,omitempty" doc:"for people"`
}

// Lease is the right of a manager to a piece of work.
type Lease struct {
	ID       string    `json:"id"`
	Holder   string    `json:"holder" doc:"session"`
	Subject  string    `json:"subject"`
	Parts    []string  `json:"parts,omitempty"`
	Deadline time.Time `json:"deadline" doc:"when it expires, unless it is extended or a worker has its task"`
	Token    int64     `json:"token" doc:"of the current attempt"`
}

// BulkCancel is the body that cancels all tasks that a filter selects. An empty field of the filter selects all.
type BulkCancel struct {
	State string `json:"state,omitempty" schema:"enum: ['', waiting, delayed, blocked, paused, claimed]"`
	Bulk
}

// Bulk is the body that changes all dead letters that a filter selects. An empty field of the filter selects all.
type Bulk struct {
	Action  string    `json:"action,omitempty" schema:"maybeID"`
	Tag     string    `json:"tag,omitempty"`
	Group   string    `json:"group,omitempty"`
	Text    string    `json:"text,omitempty" doc:"in the last error"`
	Data    string    `json:"data,omitempty" doc:"in the data, in the same case"`
	Older   int64     `json:"older,omitempty" doc:"created at least so many seconds ago" schema:"minimum: 0, maximum: 2147483647"`
	Younger int64     `json:"younger,omitempty" doc:"created at most so many seconds ago" schema:"minimum: 0, maximum: 2147483647"`
	Before  time.Time `json:"before,omitzero" doc:"created before, or of dead letters: died before; the at of a count"`
	Count   int64     `json:"count" doc:"number of tasks that the caller saw, of the whole selection; more are a conflict" schema:"minimum: 0"`
	Cursor  string    `json:"cursor,omitempty" doc:"the next of the last answer; then count is not compared again" schema:"pattern: '^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-]{2,3})?$'"`
	Reason  string    `json:"reason,omitempty" doc:"of a cancel, for people"`
}

// BulkResult is what one request of a bulk changed.
type BulkResult struct {
	Done    []string    `json:"done" doc:"ids of the tasks that were changed, at most 1000"`
	Refused []BulkError `json:"refused" doc:"tasks that could not be changed"`
	Next    string      `json:"next,omitempty" doc:"cursor of the next request; absent: all are done"`
}

// BulkError is why one task was not changed.
type BulkError struct {
	Task   string `json:"task"`
	Code   string `json:"code" doc:"as of a problem, such as conflict"`
	Detail string `json:"detail"`
}

// TaskCount is the number of tasks that a filter selects.
type TaskCount struct {
	Count int64     `json:"count"`
	At    time.Time `json:"at" doc:"when the count began; as before of a bulk it leaves out what came later"`
}
