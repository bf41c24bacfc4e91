package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A Task is a task where it is, or a dead letter.
type Task struct {
	ID        string          `json:"id"`
	Action    string          `json:"action"`
	State     string          `json:"state"` // waiting, held, back-off, dead
	Holder    string          `json:"holder,omitempty"`
	Subject   string          `json:"subject,omitempty"`
	Parts     []string        `json:"parts,omitempty"`
	Lease     string          `json:"lease,omitempty"`
	Priority  int64           `json:"priority"`
	Attempts  int64           `json:"attempts"` // that failed
	Timeout   models.Seconds  `json:"timeout_s"`
	Claimants []string        `json:"claimants,omitempty"`
	Note      string          `json:"note,omitempty"` // why it waits, or is dead
	History   []string        `json:"history,omitempty"`
	CreatedAt time.Time       `json:"created_at,omitzero"`
	ClaimedAt time.Time       `json:"claimed_at,omitzero"`
	Data      json.RawMessage `json:"data,omitempty"` // not in lists
}

// NewTask is a task to be.
type NewTask struct {
	Action   string          `json:"action"`
	Subject  string          `json:"subject,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Priority int64           `json:"priority,omitempty"`
	Timeout  *models.Seconds `json:"timeout_s,omitempty"` // nil: the coordinator's default
}

// Requeued says what became of a dead letter: its work is selected again, or the
// task was put again.
type Requeued struct {
	Selectable bool  `json:"selectable"`
	Task       *Task `json:"task,omitempty"`
}

// Tasks lists the tasks of an action, or of all if it is empty; at most so many
// (List).
func (c *Client) Tasks(ctx context.Context, action string, most int) (Page[Task], error) {
	return List[Task](ctx, c, "tasks", ofAction(action), TuplesPage, most)
}

// Dead lists the dead letters likewise.
func (c *Client) Dead(ctx context.Context, action string, most int) (Page[Task], error) {
	return List[Task](ctx, c, "dead", ofAction(action), TuplesPage, most)
}

func ofAction(action string) url.Values {
	if action == "" {
		return nil
	}
	return url.Values{"action": {action}}
}

// Task returns a task with its data, wherever it is.
func (c *Client) Task(ctx context.Context, id string) (t Task, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "tasks/" + url.PathEscape(id), Answer: &t, Repeat: true})
	return t, err
}

// Anywhere is Task, and finds dead letters too.
func (c *Client) Anywhere(ctx context.Context, id string) (Task, error) {
	t, err := c.Task(ctx, id)
	if !errors.Is(err, fault.ErrNotFound) {
		return t, err
	}
	var letter Task
	if _, dead := c.Do(ctx, Call{Method: "GET", Path: "dead/" + url.PathEscape(id), Answer: &letter, Repeat: true}); dead != nil {
		return Task{}, err
	}
	return letter, nil
}

// CreateTask puts a task.
func (c *Client) CreateTask(ctx context.Context, n NewTask) (t Task, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "tasks", Body: n, Answer: &t})
	return t, err
}

// Requeue has the work of a dead letter done again.
func (c *Client) Requeue(ctx context.Context, id string) (r Requeued, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "dead/" + url.PathEscape(id) + "/requeue", Answer: &r})
	return r, err
}
