package apitypes

import (
	"encoding/json"
	"time"

	"leasehold/models"
)

// Task is a task that waits or is held, or a dead letter.
type Task struct {
	ID        string          `json:"id"`
	Action    string          `json:"action"`
	State     string          `json:"state" enum:"waiting,held,back-off,dead"`
	Holder    string          `json:"holder,omitempty" doc:"session"`
	Subject   string          `json:"subject,omitempty" doc:"what it is about"`
	Parts     []string        `json:"parts,omitempty" doc:"of the subject"`
	Lease     string          `json:"lease,omitempty" doc:"id"`
	Priority  int64           `json:"priority" doc:"higher is sooner"`
	Attempts  int64           `json:"attempts" doc:"that failed"`
	Timeout   models.Seconds  `json:"timeout_s"`
	Claimants []string        `json:"claimants,omitempty" doc:"sessions that released it"`
	Note      string          `json:"note,omitempty" doc:"why it waits, or is dead"`
	History   []string        `json:"history,omitempty" doc:"how each attempt ended"`
	CreatedAt time.Time       `json:"created_at,omitzero"`
	ClaimedAt time.Time       `json:"claimed_at,omitzero"`
	Data      json.RawMessage `json:"data,omitempty" doc:"for the handler; absent in lists"`
}

// NewTask is the body that creates a task.
type NewTask struct {
	Action   string          `json:"action" doc:"an id"`
	Subject  string          `json:"subject,omitempty"`
	Data     json.RawMessage `json:"data,omitempty" doc:"for the handler of the action"`
	Priority int64           `json:"priority,omitempty"`
	Timeout  *models.Seconds `json:"timeout_s,omitempty" doc:"of one attempt; 600 if absent"`
}

// Requeued is the response to requeueing a dead letter: its work can be selected again
// under a new lease, or the task was put again.
type Requeued struct {
	Selectable bool  `json:"selectable" doc:"its work is selected again, under a new lease"`
	Task       *Task `json:"task,omitempty" doc:"the task that was put, if the work is not selectable"`
}
