package apiclient

import (
	"context"
	"errors"
	"net/url"

	"leasehold/shared/apitypes"
	"leasehold/shared/fault"
)

// Tasks lists at most most tasks of an action, or of all actions if it is empty; a
// negative most lists all.
func (c *Client) Tasks(ctx context.Context, action string, most int) (apitypes.Page[apitypes.Task], error) {
	return c.tasks(ctx, "tasks", action, most)
}

// Dead lists dead letters as Tasks lists tasks.
func (c *Client) Dead(ctx context.Context, action string, most int) (apitypes.Page[apitypes.Task], error) {
	return c.tasks(ctx, "dead", action, most)
}

func (c *Client) tasks(ctx context.Context, path, action string, most int) (apitypes.Page[apitypes.Task], error) {
	var query url.Values
	if action != "" {
		query = url.Values{"action": {action}}
	}
	return List[apitypes.Task](ctx, c, path, query, TuplesPage, most)
}

// Task returns a task that waits or is held, or a dead letter, with its data.
func (c *Client) Task(ctx context.Context, id string) (t apitypes.Task, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "tasks/" + url.PathEscape(id), Answer: &t, Repeat: true})
	if !errors.Is(err, fault.ErrNotFound) {
		return t, err
	}
	if _, dead := c.Do(ctx, Call{Method: "GET", Path: "dead/" + url.PathEscape(id), Answer: &t, Repeat: true}); dead != nil {
		return apitypes.Task{}, err
	}
	return t, nil
}

// CreateTask puts a task.
func (c *Client) CreateTask(ctx context.Context, n apitypes.NewTask) (t apitypes.Task, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "tasks", Body: n, Answer: &t})
	return t, err
}

// Requeue makes the work of a dead letter available again.
func (c *Client) Requeue(ctx context.Context, id string) (r apitypes.Requeued, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "dead/" + url.PathEscape(id) + "/requeue", Answer: &r})
	return r, err
}
